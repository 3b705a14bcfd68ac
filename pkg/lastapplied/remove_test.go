package lastapplied_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

const kept = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"labels":{"a.b/c":"d"},"finalizers":["x/y","x/z"],"name":"web"},` +
	`"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"strategy":{"rollingUpdate":{"maxSurge":1}},"template":{"spec":{"containers":[{"name":"web","args":["-v"],` +
	`"ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53}],"resources":{"limits":{"cpu":"1"}}},{"name":"side"}]}}}}`

func TestRemove(t *testing.T) {
	typ, _ := schema.Builtin("apps", "v1", "Deployment")
	for _, c := range []struct {
		reason, path string
		cut, with    string // in kept, cut is replaced
	}{
		{"a field", "spec.replicas", `"replicas":3,`, ``},
		{"a leading dot", ".spec.replicas", `"replicas":3,`, ``},
		{"a key of a map, and the map that is empty then", `metadata.labels["a.b/c"]`, `"labels":{"a.b/c":"d"},`, ``},
		{"objects that are empty then go too: their absence from local would drop what others put there", "spec.strategy.rollingUpdate.maxSurge", `"strategy":{"rollingUpdate":{"maxSurge":1}},`, ``},
		{"a field inside an entry", "spec.template.spec.containers[name=web].resources", `,"resources":{"limits":{"cpu":"1"}}`, ``},
		{"an entry", "spec.template.spec.containers[name=side]", `,{"name":"side"}`, ``},
		{"an entry by two keys", "spec.template.spec.containers[name=web].ports[containerPort=53,protocol=UDP]", `{"containerPort":53,"protocol":"UDP"},`, ``},
		{"an entry that leaves the default key out", "spec.template.spec.containers[name=web].ports[containerPort=53,protocol=TCP]", `,{"containerPort":53}`, ``},
		{"a member of a set", `metadata.finalizers[="x/y"]`, `"x/y",`, ``},
		{"an atomic list as a whole", "spec.template.spec.containers[name=web].args", `"args":["-v"],`, ``},
	} {
		t.Run(c.reason, func(t *testing.T) {
			original := read(t, kept)
			got, err := lastapplied.Remove(original, parse(t, c.path), typ)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(kept, c.cut) {
				t.Fatalf("%s is not in the test's object", c.cut)
			}
			want := show(t, read(t, strings.Replace(kept, c.cut, c.with, 1)))
			if d := cmp.Diff(want, show(t, got)); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(show(t, read(t, kept)), show(t, original)); d != "" {
				t.Errorf("the input was changed: %s", d)
			}
		})
	}
}

func TestRemoveRefuses(t *testing.T) {
	typ, _ := schema.Builtin("apps", "v1", "Deployment")
	for _, c := range []struct{ reason, path, want string }{
		{"a slip of the pen", "spec.replica", "spec.replica: not in last-applied, so it is not yours to give up: did you mean spec.replicas?"},
		{"letters the wrong way round", "spec.repilcas", "did you mean spec.replicas?"},
		{"another case", "spec.template.spec.containers[name=web].Args", "did you mean spec.template.spec.containers[name=web].args?"},
		{"a field of the kind that is well spelled", "spec.paused", "spec.paused: not in last-applied, so it is not yours to give up: it has been given up, or was never applied"},
		{"nothing like it", "spec.abcdefgh", "spec.abcdefgh: not in last-applied, so it is not yours to give up: the kind has no such field"},
		{"nothing like it in a map", "metadata.labels.abcdefgh", "not yours to give up: see kubectl merge view-last-applied"},
		{"another entry", "spec.template.spec.containers[name=wob].args", "did you mean one of spec.template.spec.containers[name=web], spec.template.spec.containers[name=side]?"},
		{"members of a set are values and not named", `metadata.finalizers[="x/q"]`, "see kubectl merge view-last-applied"},
		{"an entry by its place in a list that has keys", "spec.template.spec.containers[0].args", "spec.template.spec.containers[0]: not in last-applied, so it is not yours to give up: did you mean one of spec.template.spec.containers[name=web], spec.template.spec.containers[name=side]?"},
		{"inside nothing", "spec.replicas.x", "spec.replicas.x: not in last-applied"},
		{"into an atomic list", "spec.template.spec.containers[name=web].args[0]", "give it up as a whole: spec.template.spec.containers[name=web].args"},
		{"into an atomic object", "spec.selector.matchLabels.app", "give it up as a whole: spec.selector"},
		{"a merge key", "spec.template.spec.containers[name=web].name", "give up the whole entry: spec.template.spec.containers[name=web]"},
		{"the name", "metadata.name", "it names the object"},
		{"everything", ".", "it names the object"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p := merge.Path{}
			if c.path != "." {
				p = parse(t, c.path)
			}
			got, err := lastapplied.Remove(read(t, kept), p, typ)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

var parse = values.Path
