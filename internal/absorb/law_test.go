package absorb

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/part"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// writers are those who edit live in the law, and whether their values are taken unasked.
var writers = map[string]bool{"kubectl-edit": true, "kubectl-patch": true, "an-operator": false, "kube-controller-manager": false}

// TestLawAbsorbed: laws 15 and 16. Objects of every kind are edited by several managers, and
// absorbed into files of any layout: the file states what was chosen and nothing else has changed
// in it, a comparison names none of it, and of everything absorbed only what is reported is left.
func TestLawAbsorbed(t *testing.T) {
	kinds := slices.DeleteFunc(schema.BuiltinKinds(), func(k schema.Kind) bool { return strings.HasSuffix(k.Kind, "List") })
	total := 10_000
	if testing.Short() {
		total = 1000
	}
	from, to := part.Chosen(t).Of(total)
	seen := map[string]int{}
	for n := from; n < to; n++ {
		l := &law{T: t, n: n, rand: rand.New(rand.NewPCG(15, uint64(n))), make: gen.New(15, uint64(n)), seen: seen}
		l.play(kinds[n%len(kinds)])
		if t.Failed() {
			t.Fatalf("situation %d: -run TestLawAbsorbed -part=all", n)
		}
	}
	t.Logf("%v", seen)
	if played := to - from; seen["taken"] < played || seen["refused"] > seen["taken"]/8 {
		t.Errorf("%d values were taken and %d refused in %d situations", seen["taken"], seen["refused"], played)
	}
}

// law is one situation.
type law struct {
	*testing.T
	n    int
	rand *rand.Rand
	make gen.Maker
	seen map[string]int
}

func (l *law) play(k schema.Kind) {
	typ, ok := schema.Builtin(k.Group, k.Version, k.Kind)
	if !ok {
		return
	}
	local := l.make.Object(k, typ)
	delete(local, "status")
	live := l.live(k, local, typ)
	text, place := l.layout(local)
	name := filepath.Join(l.TempDir(), "web.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
	read, err := source.Parse(name, []byte(text))
	if err != nil { // the made-up object is not one that can be read
		l.seen["unreadable"]++
		return
	}
	p, item := l.compare(read[place], live)
	if item == nil {
		return
	}
	choice := Choice{Applier: apply.DefaultManager, Secrets: true}
	if l.rand.IntN(3) == 0 {
		choice.Managers = slices.Sorted(func(yield func(string) bool) {
			for w := range writers {
				if !yield(w) {
					return
				}
			}
		})
	}
	o, err := choice.Take(context.Background(), p, item)
	if err != nil {
		l.Errorf("%v\n%s", err, text)
		return
	}
	edited, err := choice.Edits(context.Background(), source.Inputs{Files: []string{name}}, []*Object{o})
	if err != nil {
		l.Errorf("%v\n%s", err, text)
		return
	}
	l.judge(choice, o, edited, read, place, live)
}

// live is the object as others have edited it, with the record of who has.
func (l *law) live(k schema.Kind, local map[string]any, typ *merge.Type) map[string]any {
	annotation, err := merge.WriteJSON(local, true)
	if err != nil {
		l.Fatal(err)
	}
	var now any = local
	for range 1 + l.rand.IntN(3) {
		now = l.make.Edit(typ, now)
	}
	live, isMap := now.(map[string]any)
	if !isMap {
		live = local
	}
	live = merge.With(live, "1", "metadata", "resourceVersion")
	live = merge.With(live, merge.At[string](local, "metadata", "name"), "metadata", "name")
	live = merge.With(merge.With(live, k.Kind, "kind"), merge.At[string](local, "apiVersion"), "apiVersion")
	for _, own := range []string{"namespace", "uid", "managedFields", "deletionTimestamp", "generation", "creationTimestamp", "selfLink"} {
		if v, has := merge.At[map[string]any](local, "metadata")[own]; has {
			live = merge.With(live, v, "metadata", own)
		} else {
			live = merge.Without(live, "metadata", own)
		}
	}
	delete(live, "status")
	by := map[string]map[string]any{}
	names := []string{"kubectl-edit", "kubectl-patch", "an-operator", "kube-controller-manager"}[:1+l.rand.IntN(4)]
	for _, c := range merge.Diff(local, live, typ) {
		if w := names[l.rand.IntN(len(names))]; c.Op == merge.OpSet {
			if with, err := merge.Put(by[w], c.Path, c.New.Value); err == nil {
				by[w] = with
			}
		}
	}
	entries := []any{l.entry(apply.DefaultManager, local, typ)}
	for _, w := range names {
		if by[w] != nil {
			entries = append(entries, l.entry(w, by[w], typ))
		}
	}
	live = merge.With(live, string(annotation)+"\n", "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	return merge.With(live, entries, "metadata", "managedFields")
}

func (l *law) entry(manager string, obj map[string]any, typ *merge.Type) map[string]any {
	return map[string]any{
		"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
		"time": fmt.Sprintf("2026-01-02T03:04:%02dZ", l.rand.IntN(60)), "fieldsV1": ownership.Fields(obj, typ),
	}
}

// compare merges the object as a comparison does; nil if it cannot be compared.
func (l *law) compare(o object.Object, live map[string]any) (*run.Plan, *run.Item) {
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		l.Fatal(err)
	}
	planner := &apply.Planner{Policy: policy, Manager: apply.DefaultManager, Validate: apply.Ignore, Compare: true}
	target := cluster.Target{Resource: cluster.Resource{Group: o.Group(), Version: o.Version(), Kind: o.Kind()}, Namespace: o.Namespace(), Name: o.Name()}
	planned, err := planner.Plan(context.Background(), apply.Subject{Object: o, Name: target.String(), HasStatus: true}, live)
	if err != nil {
		l.seen["incomparable"]++
		return nil, nil
	}
	return &run.Plan{Job: &run.Job{Planner: planner}}, &run.Item{Object: o, Target: target, Details: &run.Details{Planned: planned}}
}

func (l *law) judge(c Choice, o *Object, edited []*files.Edited, read []object.Object, place int, live map[string]any) {
	text := string(mustRead(l.T, o.Origin.File))
	now := text
	for _, e := range edited {
		now = string(e.Now)
	}
	again, err := source.Parse(o.Origin.File, []byte(now))
	if err != nil || len(again) != len(read) {
		l.Errorf("%d objects, not %d: %v\n%s\nis now\n%s", len(again), len(read), err, text, now)
		return
	}
	for i := range read {
		if i != place && !merge.Identical(read[i].Value, again[i].Value) {
			l.Errorf("another object has changed:\n%s\nis now\n%s", text, now)
		}
	}
	for _, change := range merge.Diff(read[place].Value, again[place].Value, o.typ) {
		if !slices.ContainsFunc(o.Values, func(v *Value) bool {
			p, _ := spelled(read[place].Value, v.Path, v.live)
			return v.Reason == "" && (p.Leads(change.Path) || change.Path.Leads(p))
		}) {
			l.Errorf("%s: was not chosen\n%s\nis now\n%s", change.Path, text, now)
		}
	}
	_, item := l.compare(again[place], live)
	if item == nil {
		l.Errorf("cannot be compared any more:\n%s", now)
		return
	}
	rows := drift.Of(item, c.Applier)
	left := func(r drift.Row) bool {
		return slices.ContainsFunc(o.Values, func(v *Value) bool { return v.Reason != "" && v.Path.Leads(r.Path) })
	}
	for _, v := range o.Values {
		switch {
		case v.Reason == "" && slices.ContainsFunc(rows, func(r drift.Row) bool { return v.Path.Leads(r.Path) && !left(r) }):
			l.Errorf("%s: was absorbed, and differs still:\n%s\nis now\n%s", v.Path, text, now)
		case v.Reason == "":
			l.seen["taken"]++
		case strings.HasPrefix(v.Reason, "a file cannot") || strings.Contains(v.Reason, "anchor"):
			l.seen["refused"]++
			if os.Getenv("ABSORB_SHOW") != "" {
				l.Logf("%d %s %s: %s", l.n, o, v.Path, v.Reason)
			}
		default:
			l.seen["left"]++
		}
		if by := v.Owner; v.Reason == "" && by != nil && c.Managers == nil && !writers[by.Manager] {
			l.Errorf("%s: was set by %s, and taken unasked", v.Path, by.Manager)
		}
	}
	for _, r := range rows {
		if !slices.ContainsFunc(o.Values, func(v *Value) bool { return v.Reason != "" && (v.Path.Leads(r.Path) || r.Path.Leads(v.Path)) }) {
			l.Errorf("%s: differs now, and did not before:\n%s\nis now\n%s", r.Path, text, now)
		}
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// layout writes an object among others, in one of the ways in which files are written, and returns
// its place among them.
func (l *law) layout(obj map[string]any) (text string, place int) {
	other := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"a": "1"}}
	}
	all := []any{other("first"), obj, other("last")}
	switch l.rand.IntN(5) {
	case 0:
		return l.block(obj, 0), 0
	case 1:
		return "# the first\n" + l.block(all[0], 0) + "---\n" + l.block(obj, 0) + "---\n# the last\n" + l.block(all[2], 0), 1
	case 2:
		return "# a list\n" + l.block(map[string]any{"apiVersion": "v1", "kind": "List", "items": all}, 0), 1
	case 3:
		b, err := json.MarshalIndent(obj, "", "  ")
		if err != nil {
			l.Fatal(err)
		}
		return string(b) + "\n", 0
	}
	return l.flow(obj) + "\n---\n" + l.block(all[2], 0), 0
}

// block writes a value in lines, with comments, or in one line.
func (l *law) block(v any, indent int) string {
	var b strings.Builder
	pad := strings.Repeat(" ", indent)
	step := []int{2, 4}[l.rand.IntN(2)]
	put := func(head string, e any) {
		if l.rand.IntN(6) == 0 {
			fmt.Fprintf(&b, "%s# above %d\n", pad, l.rand.IntN(100))
		}
		if size(e) == 0 || l.rand.IntN(5) == 0 {
			b.WriteString(pad + head + " " + l.flow(e))
			if l.rand.IntN(6) == 0 {
				b.WriteString(" # behind")
			}
			b.WriteString("\n")
			return
		}
		b.WriteString(pad + head + "\n" + l.block(e, indent+step))
	}
	switch v := v.(type) {
	case map[string]any:
		names := keys(v)
		l.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, k := range names {
			put(l.flow(k)+":", v[k])
		}
	case []any:
		for _, e := range v {
			put("-", e)
		}
	}
	if size(v) == 0 {
		return pad + l.flow(v) + "\n"
	}
	return b.String()
}

// flow writes a value in one line.
func (l *law) flow(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		l.Fatal(err)
	}
	return strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(text))
}

func size(v any) int {
	switch v := v.(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	}
	return 0
}

func keys(m map[string]any) []string {
	var names []string
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}
