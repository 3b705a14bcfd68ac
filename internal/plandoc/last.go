package plandoc

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Executed returns the objects of a record of which something was, or may have been, written, each
// once, with all its writes. An entry about an outcome replaces the one that was made when the
// write was begun.
func (d *Document) Executed() []Item {
	at := map[Identity]int{}
	var all [][]Item
	for _, item := range d.Items {
		n, known := at[item.Versionless()]
		if !known {
			n = len(all)
			at[item.Versionless()], all = n, append(all, nil)
		}
		if last := len(all[n]) - 1; last >= 0 && all[n][last].Outcome == Begun && item.Outcome != Begun {
			all[n] = all[n][:last]
		}
		if item.Outcome == Begun || item.Outcome == Done {
			all[n] = append(all[n], item)
		}
	}
	return object.Each(slices.DeleteFunc(all, func(writes []Item) bool { return len(writes) == 0 }), combined)
}

// combined returns the sum of several writes of one object: values as they were before the first,
// and after the last.
func combined(writes []Item) Item {
	one := writes[0]
	for _, next := range writes[1:] {
		switch {
		case one.Action == apply.Change && next.Action == apply.Change && one.UID == next.UID:
			one = one.then(next)
		case one.Action == apply.Create && next.Action == apply.Change:
			one.Written, one.Outcome = Written{UID: next.UID}, Done
		default:
			one = next // of an object that has replaced the other one
		}
	}
	return one
}

// then returns a change followed by another one.
func (i Item) then(next Item) Item {
	type place struct {
		path  string
		order bool
	}
	changes, at := slices.Clone(i.Changes), map[place]int{}
	for n, c := range slices.Backward(changes) {
		at[place{c.Path, c.Order != nil}] = n
	}
	for _, c := range next.Changes {
		n, known := at[place{c.Path, c.Order != nil}]
		switch {
		case !known:
			changes = append(changes, c)
		case c.Order != nil:
			changes[n].Order = &Order{changes[n].Order.Before, c.Order.After}
		default:
			changes[n].After = c.After
		}
	}
	before := i.LastApplied
	i.Changes, i.Outcome, i.Written = changes, next.Outcome, next.Written
	switch {
	case next.LastApplied != nil && before != nil:
		i.LastApplied = &Sides{before.Before, next.LastApplied.After}
	case next.LastApplied != nil:
		i.LastApplied = next.LastApplied
	}
	return i
}

// Reveal returns the actual value for a value of the document, given the current value at the same
// place: hidden parts are taken from there, if they are the same. It is false if a hidden value
// differs, or is missing, which stays hidden.
func (s Spelling) Reveal(id Identity, p merge.Path, v any, now merge.Opt) (any, bool) {
	out := hider{s, id}.reveal(fieldsOf(p), v, now)
	return out, !Hashes(out)
}

// reveal returns v with the parts of now in place of the hashes that are theirs.
func (h hider) reveal(fields string, v any, now merge.Opt) any {
	if IsHash(v) {
		if now.Set && merge.Identical(h.Hash(h.id, fields, now.Value), v) {
			return now.Value
		}
		return v
	}
	if !Hashes(v) {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		m := merge.At[map[string]any](now.Value)
		out := make(map[string]any, len(v))
		for k, e := range v {
			is, there := m[k]
			out[k] = h.reveal(fields+"/"+k, e, merge.Opt{Value: is, Set: there})
		}
		return out
	case []any:
		return h.revealList(fields, v, merge.At[[]any](now.Value))
	}
	return v
}

// revealList reveals the entries of a list, each from the entry of now that has its values. That entry
// may be at another place: first the one with the same shift as the entry before it, otherwise any.
func (h hider) revealList(fields string, v, now []any) []any {
	out := make([]any, len(v))
	shift := 0
	for i, e := range v {
		out[i] = e
		if !Hashes(e) {
			continue
		}
		for j := range now {
			at := (i + shift + j + len(now)) % len(now)
			if known := h.reveal(fields, e, merge.Some(now[at])); !Hashes(known) {
				out[i], shift = known, at-i
				break
			}
		}
	}
	return out
}
