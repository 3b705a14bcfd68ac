package absorb

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// TestLawKustomized: law 15 of a kustomization. A base and two overlays are made up, what one of them
// builds is edited as if on a cluster, and absorbed. What it builds then differs in exactly the values
// that were taken, the other overlay builds the same bytes, and its files are not touched.
func TestLawKustomized(t *testing.T) {
	chosen := part.Chosen(t)
	from, to := chosen.Of(2000)
	if to-from < 2000 { // a build takes 20 ms
		from, to = chosen.Of(80)
	}
	seen := map[string]int{}
	for n := from; n < to; n++ {
		l := &kustomized{law: &law{T: t, n: n, rand: rand.New(rand.NewPCG(16, uint64(n))), seen: seen}, top: t.TempDir()}
		l.play()
		if t.Failed() {
			t.Fatalf("situation %d: -run TestLawKustomized -part=all", n)
		}
	}
	t.Logf("%v", seen)
	if played := to - from; seen["taken"] < played || seen["taken in base"] == 0 || seen["used by others"] == 0 {
		t.Errorf("too little of what may happen did: %v", seen)
	}
}

// kustomized is one situation.
type kustomized struct {
	*law
	top   string
	names []string // of the Deployments
}

func (l *kustomized) one(n int) bool { return l.rand.IntN(n) == 0 }

// some returns the text, most of the time.
func (l *kustomized) some(text string) string {
	if l.one(3) {
		return ""
	}
	return text
}

func (l *kustomized) file(name, text string) {
	name = filepath.Join(l.top, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
}

func (l *kustomized) deployment(name string) string {
	text := "# " + name + "\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " + name + "\n" + l.some("  labels: {tier: a} # of the shop\n") +
		"spec:\n" + l.some("  replicas: 1 # small\n") + l.some("  minReadySeconds: 3\n") +
		"  selector: {matchLabels: {app: " + name + "}}\n  template:\n    metadata: {labels: {app: " + name + "}}\n    spec:\n      containers:\n      - name: main\n        image: nginx:1 # pinned\n" +
		l.some("        env:\n        # how much\n        - {name: LEVEL, value: info}\n        - name: PEERS\n          value: a,b\n") +
		l.some("        resources: {limits: {cpu: 100m}}\n") + l.some("      - {name: side, image: 'fluentd:1'}\n")
	return text
}

// layout makes up the files.
func (l *kustomized) layout() {
	l.names = []string{"web", "api", "job"}[:1+l.rand.IntN(3)]
	base := "resources:\n"
	for _, name := range l.names {
		l.file("base/"+name+".yaml", l.deployment(name))
		base += "- " + name + ".yaml # " + name + "\n"
	}
	l.file("base/kustomization.yaml", base+l.transformers())
	dev := "resources: [../../base]\nnamePrefix: dev-\n"
	if l.one(3) { // no other kustomization uses the base
		dev = "resources: [own.yaml]\n"
		l.file("overlays/dev/own.yaml", l.deployment("own"))
	}
	l.file("overlays/dev/kustomization.yaml", dev+l.some("images: [{name: nginx, newTag: '7'}]\n"))
	prod := "# production\nresources:\n- ../../base\n"
	if l.one(2) {
		l.file("overlays/prod/extra.yaml", l.deployment("extra"))
		prod, l.names = prod+"- extra.yaml\n", append(l.names, "extra")
	}
	prod += l.some("namePrefix: p-\n") + l.transformers()
	var patches string
	for _, name := range l.names {
		patches += l.patch(name)
	}
	if patches != "" {
		prod += "patches:\n" + patches
	}
	l.file("overlays/prod/kustomization.yaml", prod)
}

// transformers are the fields of a kustomization that set values.
func (l *kustomized) transformers() string {
	text := l.some("images:\n# the server\n- {name: nginx, newTag: '1.25'} # tested\n") + l.some("replicas:\n- name: web\n  count: 3 # for the load\n") + l.some("labels:\n- pairs: {team: shop} # who\n")
	if l.one(2) {
		return text
	}
	name := fmt.Sprintf("conf%d", l.rand.IntN(10000))
	l.file("overlays/prod/"+name+".txt", "x = 1\ny = 2\n")
	l.file("base/"+name+".txt", "x = 1\n")
	l.file("overlays/prod/"+name+".env", "# ports\nPORT=80\nHOST=a\n")
	l.file("base/"+name+".env", "PORT=80\n")
	return text + "configMapGenerator:\n- name: " + name + "\n" + l.some("  options: {disableNameSuffixHash: true}\n") +
		"  literals:\n  # how much\n  - LEVEL=info # here\n  - \"B=2\"\n  files: [" + name + ".txt]\n  envs:\n  - " + name + ".env\n"
}

// patch is a patch of an object, in one of its forms, or none.
func (l *kustomized) patch(name string) string {
	merged := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\nspec:\n" + l.some("  replicas: 4 # more\n") +
		"  template:\n    spec:\n      containers:\n      - name: main\n" + l.some("        image: nginx:2\n") + "        # more\n        resources: {limits: {memory: 1Gi}}\n"
	indented := func(text string) string {
		return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
	}
	switch file := name + "-patch.yaml"; l.rand.IntN(5) {
	case 0:
		return ""
	case 1:
		l.file("overlays/prod/"+file, merged)
		return "- path: " + file + "\n"
	case 2:
		return "- patch: |-\n" + indented(merged)
	case 3:
		l.file("overlays/prod/"+file, "# by index\n- op: replace\n  path: /spec/template/spec/containers/0/image\n  value: nginx:3 # new\n")
		return "- path: " + file + "\n  target: {kind: Deployment, name: " + name + "}\n"
	}
	return "- target: {kind: Deployment, name: " + name + "}\n  patch: |-\n    - op: add\n      path: /spec/minReadySeconds\n      value: 5 # slow\n    - {op: add, path: /metadata/annotations, value: {a: b, c: d}}\n"
}

// edit changes an object as people do on a cluster.
func (l *kustomized) edit(obj map[string]any) map[string]any {
	if obj["kind"] == "ConfigMap" {
		data := merge.At[map[string]any](obj, "data")
		for _, k := range slices.Sorted(maps.Keys(data)) {
			switch l.rand.IntN(6) {
			case 0:
				obj = merge.With(obj, "new\n", "data", k)
			case 1:
				obj = merge.Without(obj, "data", k)
			}
		}
		return obj
	}
	for range 1 + l.rand.IntN(4) {
		main := merge.At[map[string]any](obj, "spec", "template", "spec", "containers", "0")
		containers := slices.Clone(merge.At[[]any](obj, "spec", "template", "spec", "containers"))
		switch l.rand.IntN(9) {
		case 0:
			obj = merge.With(obj, number(l.rand.IntN(9)), "spec", "replicas")
			continue
		case 1:
			obj = merge.With(obj, "night", "metadata", []string{"labels", "annotations"}[l.rand.IntN(2)], []string{"team", "tier", "a"}[l.rand.IntN(3)])
			continue
		case 2:
			obj = merge.With(obj, number(9), "spec", "minReadySeconds")
			continue
		case 3:
			obj = merge.With(obj, number(60), "spec", "template", "spec", "terminationGracePeriodSeconds")
			continue
		case 4:
			containers = containers[:1]
		case 5:
			main = merge.With(main, "700m", "resources", "limits", []string{"cpu", "memory"}[l.rand.IntN(2)])
		case 6:
			env := append(slices.Clone(merge.At[[]any](main, "env")), map[string]any{"name": "TRACE", "value": "1"})
			main = merge.With(main, env[l.rand.IntN(len(env)):], "env")
		default:
			main = merge.With(main, []string{"nginx:4", "nginx:1.26", "other/web:1", "nginx@sha256:" + strings.Repeat("ab", 32)}[l.rand.IntN(4)], "image")
		}
		containers[0] = main
		if e, _ := containers[0].(map[string]any); e == nil {
			continue
		}
		obj = merge.With(obj, containers, "spec", "template", "spec", "containers")
	}
	return obj
}

func (l *kustomized) play() {
	l.layout()
	prod := filepath.Join(l.top, "overlays/prod")
	before := l.built("prod")
	dev, touched := string(must(source.Build(filepath.Join(l.top, "overlays/dev"), nil))(l.T)), map[string]bool{}
	var objects []*Object
	for _, b := range before {
		typ, _ := schema.Builtin(b.Group(), b.Version(), b.Kind())
		live := l.recorded(b.Value, l.edit(b.Value), typ)
		p, item := l.compare(b, live)
		o, err := Choice{Applier: apply.DefaultManager}.Take(context.Background(), p, item)
		if err != nil {
			l.Fatal(err)
		}
		objects = append(objects, o)
	}
	edited, err := Choice{}.Edits(context.Background(), source.Inputs{Kustomize: prod}, objects)
	if err != nil {
		l.Fatal(err)
	}
	for _, e := range edited {
		touched[e.Name] = true
	}
	if err := files.ReplaceAll(edited); err != nil {
		l.Fatal(err)
	}
	if now := string(must(source.Build(filepath.Join(l.top, "overlays/dev"), nil))(l.T)); now != dev {
		l.Errorf("the other overlay was\n%s\nis now\n%s", dev, now)
	}
	l.judge(objects, before, l.built("prod"), edited)
}

func (l *kustomized) judge(objects []*Object, before, after []object.Object, edited []*files.Edited) {
	if len(before) != len(after) {
		l.Fatalf("%d objects, not %d", len(after), len(before))
	}
	for i, o := range objects {
		for _, c := range merge.Diff(before[i].Value, after[i].Value, o.typ) {
			if c.Op != merge.OpOrder && !slices.ContainsFunc(o.Values, func(v *Value) bool { return v.Reason == "" && (v.Path.Leads(c.Path) || c.Path.Leads(v.Path)) }) {
				l.Errorf("%s: %s was not chosen", o, c.Path)
			}
		}
		for _, v := range o.Values {
			got, there := merge.Lookup(after[i].Value, v.Path, o.typ)
			switch is := there == v.live.Set && (!there || merge.Identical(got, v.live.Value)); {
			case v.Reason == "" && !is:
				l.Errorf("%s: %s was taken and is %v", o, v.Path, got)
			case v.Reason == "":
				l.seen["taken"]++
				if strings.Contains(v.file, "/base/") {
					l.seen["taken in base"]++
				}
			case strings.Contains(v.Reason, "is used by"):
				l.seen["used by others"]++
			case strings.Contains(v.Reason, "several places"):
				l.seen["several places"]++
			case strings.Contains(v.Reason, "hash"):
				l.seen["hash"]++
			case strings.Contains(v.Reason, "has no place"):
				l.seen["no place"]++
				if os.Getenv("ABSORB_SHOW") != "" {
					l.Logf("%d %s: %s: %s", l.n, o, v.Path, v.Reason)
				}
			default:
				l.seen["left"]++
			}
		}
	}
	if l.Failed() {
		for _, e := range edited {
			l.Logf("%s was\n%s\nis\n%s", e.Name, e.Old, e.Now)
		}
	}
}

func (l *kustomized) built(overlay string) []object.Object {
	all, err := source.Parse(overlay, must(source.Build(filepath.Join(l.top, "overlays", overlay), nil))(l.T))
	if err != nil {
		l.Fatal(err)
	}
	return all
}

// recorded is live with the record of who has set what.
func (l *kustomized) recorded(applied, live map[string]any, typ *merge.Type) map[string]any {
	annotation := must(merge.WriteJSON(applied, true))(l.T)
	by := map[string]any{}
	for _, c := range merge.Diff(applied, live, typ) {
		if c.Op == merge.OpSet {
			if with, err := merge.Put(by, c.Path, c.New.Value); err == nil {
				by = with
			}
		}
	}
	entries := []any{l.entry(apply.DefaultManager, applied, typ), l.entry("kubectl-edit", by, typ)}
	live = merge.With(live, string(annotation)+"\n", "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	return merge.With(live, entries, "metadata", "managedFields")
}

func number(n int) any { return must(merge.ReadJSON(fmt.Append(nil, n)))(nil) }

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
