package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdRelease stores a revision of a release as Helm does (helm.sh/helm/v4/pkg/storage/driver): in a Secret, or
// in a ConfigMap. test/helm holds the program to Helm's own code.
func cmdRelease(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 4 || len(args) > 5, "release NAME REVISION STATUS MANIFEST [configmap]")
	name, status := args[0], args[2]
	number, err := strconv.Atoi(args[1])
	ts.Check(err)
	revision, err := json.Marshal(map[string]any{
		"name": name, "version": number, "namespace": storyOf(ts).ns, "info": map[string]any{"status": status},
		"chart":    map[string]any{"metadata": map[string]any{"name": name, "version": "1.0.0"}},
		"manifest": ts.ReadFile(args[3]),
		"hooks":    []any{map[string]any{"name": "made", "kind": "ConfigMap", "events": []string{"pre-install"}, "manifest": "{apiVersion: v1, kind: ConfigMap, metadata: {name: made}, data: {hook: \"1\"}}"}},
	})
	ts.Check(err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(revision)
	ts.Check(err)
	ts.Check(w.Close())
	stored := base64.StdEncoding.EncodeToString(packed.Bytes())
	object := map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "stringData": map[string]any{"release": stored}}
	if len(args) == 5 {
		object = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"release": stored}}
	}
	object["metadata"] = map[string]any{
		"name":   "sh.helm.release.v1." + name + ".v" + args[1],
		"labels": map[string]any{"owner": "helm", "name": name, "status": status, "version": args[1]},
	}
	text, err := json.Marshal(object)
	ts.Check(err)
	file := ts.MkAbs("release.json")
	ts.Check(os.WriteFile(file, text, 0o600))
	_, err = storyOf(ts).kubectl(ts, "create", "-f", file)
	ts.Check(err)
}
