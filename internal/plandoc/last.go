package plandoc

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Executed are the objects of a record of which something was, or may have been, written, each
// once, with all that was written of it. An entry about an outcome takes the place of the one
// that was made when the write was begun.
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
	var out []Item
	for _, writes := range all {
		if len(writes) > 0 {
			out = append(out, combined(writes))
		}
	}
	return out
}

// combined is what several writes of one object come to: values as they were before the
// first, and after the last.
func combined(writes []Item) Item {
	one := writes[0]
	for _, next := range writes[1:] {
		switch {
		case one.Action == Change && next.Action == Change && one.UID == next.UID:
			one = one.then(next)
		case one.Action == Create && next.Action == Change:
			one.Written, one.Outcome = Written{UID: next.UID}, Done
		default:
			one = next // of an object that has taken the other one's place
		}
	}
	return one
}

// then is a change followed by another one.
func (i Item) then(next Item) Item {
	changes := slices.Clone(i.Changes)
	for _, c := range next.Changes {
		n := slices.IndexFunc(changes, func(o ChangeOf) bool { return o.Path == c.Path && (o.Order == nil) == (c.Order == nil) })
		switch {
		case n < 0:
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

// Reveal is the value of a document for a value of the same place in the object as it is now:
// what is hidden is taken from there, if it is the same. It is false if a hidden value is
// another one, or is not there.
func (s Spelling) Reveal(id Identity, p merge.Path, v any, now merge.Opt) (any, bool) {
	return revealer{s, id}.reveal(fieldsOf(p), v, now)
}

type revealer struct {
	Spelling
	id Identity
}

func (r revealer) reveal(fields string, v any, now merge.Opt) (any, bool) {
	if IsHash(v) {
		return now.Value, now.Set && merge.Identical(r.Hash(r.id, fields, now.Value), v)
	}
	if !Hashes(v) {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		m, _ := now.Value.(map[string]any)
		out := make(map[string]any, len(v))
		for k, e := range v {
			var ok bool
			if out[k], ok = r.reveal(fields+"/"+k, e, lookup(m, k)); !ok {
				return nil, false
			}
		}
		return out, true
	case []any:
		l, _ := now.Value.([]any)
		out := make([]any, len(v))
		for i, e := range v {
			is := merge.Opt{}
			if i < len(l) {
				is = merge.Some(l[i])
			}
			var ok bool
			if out[i], ok = r.reveal(fields, e, is); !ok {
				return nil, false
			}
		}
		return out, true
	}
	return v, true
}
