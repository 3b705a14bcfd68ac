package undo

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// reverting undoes the changes of one object.
type reverting struct {
	*Undo
	*plandoc.Item
	target cluster.Target
	live   map[string]any
	typ    *merge.Type
	has    map[bool]bool // whether live has a value that the run set: the answers for all of them
}

// Revert returns the plan that undoes a recorded change of one object, given its live state, and
// the values that are not undone. Nothing is read. typ is the object's type; nil: unknown.
func (u *Undo) Revert(i plandoc.Item, live map[string]any, typ *merge.Type) (apply.Planned, []Left) {
	one := &Undo{Record: u.Record, Planner: u.Planner}
	r := reverting{Undo: one, Item: &i, live: live, typ: typ, has: map[bool]bool{}}
	out := r.plan(apply.Planned{Subject: apply.Subject{Name: i.Name}, Live: live})
	return out, one.left
}

// plan merges: the original is live with the values that the run wrote, local is live with the
// values before the run. Nothing else differs, so nothing else changes. A value other than the one
// that the run wrote was set later, possibly by the run's own manager: no manager counts as the
// applier.
func (r reverting) plan(out apply.Planned) apply.Planned {
	owners := ownership.Of(r.live)
	t := merge.Triple{Original: r.live, Local: r.live, Live: r.live, Owners: owners, Reverts: true, Claims: ownership.Claims(r.ofRun(r.Item))}
	for _, c := range r.Changes {
		if p, err := c.ParsedPath(); err == nil && c.Order == nil {
			t.Original, t.Local = r.sides(t, p, c)
		}
	}
	for _, c := range r.Changes {
		if p, err := c.ParsedPath(); err == nil && c.Order != nil && !r.reordered(p, c) {
			t.Original, t.Local = ordered(t.Original, p, c.Order.After, r.typ), ordered(t.Local, p, c.Order.Before, r.typ)
		}
	}
	if r.Outcome == plandoc.Begun { // the record has the request, and live the result
		t.Original, t.Unanswered = merge.Complete(t.Original, r.typ, true), true
	}
	policy := r.Planner.Policy
	policy.Rules = out.Answered(r.live, r.typ)
	out.Plan = merge.Three(t, r.typ, policy, r.Planner.Trace)
	out.Type = r.typ
	out.Final = r.lastApplied(merge.At[map[string]any](out.Result), out.Changes)
	restored := slices.Clone(out.Changes)
	if r.LastApplied != nil {
		restored = append(restored, merge.Change{Path: lastapplied.AnnotationPath})
	}
	if out.Theirs, _ = ownership.Divide(r.ManagedFields, restored); r.ManagedFields != nil { // nil: they may be hidden
		out.Unowned = restored
	}
	if !merge.Identical(r.live, out.Final) {
		out.Action = apply.Change
	}
	return out
}

// reordered leaves a list that others have put into an order that is neither of the change's, unless those of
// others are overwritten.
func (r reverting) reordered(p merge.Path, c plandoc.ChangeOf) bool {
	list, _ := merge.Lookup(r.live, p, r.typ)
	is := merge.Texts(schema.EntrySteps(r.typ.At(p), merge.At[[]any](list)))
	if plandoc.SameOrder(is, c.Order.After) || plandoc.SameOrder(is, c.Order.Before) || r.Planner.Policy.Drift == merge.TakeLocal {
		return false
	}
	r.leave(Left{r.target, c.Path, "was put into another order by others since", false})
	return true
}

// sides returns original and local with the values of a change.
func (r reverting) sides(t merge.Triple, p merge.Path, c plandoc.ChangeOf) (original, local any) {
	is, has := merge.Lookup(r.live, p, r.typ)
	now := merge.Opt{Value: is, Set: has}
	leave := func(reason string, lost bool) (any, any) {
		r.leave(Left{r.target, c.Path, reason, lost})
		return t.Original, t.Local
	}
	before, known := r.reveal(p, c.Before, now)
	after, unchanged := r.reveal(p, c.After, now)
	if after.Set {
		r.has[unchanged && plandoc.Same(after, now)] = true
	}
	if !known {
		return leave("what was there before is hidden in the record: only a record of a run with --show-secrets has it", true)
	}
	switch {
	case plandoc.Same(before, now):
		return t.Original, t.Local // it is restored already
	case !unchanged && !r.overrides():
		return leave("was changed by others since", false)
	}
	if _, declared := schema.FieldAt(r.typ, p); !declared && before.Set {
		return leave("the kind does not have this field any more", true)
	}
	original, okO := put(t.Original, p, after, r.typ)
	local, okL := put(t.Local, p, before, r.typ)
	switch {
	case okO && okL:
		return original, local
	case !before.Set: // it was removed with its parent
		return t.Original, t.Local
	}
	return leave("what held it was removed by others since", false)
}

// reveal returns a side of a change with its hidden values; false if they are unknown.
func (r reverting) reveal(p merge.Path, side, now merge.Opt) (merge.Opt, bool) {
	if !side.Set {
		return side, true
	}
	v, ok := r.Record.Reveal(r.Identity, p, side.Value, now)
	return merge.Opt{Value: v, Set: true}, ok
}

// put returns v with another value at a path, or without it. It is false if its parent is missing,
// such as an entry of a list on the way.
func put(v any, p merge.Path, o merge.Opt, typ *merge.Type) (any, bool) {
	n := merge.NewFinder(v, typ).Reach(p)
	c := merge.Change{Op: merge.OpSet, Path: placed(v, p, typ), Old: o, New: o}
	var err error
	switch {
	case len(p) == 0:
		return o.Value, true
	case n < len(p) && !o.Set:
		return v, true // it is not there
	case n < len(p)-1 && p[n].Kind != merge.FieldStep:
		return v, false
	case n < len(p):
		v, err = merge.Put(merge.At[map[string]any](v), c.Path, o.Value)
		return v, err == nil
	case !o.Set:
		c.Op = merge.OpRemove
	}
	v, err = merge.Replay(v, []merge.Change{c})
	return v, err == nil
}

// placed returns a path with the places of the entries on it, as far as they are there: one that
// leaves out a key is found by the key's default.
func placed(v any, p merge.Path, typ *merge.Type) merge.Path {
	at := slices.Clone(p)
	for n, s := range p {
		list, _ := merge.Lookup(v, at[:n], typ)
		if i := merge.EntryAt(merge.At[[]any](list), s, typ.At(p[:n])); i >= 0 {
			at[n] = merge.Step{Kind: merge.IndexStep, Index: i}
		}
	}
	return at
}

// ordered returns v with the entries of a list in an order, and entries that it does not name after
// them; nil leaves it.
func ordered(v any, p merge.Path, steps []string, typ *merge.Type) any {
	c := merge.Change{Op: merge.OpOrder, Path: placed(v, p, typ)}
	for _, text := range steps {
		s, err := merge.ParsePath(text)
		if at := placed(v, slices.Concat(p, s), typ); err == nil && len(s) == 1 && at[len(p)].Kind == merge.IndexStep {
			c.NewOrder = append(c.NewOrder, at[len(p)])
		}
	}
	out, err := merge.Replay(v, []merge.Change{c})
	if err != nil || steps == nil {
		return v // the list is gone, or its order is unknown
	}
	return out
}

// lastApplied returns the result with the annotation as it was before the run. Later applies are
// preserved in it, except where changes restore the object's value.
func (r reverting) lastApplied(result map[string]any, changes []merge.Change) map[string]any {
	l := r.LastApplied
	if l == nil {
		return result
	}
	was := lastapplied.Read(r.live)
	now := merge.Opt{Value: was.Text, Set: was.Text != ""}
	c := recorded{r.configuration(l.Before, was), r.configuration(l.After, was), now}
	r.has[plandoc.Same(c.after, now)] = true
	text, isText := c.before.Value.(string)
	switch {
	case (plandoc.IsHash(l.Before.Value) || !now.Set && plandoc.Hashes(l.Before.Value)) && !plandoc.Same(c.before, now):
		r.leave(Left{r.target, recordedConfiguration, "is hidden in the record: only a record of a run with --show-secrets has it", true})
		return result
	case plandoc.Same(c.before, now): // it is restored already
		return result
	case !plandoc.Same(c.after, now), c.before.Set && !isText:
		return r.merged(result, c, changes)
	case !c.before.Set:
		return merge.At[map[string]any](lastapplied.Without(result))
	}
	return annotated(result, text)
}

// recordedConfiguration names the annotation in messages.
const recordedConfiguration = "the last-applied configuration"

// recorded holds a last-applied configuration before and after the run, as text if all of it is
// known, and its current state.
type recorded struct{ before, after, now merge.Opt }

// configuration returns a side of the recorded annotation: a text, or, if that has hidden values,
// the configuration with those of them that the annotation has now.
func (r reverting) configuration(side merge.Opt, now lastapplied.Original) merge.Opt {
	if !side.Set || now.Text == "" && plandoc.Hashes(side.Value) {
		return side
	}
	if plandoc.IsHash(side.Value) {
		if v, same := r.Record.Reveal(r.Identity, lastapplied.AnnotationPath, side.Value, merge.Some(now.Text)); same {
			return merge.Some(v)
		}
		return side
	}
	is := parsed(merge.Some(now.Text))
	v, _ := r.Record.Reveal(r.Identity, nil, side.Value, merge.Some(is))
	if merge.Identical(v, is) {
		v = now.Text
	}
	return merge.Some(v)
}

// parsed returns a configuration that may be a text; nil if that cannot be read.
func parsed(o merge.Opt) any {
	text, isText := o.Value.(string)
	if !isText {
		return o.Value
	}
	v, _ := merge.ReadJSON([]byte(text))
	return v
}

// merged returns the result with a last-applied configuration in which the run's changes are undone
// where they are undone in the object, and later changes are preserved.
func (r reverting) merged(result map[string]any, c recorded, changes []merge.Change) map[string]any {
	t := merge.Triple{Original: parsed(c.after), Local: parsed(c.before), Live: parsed(c.now)}
	policy, err := merge.PolicyNamed("live")
	if err != nil || t.Original == nil || t.Local == nil || t.Live == nil {
		return result
	}
	undone := map[string]bool{}
	for _, change := range changes {
		undone[change.Path.String()] = change.Op != merge.OpOrder
	}
	policy.Rules = []merge.Rule{{Match: func(p merge.Path) bool { return undone[p.String()] }, Choice: merge.TakeLocal}}
	config := merge.Three(t, r.typ, policy, false).Result
	text, err := object.Encode(config)
	if plandoc.Hashes(config) {
		r.leave(Left{r.target, recordedConfiguration, "has values that are hidden in the record: only a record of a run with --show-secrets has them", true})
		return result
	}
	if err != nil {
		return result
	}
	return annotated(result, string(text))
}

func annotated(obj map[string]any, text string) map[string]any {
	return merge.At[map[string]any](lastapplied.With(obj, text))
}
