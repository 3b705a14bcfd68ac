package laws

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

// Engine merges a triple under the policy of that name.
type Engine func(t merge.Triple, policy string) (merge.Plan, error)

// Three is the merge itself, for a type.
func Three(typ *merge.Type) Engine {
	return func(t merge.Triple, name string) (merge.Plan, error) {
		p, err := merge.PolicyNamed(name)
		if err != nil {
			return merge.Plan{}, err
		}
		return merge.Three(t, typ, p, false), nil
	}
}

// Hold merges a triple under apply and lists every law that the outcome breaks.
// An error of the engine is one breach.
func Hold(do Engine, t merge.Triple, typ *merge.Type) (merge.Plan, []Breach) {
	before := sides(t)
	plan, err := do(t, "apply")
	if err != nil {
		return plan, failed(Wanted, err)
	}
	found := Merge{t, typ, plan.Result}.Breaches()
	found = append(found, Silence(t, plan, typ)...)
	found = append(found, Soundness(t.Live, plan)...)
	found = append(found, settles(do, t, plan)...)
	found = append(found, rests(do, t)...)
	found = append(found, repeats(do, t, plan)...)
	if sides(t) != before {
		found = append(found, Breach{Law: Gentle, What: "the sides have changed"})
	}
	return plan, found
}

func failed(law Law, err error) []Breach { return []Breach{{Law: law, What: err.Error()}} }

// sides spells a triple, to see whether it has changed.
func sides(t merge.Triple) string {
	return text(merge.Opt{Value: []any{t.Original, t.Local, t.Live}, Set: true})
}

// settles: what was merged is merged again, with what was local as original.
func settles(do Engine, t merge.Triple, p merge.Plan) []Breach {
	if t.Local == nil {
		return nil
	}
	next := t
	next.Original, next.Live, next.Blanked = t.Local, p.Result, false
	again, err := do(next, "apply")
	if err != nil {
		return failed(Settled, err)
	}
	return unchanged(Settled, again, "a second time")
}

// rests: under merge3, a local that equals original leaves live alone. With
// managedFields the owners decide whether live has moved, and they were recorded for
// another original.
func rests(do Engine, t merge.Triple) []Breach {
	if t.Local == nil || hasNull(t.Local) || hasNull(t.Live) || t.Owners != nil || managed(t.Live) {
		return nil
	}
	t.Original, t.Blanked = t.Local, false
	p, err := do(t, "merge3")
	if err != nil {
		return failed(Wanted, err)
	}
	return unchanged(Wanted, p, "under merge3, local being original,")
}

func unchanged(law Law, p merge.Plan, when string) []Breach {
	var found []Breach
	for _, c := range p.Changes {
		found = append(found, Breach{law, c.Path, fmt.Sprintf("%s changes %s to %s", when, text(c.Old), text(c.New))})
	}
	return found
}

func repeats(do Engine, t merge.Triple, p merge.Plan) []Breach {
	again, err := do(t, "apply")
	if err != nil {
		return failed(Same, err)
	}
	if spelled(again) != spelled(p) {
		return []Breach{{Law: Same, What: "once " + spelled(p) + "\nthen " + spelled(again)}}
	}
	return nil
}

// spelled is all that a plan says, in the order it says it.
func spelled(p merge.Plan) string {
	b, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Soundness lists where replaying a plan's changes on live does not give its
// result, forwards or backwards, or where a patch does not.
func Soundness(live any, p merge.Plan) []Breach {
	result := merge.Opt{Value: p.Result, Set: true}
	var found []Breach
	check := func(how string, got any, err error, want merge.Opt) {
		if err != nil {
			found = append(found, Breach{Law: Sound, What: how + ": " + err.Error()})
		} else if !identicalValues(got, want.Value) {
			found = append(found, Breach{Law: Sound, What: how + " gives " + text(merge.Opt{Value: got, Set: true}) + " and not " + text(want)})
		}
	}
	forth, err := merge.Replay(live, p.Changes)
	check("replaying the changes", forth, err, result)
	back, err := merge.Replay(p.Result, merge.Reverse(p.Changes))
	check("replaying them backwards", back, err, merge.Opt{Value: live, Set: true})
	if _, isMap := live.(map[string]any); !isMap {
		return found
	}
	if m, expressible := patch.Merge(live, p.Result); expressible {
		got := live
		if m != nil {
			got = patch.ApplyMerge(live, m)
		}
		check("the merge patch", got, nil, result)
	}
	for _, bound := range []bool{false, true} {
		got, err := values.ApplyJSON(live, patch.JSON(live, p.Result, bound))
		check("the JSON patch", got, err, result)
	}
	return found
}

// Silence lists what a plan removes from live, or overwrites though original had
// another value, without telling.
func Silence(t merge.Triple, p merge.Plan, typ *merge.Type) []Breach {
	t = withTwins(t, typ)
	reported := map[string]bool{}
	say := func(path merge.Path) {
		for i := range path {
			reported[path[:i+1].String()] = true // a part is reported: so is that there was one
		}
	}
	for _, d := range p.Settled {
		say(d.Path)
	}
	for _, d := range p.Conflicts {
		say(d.Path)
	}
	for _, r := range p.Removed {
		say(r.Path)
	}
	var found []Breach
	for _, c := range p.Changes {
		switch {
		case c.Op == merge.OpRemove && c.Old.Value != nil && !empty(c.Old.Value):
		case c.Op == merge.OpSet && c.Old.Set && overwrites(t, c, typ):
		default:
			continue
		}
		if !toldAbove(reported, p, c.Path) && !(Merge{t, typ, p.Result}).comesBack(c.Path) {
			found = append(found, Breach{Told, c.Path, "goes silently: " + text(c.Old)})
		}
	}
	return found
}

// toldAbove: the path, a part of it, or something that it is a part of, is reported.
func toldAbove(reported map[string]bool, p merge.Plan, path merge.Path) bool {
	if reported[path.String()] {
		return true
	}
	for _, r := range p.Removed {
		if len(r.Path) < len(path) && path[:len(r.Path)].String() == r.Path.String() {
			return true
		}
	}
	for _, d := range p.Settled {
		if len(d.Path) < len(path) && path[:len(d.Path)].String() == d.Path.String() {
			return true
		}
	}
	return false
}

// overwrites: without managedFields the values decide: live is neither what
// original was nor what local wants.
func overwrites(t merge.Triple, c merge.Change, typ *merge.Type) bool {
	if t.Owners != nil || managed(t.Live) || t.Blanked || repeated(c.New.Value) {
		return false
	}
	switch c.Old.Value.(type) {
	case map[string]any, []any:
		return false // reported part by part, if at all
	case nil:
		return false
	}
	was, ok := merge.Lookup(t.Original, c.Path, typ)
	f, _ := schema.FieldAt(typ, c.Path)
	return !same(merge.Opt{Value: was, Set: ok}, c.Old, f) && !same(c.New, c.Old, f)
}

// repeated: a list that is reported as a whole, since its entries share identities.
func repeated(v any) bool { _, isList := v.([]any); return isList }

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if e != nil {
				return false // a map of nothing but nulls has nothing in it
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}

func managed(live any) bool {
	o, _ := live.(map[string]any)
	meta, _ := o["metadata"].(map[string]any)
	return meta["managedFields"] != nil
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, e := range v {
			if e == nil || hasNull(e) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if e == nil || hasNull(e) {
				return true
			}
		}
	}
	return false
}
