package absorb

import (
	"encoding/base64"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// with returns an object of a file with some values of live. It does not modify obj. The error names
// the field.
func (o *Object) with(obj map[string]any, some []*Value) (out map[string]any, err error) {
	paths := object.Each(some, func(v *Value) merge.Path { return o.at(obj, v) })
	for _, edited := range []bool{true, false} { // of entries with another key first: they are found by their places
		for i, v := range some {
			if (v.Stated != nil) != edited {
				continue
			}
			if p, live := spelled(obj, paths[i], v.live); v.Order != nil {
				obj, err = replay(obj, merge.Change{Op: merge.OpOrder, Path: p, NewOrder: v.Order})
			} else {
				obj, err = o.set(obj, p, live)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.Path, err)
			}
		}
	}
	return obj, nil
}

// at returns the path of a value in obj: with the place of an entry that has another key in live.
func (o *Object) at(obj map[string]any, v *Value) merge.Path {
	p := slices.Clone(v.Path)
	for n, step := range v.Stated {
		list, _ := merge.Lookup(obj, p[:n], o.typ)
		if i := merge.EntriesOf(merge.At[[]any](list), o.typ.At(p[:n])).At(step); i >= 0 && step.String() != p[n].String() {
			p[n] = merge.Step{Kind: merge.IndexStep, Index: i}
		}
	}
	return p
}

// set returns obj with a value of live, or without it.
func (o *Object) set(obj map[string]any, p merge.Path, live merge.Opt) (map[string]any, error) {
	if live.Set {
		return o.put(obj, p, live.Value)
	}
	return o.remove(obj, p)
}

func replay(obj map[string]any, c merge.Change) (map[string]any, error) {
	out, err := merge.Replay(obj, []merge.Change{c})
	obj, _ = out.(map[string]any)
	return obj, err
}

// remove returns obj without a value, and what is empty then where live has nothing either, or what the server
// fills in.
func (o *Object) remove(obj map[string]any, p merge.Path) (map[string]any, error) {
	obj, err := replay(obj, merge.Change{Op: merge.OpRemove, Path: p})
	if p = p[:len(p)-1]; err != nil || len(p) == 0 || p[len(p)-1].Kind != merge.FieldStep {
		return obj, err
	}
	left, _ := merge.Lookup(obj, p, o.typ)
	fields, _ := left.(map[string]any)
	live := merge.NewFinder(o.live, o.typ)
	if is, _ := live.Lookup(p); is != nil && !live.Refilled(p) || len(fields)+len(merge.At[[]any](left)) > 0 {
		return obj, nil
	}
	return o.remove(obj, p)
}

// put returns obj with a value of live. A new entry of a list stands behind the one that precedes it
// in live, otherwise before the one that follows.
func (o *Object) put(obj map[string]any, p merge.Path, value any) (map[string]any, error) {
	_, had := merge.Lookup(obj, p, o.typ)
	obj, err := merge.Put(obj, p, value)
	last, list := p[len(p)-1], p[:len(p)-1]
	if err != nil || had || last.Kind == merge.FieldStep {
		return obj, err
	}
	now, _ := merge.Lookup(obj, list, o.typ)
	is, _ := merge.Lookup(o.live, list, o.typ)
	entries, _ := now.([]any)
	typ, end := o.typ.At(list), len(entries)-1
	live := merge.EntriesOf(merge.At[[]any](is), typ)
	to, near, n := end, -1, live.At(last)
	for i, e := range entries[:end] {
		if at := live.At(merge.StepOf(typ, e, 0)); near < at && at < n {
			to, near = i+1, at
		} else if at > n && near < 0 {
			to = min(to, i)
		}
	}
	return merge.Put(obj, list, slices.Insert(slices.Clone(entries[:end]), to, entries[end]))
}

// spelled returns a value of a Secret where the file states it: as text in stringData, or in data.
func spelled(obj map[string]any, p merge.Path, live merge.Opt) (merge.Path, merge.Opt) {
	at := lastapplied.StatedAt(obj, p)
	plain, err := base64.StdEncoding.DecodeString(merge.At[string](live.Value))
	if p[0].Name != "data" || at[0].Name == "data" || err != nil || !utf8.Valid(plain) {
		return p, live
	}
	return at, merge.Opt{Value: string(plain), Set: live.Set}
}
