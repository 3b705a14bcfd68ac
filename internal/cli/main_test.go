package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

const localConf = `apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: shop}
data: {a: "2"}
`

const liveConf = `apiVersion: v1
kind: ConfigMap
metadata:
  name: conf
  namespace: shop
  resourceVersion: "7"
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"v1","data":{"a":"1","gone":"x"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"conf","namespace":"shop"}}
data: {a: "1", gone: x, others: stays}
`

// offline runs a command line with no kubeconfig in reach.
func offline(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	var out, errs bytes.Buffer
	code = Main(t.Context(), "kubectl-merge", args, genericiooptions.IOStreams{In: strings.NewReader(localConf), Out: &out, ErrOut: &errs})
	return code, out.String(), errs.String()
}

func files(t *testing.T) (local, live string) {
	t.Helper()
	dir := t.TempDir()
	local, live = filepath.Join(dir, "local.yaml"), filepath.Join(dir, "live.yaml")
	if err := errors.Join(os.WriteFile(local, []byte(localConf), 0o600), os.WriteFile(live, []byte(liveConf), 0o600)); err != nil {
		t.Fatal(err)
	}
	return local, live
}

func TestMainOffline(t *testing.T) {
	local, live := files(t)
	result := "# configmap/conf configured (dry run)\napiVersion: v1\ndata:\n  a: \"2\"\n  others: stays\nkind: ConfigMap\nmetadata:\n  name: conf\n  namespace: shop\n  resourceVersion: \"7\"\n"
	nothing := filepath.Join(t.TempDir(), "live.yaml")
	if err := os.WriteFile(nothing, []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: another, namespace: shop}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reason string
		args   []string
		code   int
		out    string // whole
		err    string // part
	}{
		{"the result as YAML, the outcome on stderr", []string{"-f", local, "--live", live}, 0, result, "configmap/conf configured (dry run)\n"},
		{"removals are reported", []string{"-f", local, "--live", live}, 0, result, `note: configmap/conf: data.gone: "x"`},
		{"standard input", []string{"-f", "-", "--live", live}, 0, result, ""},
		{"-o name", []string{"-f", local, "--live", live, "-o", "name"}, 0, "configmap/conf\n", ""},
		{"-o jsonpath", []string{"-f", local, "--live", live, "-o", "jsonpath={.data.a}"}, 0, "2", ""},
		{"a jsonpath that does not fit", []string{"-f", local, "--live", live, "-o", "jsonpath={.metadata.name[0]}"}, failed, "", "string is not array or slice: compare the template with what -o json prints\n"},
		{"a template that does not fit", []string{"-f", local, "--live", live, "-o", "go-template={{.metadata.name.x}}"}, failed, "", "field x in type interface {}: compare the template with what -o json prints\n"},
		{"-o go-template", []string{"-f", local, "--live", live, "-o", "go-template={{.data.others}}"}, 0, "stays", ""},
		{"-o custom-columns", []string{"-f", local, "--live", live, "-o", "custom-columns=NAME:.metadata.name,X:data.nope"}, 0, "NAME   X\nconf   <none>\n", ""},
		{"an unknown form", []string{"-f", local, "--live", live, "-o", "xml"}, 1, "", "--output=xml: there are name"},
		{"strict reports nothing if no other manager has changed anything", []string{"-f", local, "--live", live, "--policy=strict", "-o", "name"}, 0, "configmap/conf\n", ""},
		{"diff says by its code that there is one", []string{"diff", "-f", local, "--live", live, "-q"}, 1,
			"--- live/v1.ConfigMap.shop.conf\n+++ merged/v1.ConfigMap.shop.conf\n@@ -1,7 +1,6 @@\n apiVersion: v1\n data:\n-  a: \"1\"\n-  gone: x\n+  a: \"2\"\n   others: stays\n kind: ConfigMap\n metadata:\n", ""},
		{"diff has 2 for errors", []string{"diff", "-f", "nope.yaml"}, 2, "", `the path "nope.yaml" does not exist`},
		{"diff has 2 for flags too", []string{"diff", "--nope"}, 2, "", "unknown flag: --nope"},
		{"a namespace that is not the object's", []string{"-f", local, "--live", live, "-n", "b"}, 1, "", `the namespace from the provided object "shop" does not match the namespace "b"`},
		{"no input", []string{"--dry-run"}, 1, "", "must specify one of -f and -k"},
		{"both inputs", []string{"-f", "a", "-k", "b"}, 1, "", "only one of -f or -k"},
		{"a dry run with a space", []string{"-f", local, "--dry-run", "server"}, 1, "", "did you mean `--dry-run=server`?"},
		{"a flag of kubectl apply's that is refused", []string{"-f", local, "--force"}, 1, "", "--recreate=KIND"},
		{"pruning by labels", []string{"-f", local, "--prune", "-l", "app=shop"}, 1, "", "kubectl merge applyset adopt NAME -l app=shop"},
		{"a verb that is none of its own", []string{"apply", "-f", local}, 1, "", "did you mean `kubectl merge -f FILE`?"},
		{"a verb that is nearly one", []string{"dif"}, 1, "", `did you mean "diff"?`},
		{"a verb of other tools", []string{"rollback", "-f", local}, 1, "", `unknown command "rollback" for "kubectl merge"; did you mean "undo"?`},
		{"a verb of kubectl's, with a file", []string{"get", "-f", local}, 1, "", "unknown command \"get\" for \"kubectl merge\"; did you mean `kubectl get`?\n"},
		{"a record given as a file", []string{"undo", "-f", "run.yaml"}, 1, "", "--filename: the record is an argument: kubectl merge undo FILE"},
		{"delete with files", []string{"delete", "-f", local}, 1, "", "unknown command \"delete\" for \"kubectl merge\"; did you mean `kubectl delete`? A set is deleted with kubectl merge applyset delete NAME"},
		{"a preview of what previews", []string{"absorb", "-f", local, "--dry-run"}, 2, "", "--dry-run: without -w nothing is written"},
		{"an object to undo", []string{"undo", "deployment/web"}, 1, "", `the file "deployment/web" does not exist; undo takes the record of a run, which --record writes`},
		{"a manifest to undo", []string{"undo", local}, 1, "", "but kind ConfigMap of apiVersion v1: undo takes the record"},
		{"a flag that is nearly one", []string{"--polcy=x"}, 1, "", "did you mean --policy?"},
		{"a field as a JSON pointer", []string{"explain", "-f", local, "--live", live, "/data/a"}, 1, "", `path "/data/a": column 1: a field name is missing; a path looks like spec.containers[name=web].image`},
		{"a field as a jsonpath", []string{"explain", "-f", local, "--live", live, "{.data.a}"}, 1, "", `path "{.data.a}": column 1: a field name is missing; a path looks like `},
		{"an object that is not there", []string{"absorb", "-f", local, "--live", nothing}, 0, "", "1 object compared: nothing to take; 1 left: 1 not in the cluster: merge it first, or check the namespace; -v=1 names them\n"},
		{"an unknown policy", []string{"-f", local, "--policy=x"}, 1, "", `--policy=x: must be apply, `},
		{"an unknown strategy", []string{"-f", local, "--live", live, "--strategy=x"}, 1, "", `--strategy=x: must be auto, `},
		{"a server's dry run without a server", []string{"-f", local, "--live", live, "--dry-run=server"}, 1, "", "--live cannot be combined with --dry-run=server: it works without a server"},
		{"no cluster at all", []string{"-f", local, "--server", "http://127.0.0.1:1"}, 1, "", "the connection to the server 127.0.0.1:1 was refused"},
	} {
		code, out, errs := offline(t, tt.args...)
		if code != tt.code || !strings.Contains(errs, tt.err) {
			t.Errorf("%s: %q: code %d, want %d; stderr %s\nwant %q in it", tt.reason, tt.args, code, tt.code, errs, tt.err)
		}
		if d := cmp.Diff(tt.out, out); d != "" {
			t.Errorf("%s: stdout\n%s", tt.reason, d)
		}
	}
}

func TestMainLeavesConflicts(t *testing.T) {
	local, live := files(t)
	drifted := strings.Replace(liveConf, `data: {a: "1"`, `data: {a: "by hand"`, 1)
	if err := os.WriteFile(live, []byte(drifted), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := offline(t, "-f", local, "--live", live, "--policy=strict")
	if code != conflicted || out != "" || !strings.Contains(errs, `error: configmap/conf: data.a: conflict: live has "by hand"`) {
		t.Errorf("code %d, stdout %q, stderr %s", code, out, errs)
	}
}

func TestLines(t *testing.T) {
	waiting := func(name string) error {
		return &run.NotReached{Target: cluster.Target{Resource: cluster.Resource{Kind: "Pod"}, Name: name}}
	}
	for _, tt := range []struct {
		reason string
		err    error
		want   []string
	}{
		{"no error has no lines", nil, nil},
		{"joined errors are a line each", errors.Join(errors.New("a"), errors.Join(errors.New("b"), errors.New("c"))), []string{"a", "b", "c"}},
		{"one that wraps two is still one", fmt.Errorf("x: %w, %w", errors.New("a"), errors.New("b")), []string{"x: a, b"}},
		{"an exit without an error says nothing", &exit{Code: 3}, nil},
		{"an exit with one does", &exit{Code: 2, Err: errors.Join(errors.New("a"), errors.New("b"))}, []string{"a", "b"}},
		{"who only waited is counted", errors.Join(errors.New("a"), waiting("p"), waiting("q")), []string{"a", "2 objects were not written because of that: fix it, and merge again"}},
		{"and what it kept from being merged, where nothing is written", fmt.Errorf("pod/p: was not merged: %w", run.ErrNotMerged), []string{"1 object was not merged: the run was interrupted; run it again"}},
		{"so are objects that were not written because of an interrupt", fmt.Errorf("pod/p: %w", context.Canceled), []string{"1 object was not written: the run was interrupted; merge again to finish it"}},
		{"control characters are spelled out", errors.New("a\x1b[2J\nb"), []string{`a\x1b[2J\nb`}},
		{"quotes are not", errors.New(`path "C:\x" is odd`), []string{`path "C:\x" is odd`}},
	} {
		if d := cmp.Diff(tt.want, lines(tt.err, nil)); d != "" {
			t.Errorf("%s:\n%s", tt.reason, d)
		}
	}
}

// TestMainNamesEmptyInput: who gave several files learns which of them hold nothing.
func TestMainNamesEmptyInput(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.yaml")
	if err := os.WriteFile(empty, []byte("# nothing\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, live := files(t)
	code, _, errs := offline(t, "-f", empty, "--live", live)
	if code != failed || !strings.Contains(errs, "no objects passed to merge: "+empty+": holds no object") {
		t.Errorf("code %d, stderr %s", code, errs)
	}
}

// TestMainOptions: what the help refers to is there, and lists kubectl's flags.
func TestMainOptions(t *testing.T) {
	code, out, errs := offline(t, "options")
	if code != done || errs != "" || !strings.Contains(out, "--context=string") || strings.Contains(out, "--policy") {
		t.Errorf("code %d, stderr %s, stdout %s", code, errs, out)
	}
	if _, help, _ := offline(t, "--help"); !strings.Contains(help, "--help=connection") {
		t.Errorf("help: %s", help)
	}
}

// TestFilesIntoItself: a file that standard output is written into is none of those that are merged.
func TestFilesIntoItself(t *testing.T) {
	dir := t.TempDir()
	source, dest := filepath.Join(dir, "source.yaml"), filepath.Join(dir, "dest.yaml")
	for _, into := range []string{dest, source, filepath.Join(dir, "new.yaml")} {
		for _, name := range []string{source, dest} {
			if err := os.WriteFile(name, []byte("a: 1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := os.Create(into) // as a shell does for >
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		code := Main(t.Context(), "kubectl-merge", []string{"files", source, dest}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: &errs})
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		if itself := filepath.Base(into) != "new.yaml"; itself != (code == 1) || itself != strings.HasSuffix(errs.String(), filepath.Base(into)+": standard output is written into it, and > empties a file before it is read: restore it, and give -w instead\n") {
			t.Errorf("into %s: code %d, %s", into, code, &errs)
		}
	}
}

// TestPathNamesDest: git gives a merge driver temporary files, and the user's name is in what
// is reported.
func TestPathNamesDest(t *testing.T) {
	dir := t.TempDir()
	file := func(name, replicas string) string {
		name = filepath.Join(dir, name)
		text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: " + replicas + "\n"
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	code, _, errs := offline(t, "files", "--policy=diff3", "--path", "app.yaml", "--original", file(".o", "1"), file(".u", "2"), file(".d", "3"))
	if code != 3 || !strings.Contains(errs, "app.yaml") || strings.Contains(errs, dir) {
		t.Errorf("code %d, and app.yaml is named, not a temporary file: %s", code, errs)
	}
}
