package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/undo"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// TestUndone holds the laws of plans and records over random objects of every kind, edited at
// random by a run and by others: a run that is bound to a plan writes nothing that is not in
// it, and the undo of its record leads to the first state with the others' edits, where they
// are not of the same values.
func TestUndone(t *testing.T) {
	kinds := append(builtin(t), shapes(t)...)
	live, err := merge.PolicyNamed("live")
	if err != nil {
		t.Fatal(err)
	}
	var bad failures
	n := random(t, *count/20, func(i int) { // each is written, read, undone and compared several times
		k := kinds[i%len(kinds)]
		m := gen.New(*seed, uint64(i))
		r := recorded{typ: k.typ, policy: live}
		r.before = r.served(m.Object(k.Kind, k.typ))
		r.after = r.served(m.Edit(k.typ, r.before))
		r.now, r.then = r.served(m.Edit(k.typ, r.after)), r.served(m.Edit(k.typ, r.before))
		if problem := r.broken(); problem != "" {
			bad.add("%s: record %d of -sweep.seed=%d: %s\nbefore %v\nafter  %v\nnow    %v\nthen   %v", k, i, *seed, problem, r.before, r.after, r.now, r.then)
		}
	})
	bad.report(t)
	t.Logf("seed %d, %d records of %d kinds", *seed, n, len(kinds))
}

// served is v as a server stores it: completed, without what is the server's own, and still the
// object that was there before.
func (r recorded) served(v any) map[string]any {
	obj, _ := v.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, obj)
	meta, _ := obj["metadata"].(map[string]any)
	own := map[string]any{}
	maps.Copy(own, meta)
	if out["metadata"] = own; r.before != nil {
		was, _ := r.before["metadata"].(map[string]any)
		for _, name := range []string{"name", "namespace"} {
			if delete(own, name); was[name] != nil {
				own[name] = was[name]
			}
		}
		out["apiVersion"], out["kind"] = r.before["apiVersion"], r.before["kind"]
	}
	stripped, _ := lastapplied.Strip(out, false)
	out, _ = merge.Complete(stripped, r.typ, true).(map[string]any)
	return meaningful(out, r.typ).(map[string]any)
}

// meaningful is a value without the fields that it makes obsolete itself, such as the class of a load
// balancer in a Service of another type: the server refuses them, or drops them.
func meaningful(v any, typ *merge.Type) any {
	m, isMap := v.(map[string]any)
	if !isMap || typ == nil {
		return merge.Rebuilt(v, func(e any) any { return meaningful(e, typ.EntryType()) })
	}
	out := map[string]any{}
	for name, e := range m {
		out[name] = meaningful(e, typ.Field(name).Type)
	}
	for _, d := range typ.Defaults {
		keys := []string{d.Path[len(d.Path)-1]}
		holder := out
		if len(d.Path) == 2 && keys[0] == "*" {
			holder = merge.At[map[string]any](out, d.Path[0])
			keys = slices.Collect(maps.Keys(holder))
		}
		for _, key := range keys {
			met := !slices.ContainsFunc(d.If, func(c merge.Condition) bool {
				is := merge.At[any](out, append(c.Path[:len(c.Path)-1:len(c.Path)-1], strings.Replace(c.Path[len(c.Path)-1], "*", key, 1))...)
				same := fmt.Sprint(is) == c.Text
				return c.Kind == merge.IfIs && !same || c.Kind == merge.IfNot && same || c.Kind == merge.IfUnset && is != nil || c.Kind == merge.IfSet && is == nil
			})
			if d.Moot && met && (len(d.Path) == 1 || key != d.Path[1]) {
				delete(holder, key)
			}
		}
	}
	return out
}

// differ: the server would not store both as the same.
func (r recorded) differ(got, want map[string]any) string {
	for _, c := range merge.Diff(r.served(got), want, r.typ) {
		set := c.Op == merge.OpOrder && r.typ.At(c.Path).Kind == merge.Set
		if !set && (c.Op == merge.OpOrder || !r.alike(c.Path, c.Old, c.New)) {
			return fmt.Sprintf("%s: %v, and not %v\n       %v", c.Path, c.Old, c.New, got)
		}
	}
	return ""
}

// alike: the server stores both as the same.
func (r recorded) alike(p merge.Path, a, b merge.Opt) bool {
	t := r.typ.At(p)
	if a.Set && b.Set && merge.Equal(bare(a.Value, t), bare(b.Value, t), t) {
		return true
	}
	return nothing(a.Value) && nothing(b.Value) || r.filled(p, a, b) || r.filled(p, b, a)
}

// bare is v without what says no more than if it were absent or what a server allocates, and its
// sets in an order of their own.
func bare(v any, t *merge.Type) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if f := t.Field(k); !nothing(e) && !f.Allocated && (f.Default == nil || !merge.Equal(e, f.Default, f.Type)) {
				out[k] = bare(e, f.Type)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = bare(e, t.EntryType())
		}
		if t != nil && t.Kind == merge.Set {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return out
	}
	return v
}

// filled: the server fills in b where nothing is.
func (r recorded) filled(p merge.Path, a, b merge.Opt) bool {
	if len(p) == 0 || !nothing(a.Value) {
		return false
	}
	f := r.typ.At(p[:len(p)-1]).Field(p[len(p)-1].Name)
	return f.Allocated || !a.Set && f.Default != nil && merge.Equal(f.Default, b.Value, f.Type)
}

// nothing: the value says no more than if it were absent.
func nothing(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if !nothing(e) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		return v == "0"
	}
	return v == nil
}

// part: b has all that a has.
func (r recorded) part(p merge.Path, a, b merge.Opt) bool {
	if r.alike(p, a, b) || nothing(a.Value) {
		return true
	}
	t := r.typ.At(p)
	switch x := a.Value.(type) {
	case map[string]any:
		y, ok := b.Value.(map[string]any)
		for k, v := range x {
			w, has := y[k]
			ok = ok && r.part(p.Child(merge.Named(k)), merge.Some(v), merge.Opt{Value: w, Set: has})
		}
		return ok
	case []any:
		y, ok := b.Value.([]any)
		for i, v := range x {
			step := schema.EntrySteps(t, x)[i]
			ok = ok && slices.ContainsFunc(y, func(w any) bool { return r.part(p.Child(step), merge.Some(v), merge.Some(w)) })
		}
		return ok
	}
	return false
}

// recorded is an object that a run has changed, and others.
type recorded struct {
	typ           *merge.Type
	before, after map[string]any // what the run did
	now           map[string]any // after, edited by others
	then          map[string]any // before, edited by others
	policy        merge.Policy
}

func (r recorded) broken() string {
	doc, err := r.document(true)
	if err != nil {
		return err.Error()
	}
	if len(doc.Items) == 0 {
		return ""
	}
	u := &undo.Undo{Record: doc, Planner: &apply.Planner{Policy: r.policy}}
	back, left := u.Revert(doc.Items[0], r.after, r.typ)
	if len(left) > 0 {
		return fmt.Sprintf("nothing was changed, and objects are left: %v", left)
	}
	if problem := r.differ(back.Final, r.before); problem != "" {
		return "is not as it was before: " + problem
	}
	back, _ = u.Revert(doc.Items[0], r.now, r.typ)
	displaced := slices.ContainsFunc(back.Settled, func(d merge.Disagreement) bool { return d.By != nil }) ||
		slices.ContainsFunc(back.Removed, func(d merge.Removal) bool { return d.By != nil })
	if problem := r.kept(back.Final); problem != "" && !displaced { // of a one-of, others have chosen another variant
		return problem
	}
	return r.bound()
}

// kept: what others have done elsewhere stays, and what they left alone is as before.
func (r recorded) kept(got map[string]any) string {
	ours, theirs := merge.Diff(r.before, r.after, r.typ), merge.Diff(r.after, r.now, r.typ)
	for _, c := range theirs {
		if c.Op == merge.OpOrder || touches(c.Path, ours) {
			continue
		}
		v, ok := merge.Lookup(got, c.Path, r.typ)
		if !r.alike(c.Path, merge.Opt{Value: v, Set: ok}, c.New) {
			return fmt.Sprintf("%s: others made it %v, and it is %v\n       %v", c.Path, c.New, v, got)
		}
	}
	for _, c := range ours {
		if c.Op == merge.OpOrder || touches(c.Path, theirs) {
			continue
		}
		v, ok := merge.Lookup(got, c.Path, r.typ)
		if !r.alike(c.Path, merge.Opt{Value: v, Set: ok}, c.Old) {
			return fmt.Sprintf("%s: was %v before the run, was not changed since, and is %v\n       %v", c.Path, c.Old, v, got)
		}
	}
	return ""
}

// touches: a change is of the value at the path, of a part of it, or of what holds it.
func touches(p merge.Path, changes []merge.Change) bool {
	at := p.String()
	for _, c := range changes {
		other := c.Path.String()
		if strings.HasPrefix(at, other) || strings.HasPrefix(other, at) {
			return true
		}
	}
	return false
}

// bound: whatever a run may write that is bound to the plan is in it.
func (r recorded) bound() string {
	doc, err := r.document(false)
	if err != nil {
		return err.Error()
	}
	plan, err := plandoc.Bind(doc)
	if err != nil {
		return err.Error()
	}
	merged := merge.Three(merge.Triple{Original: r.before, Local: r.after, Live: r.then}, r.typ, merge.Policies[0], false)
	final, _ := merged.Result.(map[string]any)
	if len(plan.Surplus(r.subject(r.then, final))) > 0 {
		return ""
	}
	for _, c := range merge.Diff(r.then, final, r.typ) {
		if c.Op == merge.OpOrder {
			continue
		}
		was, had := merge.Lookup(r.before, c.Path, r.typ)
		is, has := merge.Lookup(r.after, c.Path, r.typ)
		if !r.part(c.Path, c.Old, merge.Opt{Value: was, Set: had}) || !r.part(c.Path, c.New, merge.Opt{Value: is, Set: has}) {
			return fmt.Sprintf("%s: %v becomes %v, which is not in the plan", c.Path, c.Old, c.New)
		}
	}
	return ""
}

func (r recorded) subject(was, is map[string]any) plandoc.Subject {
	return plandoc.Subject{Action: apply.Change, Identity: plandoc.Identity{APIVersion: "v1", Kind: "X", Name: "x"},
		Planned: apply.Planned{Live: was, Final: is, Type: r.typ, Action: apply.Change}}
}

// document is the record, or the plan, of what the run did, as read from its text.
func (r recorded) document(record bool) (*plandoc.Document, error) {
	h := plandoc.Header{Cluster: plandoc.Cluster{UID: "u"}, Spelling: plandoc.Spelling{Salt: []byte("salt-of-a-test"), ShowSecrets: true, Record: record}}
	var b bytes.Buffer
	w, err := plandoc.NewWriter(&b, h)
	if err != nil {
		return nil, err
	}
	item := h.Item(r.subject(r.before, r.after))
	if item.UID = "1"; len(item.Changes) > 0 {
		var text []byte
		if text, err = item.Encode(); err == nil {
			w.Count(item.Action)
			err = w.Raw(text)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	return plandoc.Parse("record", b.Bytes())
}
