package absorb

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
// absorbed into files of any layout: the file states what was chosen, whole, and nothing else has changed
// in it, a comparison names none of it, and of everything absorbed only what is reported is left.
// Every third object has a list with several keys (ports), whose entries share some of them or all.
func TestLawAbsorbed(t *testing.T) {
	kinds := slices.DeleteFunc(schema.BuiltinKinds(), func(k schema.Kind) bool { return strings.HasSuffix(k.Kind, "List") })
	several := slices.DeleteFunc(slices.Clone(kinds), func(k schema.Kind) bool { return len(severalKeys(k)) == 0 })
	total := 15_000
	if testing.Short() {
		total = 1500
	}
	from, to := part.Chosen(t).Of(total)
	seen := map[string]int{}
	for n := from; n < to; n++ {
		l := &law{T: t, n: n, rand: rand.New(rand.NewPCG(15, uint64(n))), make: gen.New(15, uint64(n)), seen: seen, lists: n%3 == 2}
		if l.lists {
			k := several[n/3%len(several)]
			l.play(k, severalKeys(k))
		} else {
			l.play(kinds[(n-n/3)%len(kinds)], nil)
		}
		if t.Failed() {
			t.Fatalf("situation %d: -run TestLawAbsorbed -part=all", n)
		}
	}
	t.Logf("%v", seen)
	if played := to - from; seen["taken"] < played || seen["entries with the same keys taken"] == 0 || seen["refused"] > seen["taken"]/8 {
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

	lists bool // the object has nothing but a list with several keys
}

// severalKeys are the lists of a kind whose entries have more than one key.
func severalKeys(k schema.Kind) []gen.Place {
	typ, _ := schema.Builtin(k.Group, k.Version, k.Kind)
	return slices.DeleteFunc(gen.Places(typ), func(p gen.Place) bool { return p.Field.Type.Kind != merge.Keyed || len(p.Field.Type.Keys) < 2 })
}

// play plays an object of a kind: any one, or one with a list of those that are given.
func (l *law) play(k schema.Kind, lists []gen.Place) {
	typ, ok := schema.Builtin(k.Group, k.Version, k.Kind)
	if !ok {
		return
	}
	local := l.make.Object(k, typ)
	delete(local, "status")
	var now any = local
	if len(lists) > 0 {
		local, now = l.listed(k, lists[l.rand.IntN(len(lists))], typ)
	}
	for n := 1 + l.rand.IntN(3); n > 0 && len(lists) == 0; n-- {
		now = l.make.Edit(typ, now)
	}
	live := l.live(k, local, now, typ)
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

// listed is an object that has nothing but a list with several keys, or nothing there, and what live has of it.
func (l *law) listed(k schema.Kind, p gen.Place, typ *merge.Type) (local, live map[string]any) {
	var is merge.Opt
	if l.rand.IntN(2) == 0 {
		is = merge.Some(l.siblings(p.Field.Type, nil))
	}
	made := func(v merge.Opt) map[string]any {
		o := merge.With(merge.With(p.Wrap(typ, v), k.Kind, "kind"), strings.TrimPrefix(k.Group+"/"+k.Version, "/"), "apiVersion")
		return merge.With(o, "made", "metadata", "name")
	}
	entries, _ := is.Value.([]any)
	return made(is), made(merge.Some(l.siblings(p.Field.Type, entries)))
}

// siblings are entries with others beside them that share all of their keys, or some: with the default of a key
// stated or left out, and with a field that none of the others has, or without one that they have.
func (l *law) siblings(typ *merge.Type, entries []any) []any {
	out := slices.Clone(entries)
	if len(out) > 0 && l.rand.IntN(3) == 0 {
		out = slices.Delete(out, 0, 1)
	}
	for range 1 + l.rand.IntN(2) {
		var e map[string]any
		if len(out) > 0 && l.rand.IntN(4) > 0 {
			e, _ = out[l.rand.IntN(len(out))].(map[string]any)
		}
		for e == nil || l.incomplete(typ, e) {
			e, _ = l.make.Entry(typ, 3).(map[string]any)
		}
		for range 1 + l.rand.IntN(2) {
			out = slices.Insert(out, l.rand.IntN(len(out)+1), any(l.sibling(typ, e)))
		}
	}
	return out
}

// incomplete reports whether an entry lacks a key that has no default.
func (l *law) incomplete(typ *merge.Type, e map[string]any) bool {
	return slices.ContainsFunc(typ.Keys, func(k merge.Key) bool { return k.Default == nil && zero(e[k.Name]) })
}

func (l *law) sibling(typ *merge.Type, e map[string]any) map[string]any {
	e = maps.Clone(e)
	if k := typ.Keys[l.rand.IntN(len(typ.Keys))]; l.rand.IntN(2) == 0 {
		other, _ := l.make.Entry(typ, 3).(map[string]any)
		if v := other[k.Name]; !zero(v) {
			e = merge.With(e, v, k.Name)
		} else if k.Default != nil {
			delete(e, k.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(typ.Elem.Fields)) {
		if slices.ContainsFunc(typ.Keys, func(k merge.Key) bool { return k.Name == name }) {
			continue
		}
		delete(e, name)
		if l.rand.IntN(3) == 0 {
			e = merge.With(e, l.make.Value(typ.Elem.Fields[name].Type, 2), name)
		}
	}
	return e
}

// live is the object as others have edited it, with the record of who has.
func (l *law) live(k schema.Kind, local map[string]any, now any, typ *merge.Type) map[string]any {
	annotation, err := merge.WriteJSON(local, true)
	if err != nil {
		l.Fatal(err)
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
			return v.Reason == "" && (p.Leads(change.Path) || change.Path.Leads(p) || v.Stated != nil && change.Path.Leads(v.Stated))
		}) {
			l.Errorf("%s: was not chosen\n%s\nis now\n%s", change.Path, text, now)
		}
	}
	_, item := l.compare(again[place], live)
	if item == nil {
		l.Errorf("cannot be compared any more:\n%s", now)
		return
	}
	if l.lists {
		l.whole(o, again[place], live)
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
			if l.repeated(o.typ.At(v.Path), v.whole) {
				l.seen["entries with the same keys taken"]++
			}
		case strings.HasPrefix(v.Reason, "a file cannot") || strings.Contains(v.Reason, "anchor"):
			if l.among(o, v.Path, live) {
				l.seen["refused among entries with the same keys"]++
			} else {
				l.seen["refused"]++
			}
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

// among reports whether a path leads to, or through, a list with entries that have the same keys.
func (l *law) among(o *Object, p merge.Path, live map[string]any) bool {
	for n := range p {
		is, _ := merge.Lookup(live, p[:n+1], o.typ)
		was, _ := merge.Lookup(o.Value, p[:n+1], o.typ)
		if typ := o.typ.At(p[:n+1]); l.repeated(typ, is) || l.repeated(typ, was) {
			return true
		}
	}
	return false
}

// repeated reports whether a value is a list with entries that have the same keys.
func (l *law) repeated(typ *merge.Type, v any) bool {
	list, isList := v.([]any)
	if !isList || typ == nil || typ.Kind != merge.Keyed {
		return false
	}
	entries := merge.EntriesOf(list, typ)
	return slices.ContainsFunc(list, func(e any) bool { return len(entries.All(merge.StepOf(typ, e, 0))) > 1 })
}

// whole: the file has all that live has where a value was taken, but for what the server fills in or allocates, and
// for what was left.
func (l *law) whole(o *Object, now object.Object, live map[string]any) {
	file, all := merge.NewFinder(merge.Complete(now.Value, o.typ, true), o.typ), merge.NewFinder(merge.Complete(live, o.typ, true), o.typ)
	for _, v := range o.Chosen() {
		is, _ := file.Lookup(v.Path)
		want, there := all.Lookup(v.Path)
		if !there || v.Order != nil || o.Kind() == "Secret" {
			continue
		}
		for _, c := range merge.Diff(is, want, o.typ.At(v.Path)) {
			at := slices.Concat(v.Path, c.Path)
			f, _ := schema.FieldAt(o.typ, at)
			if c.Op == merge.OpSet && !f.Allocated && !zero(c.New.Value) && !slices.ContainsFunc(o.Values, func(v *Value) bool { return v.Reason != "" && (v.Path.Leads(at) || at.Leads(v.Path)) }) {
				l.Errorf("%s: was absorbed without %s, which is %v: the file has %v, and live %v", v.Path, at, c.New.Value, is, want)
			}
		}
	}
}

// zero reports whether a server stores nothing for a value, or the default.
func zero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(e any) bool { return !zero(e) })
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !zero(e) })
	}
	return v == nil || v == "" || v == false || v == json.Number("0")
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
