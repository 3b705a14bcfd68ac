package yamldoc

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// list edits a list that has entries and keeps some.
func (ed *editor) list(s slot, want []any, t *merge.Type, from origins) {
	n := s.n
	old, _ := n.value.([]any)
	at := pairs(old, want, t)
	where := slices.Repeat([]int{-1}, len(old)) // the place in want of each old entry, -1 if it is removed
	kept, moved, stays := 0, false, longest(at)
	for i, j := range at {
		if j >= 0 {
			where[j] = i
			kept++
			moved = moved || !stays[i]
		}
	}
	if kept == 0 || n.style == flowStyle && moved {
		ed.rewrite(s, want, t, from)
		return
	}
	r := relist{want: want, at: at, where: where, stays: stays, sources: from.items(want, t), chunks: map[int]string{}}
	stay := ed.keptItems(s, t, r)
	ed.arrange(s, stay, ed.newItems(s, t, r))
}

// relist is how a list becomes another.
type relist struct {
	want    []any             // the new list
	at      []int             // the place in the old list of each entry of the new one, -1 if it has none
	where   []int             // the place in the new list of each old entry, -1 if it is removed
	stays   []bool            // the entries of the new list that are where they were
	chunks  map[int]string    // its entries that move, as they will read
	sources func(int) origins // where the sources have its entries
}

// keptItems edits the entries that are kept, and returns which stay in their place.
func (ed *editor) keptItems(s slot, t *merge.Type, r relist) []bool {
	n, pl := s.n, below(s)
	stay := make([]bool, len(n.entries))
	for j := range n.entries {
		i := r.where[j]
		if i < 0 {
			continue
		}
		e := &n.entries[j]
		before := len(ed.edits)
		below := r.sources(i)
		ed.editValue(slot{n: e.value, e: e, place: pl, anew: ed.force[n] == entries}, r.want[i], t.EntryType(), below)
		if stay[j] = r.stays[i]; stay[j] {
			if len(ed.edits) > before {
				ed.noteAround(e, below, pl)
			}
			continue
		}
		r.chunks[i] = ed.apply(ed.head(n, j), ed.src.end(e), ed.edits[before:])
		ed.edits = ed.edits[:before]
	}
	return stay
}

// newItems writes the entries that the list does not have, or has elsewhere.
func (ed *editor) newItems(s slot, t *merge.Type, r relist) []added {
	var out []added
	behind := -1
	for i, v := range r.want {
		if r.stays[i] {
			behind = r.at[i]
			continue
		}
		text, moved := r.chunks[i]
		if !moved {
			from := r.sources(i)
			text = ed.newEntry(s, fresh{value: v, typ: t.EntryType(), from: from, behind: behind, keys: keysOf(t)})
		}
		out = append(out, added{behind, text})
	}
	return out
}
