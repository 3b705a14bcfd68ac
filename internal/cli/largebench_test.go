//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// BenchmarkLarge is a whole run over one object with a list of so many entries, all of which
// differ: the time of 20000 may be at most 2.5 times that of 10000.
func BenchmarkLarge(b *testing.B) {
	for _, list := range largeLists {
		for _, verb := range [][]string{{"--dry-run"}, {"diff"}, {"diff", "-o", "plan"}, {"diff", "-o", "markdown"}, {"drift"}, {"explain"}, {"explain", "--changed"}} {
			for _, n := range []int{5000, 10000, 20000} {
				b.Run(fmt.Sprintf("%s/%s/n=%d", list.name, strings.ReplaceAll(strings.Join(verb, "_"), "-", ""), n), func(b *testing.B) {
					args := append(verb[:len(verb):len(verb)], list.files(b, n)...)
					b.Setenv("HOME", b.TempDir())
					b.Setenv("KUBECONFIG", "")
					before := cpu(b)
					for b.Loop() {
						var stderr strings.Builder
						if code := Main(b.Context(), "kubectl-merge", args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: &stderr}); code > 1 || strings.Contains(stderr.String(), "error:") {
							b.Fatalf("exit code %d\n%.2000s", code, stderr.String())
						}
					}
					b.ReportMetric(float64((cpu(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
				})
			}
		}
	}
}

// largeList is a list of an object: how the object is spelled around it, and its entry number i
// with one of two values.
type largeList struct {
	name, kind, around string
	entry              func(i, value int) string
}

var largeLists = []largeList{
	{"keyed", "v1/Pod", `"spec":{"containers":[{"name":"c","image":"i","env":[%s]}]}`, variables(1)},
	{"two_keys", "v1/Service", `"spec":{"ports":[%s]}`, func(i, value int) string {
		return fmt.Sprintf(`{"name":"p%d","port":%d,"protocol":"TCP","targetPort":%d}`, i, i+1, i+value)
	}},
	{"two_keys_changed", "v1/Service", `"spec":{"ports":[%s]}`, func(i, value int) string {
		return fmt.Sprintf(`{"name":"p%d-%d","port":%d,"protocol":"TCP","targetPort":1}`, i, value, i+1+value*30000)
	}},
	{"repeated_key", "v1/Pod", `"spec":{"containers":[{"name":"c","image":"i","env":[%s]}]}`, variables(2)},
	{"one_key", "v1/Pod", `"spec":{"containers":[{"name":"c","image":"i","env":[%s]}]}`, variables(1 << 30)},
	{"atomic", "v1/Pod", `"spec":{"containers":[{"name":"c","image":"i","args":[%s]}]}`, textEntry},
	{"atomic_objects", "rbac.authorization.k8s.io/v1/ClusterRole", `"rules":[%s]`, func(i, value int) string {
		return fmt.Sprintf(`{"apiGroups":[""],"resources":["r%d"],"verbs":["v%d"]}`, i, value)
	}},
	{"map", "v1/ConfigMap", `"data":{%s}`, func(i, value int) string { return fmt.Sprintf(`"k%d":"%d"`, i, value) }},
	{"set", "v1/ConfigMap", `"finalizers":[%s]`, textEntry},
}

// variables are variables of which so many share a name.
func variables(share int) func(i, value int) string {
	return func(i, value int) string {
		return fmt.Sprintf(`{"name":"V%d","value":"%d"}`, i/share, i*10+value)
	}
}

func textEntry(i, value int) string { return fmt.Sprintf(`"example.com/%d-%d"`, i, value) }

// entries of a side: of four entries live has changed one and removed one, local has changed one and
// dropped one.
func (l largeList) entries(n int, side merge.Side) string {
	var all []string
	for i := range n {
		value := 1
		switch {
		case side == merge.LiveSide && i%4 == 0, side == merge.LocalSide && i%4 == 2:
			value = 2
		case side == merge.LiveSide && i%4 == 1, side == merge.LocalSide && i%4 == 3:
			continue
		}
		all = append(all, l.entry(i, value))
	}
	return strings.Join(all, ",")
}

func (l largeList) printObject(b *testing.B, n int, side merge.Side) map[string]any {
	around, meta := fmt.Sprintf(l.around, l.entries(n, side)), `"name":"x","namespace":"shop"`
	if strings.HasPrefix(around, `"finalizers"`) {
		around, meta = `"data":{}`, meta+","+around
	}
	at := strings.LastIndex(l.kind, "/")
	v, err := merge.ReadJSON([]byte(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{%s},%s}`, l.kind[:at], l.kind[at+1:], meta, around)))
	if err != nil {
		b.Fatal(err)
	}
	return v.(map[string]any)
}

// files writes local, and live with its annotation and two managers.
func (l largeList) files(b *testing.B, n int) []string {
	original, live := l.printObject(b, n, merge.OriginalSide), l.printObject(b, n, merge.LiveSide)
	group, version, _ := strings.Cut(l.kind[:strings.LastIndex(l.kind, "/")], "/")
	if version == "" {
		group, version = "", group
	}
	typ, _ := schema.Builtin(group, version, l.kind[strings.LastIndex(l.kind, "/")+1:])
	entry := func(manager string, obj map[string]any) any {
		return map[string]any{
			"manager": manager, "operation": "Update", "apiVersion": obj["apiVersion"], "time": "2026-11-22T19:00:00Z",
			"fieldsType": "FieldsV1", "fieldsV1": ownership.Fields(obj, typ),
		}
	}
	meta := maps.Clone(live["metadata"].(map[string]any))
	meta["managedFields"] = []any{entry("kubectl-client-side-apply", original), entry("kubectl-edit", live)}
	meta["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": benchJSON(b, original) + "\n"}
	live["metadata"] = meta
	dir := b.TempDir()
	args := []string{"-f", filepath.Join(dir, "local.json"), "--live", filepath.Join(dir, "live.json")}
	for i, obj := range []map[string]any{l.printObject(b, n, merge.LocalSide), live} {
		if err := os.WriteFile(args[2*i+1], []byte(benchJSON(b, obj)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return args
}

// cpu is the CPU time of the process so far, which other processes do not distort.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchJSON(b *testing.B, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}
