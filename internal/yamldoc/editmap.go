package yamldoc

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// wanted are the fields that a mapping is to have, and those of them that come through <<.
type wanted struct{ fields, inherited map[string]any }

// mapping edits a mapping that has entries and keeps some.
func (ed *editor) mapping(s slot, want map[string]any, t *merge.Type, from origins) {
	n := s.n
	inherited, ok := map[string]any(nil), true
	if n.refs {
		inherited, ok = ed.inherited(n, want)
	}
	if !ok || ed.countOwn(n, want)+len(inherited) == 0 {
		ed.rewrite(s, want, t, from)
		return
	}
	stay := ed.keptFields(s, want, t, from)
	ed.arrange(s, stay, ed.newFields(s, wanted{want, inherited}, t, from))
}

// keptFields edits the fields that are kept, and returns which they are.
func (ed *editor) keptFields(s slot, want map[string]any, t *merge.Type, from origins) []bool {
	n, pl := s.n, below(s)
	stay := make([]bool, len(n.entries))
	for i := range n.entries {
		e := &n.entries[i]
		v, ok := want[e.name]
		if stay[i] = ok || e.merge; !stay[i] {
			continue
		}
		if e.merge {
			ed.remember(e.value)
			continue
		}
		before := len(ed.edits)
		below := from.child(e.name)
		ed.editValue(slot{n: e.value, e: e, place: pl, anew: ed.force[n] == entries}, v, t.Field(e.name).Type, below)
		if len(ed.edits) > before {
			ed.noteAround(e, below, pl)
		}
	}
	return stay
}

// below is the place of a collection's entries.
func below(s slot) place {
	n := s.n
	return place{
		col: n.indent, list: n.kind == seqNode, flow: n.style == flowStyle,
		json: s.place.json || isJSON(n),
	}
}

// added is a new entry, and the old entry that it is put behind; -1 is the
// front.
type added struct {
	behind int
	text   string
}

// newFields writes the fields that the mapping neither has yet nor inherits.
func (ed *editor) newFields(s slot, want wanted, t *merge.Type, from origins) []added {
	n := s.n
	if len(want.fields) == ed.countOwn(n, want.fields)+len(want.inherited) {
		return nil
	}
	index, last := make(map[string]int, len(n.entries)), -1
	for i := range n.entries {
		e := &n.entries[i]
		if !e.merge {
			index[e.name] = i
		}
		if _, ok := want.fields[e.name]; ok || e.merge {
			last = i
		}
	}
	var out []added
	behind := -1
	for _, name := range orderOf(want.fields, append(origins{{s: ed.src, n: n}}, from...), nil) {
		if i, ok := index[name]; ok {
			behind = i
			continue
		}
		if _, ok := want.inherited[name]; ok {
			continue
		}
		at := behind
		if n.refs && slices.ContainsFunc(n.entries[behind+1:], func(e entry) bool { return e.merge }) {
			at = last // a key before << would be overwritten by it
		}
		if was, inherits := n.value.(map[string]any)[name]; inherits && exact(was, want.fields[name]) {
			ed.unshare(n) // it came through <<
		}
		e := part{name, want.fields[name], model{from.child(name), t.Field(name).Type}}
		out = append(out, added{at, ed.newEntry(s, e, at, nil)})
	}
	return out
}

func (ed *editor) countOwn(n *node, want map[string]any) int {
	own := 0
	for i := range n.entries {
		if _, ok := want[n.entries[i].name]; ok && !n.entries[i].merge {
			own++
		}
	}
	return own
}

// newEntry writes one new field, or entry of a list, which has keys then, with the comments above it in the source. behind
// is the old one that it is put behind.
func (ed *editor) newEntry(s slot, e part, behind int, keys []merge.Key) string {
	pl := below(s)
	pl.keys = keys
	if pl.list {
		pl.style = s.n.entries[max(behind, 0)].value.style
	}
	if pl.style >= literalStyle {
		pl.style = plainStyle
	}
	if pl.quote = s.n.entries[0].quote; pl.flow {
		return e.flowEntry(pl, ed.look)
	}
	p := printer{look: ed.look}
	if behind >= 0 {
		p.look = ed.lookAt(&s.n.entries[behind])
	}
	p.lead(e.from.first(), 0, pl.col)
	if p.Len() > 0 {
		p.line(pl.col)
	}
	p.entry(e, pl)
	return strings.TrimLeft(p.String(), " \r\n")
}

// inherited are the fields that come through << and will be as they are wanted. ok
// is false where << has to be written out: it would bring in or overwrite
// something that is not wanted.
func (ed *editor) inherited(n *node, want map[string]any) (fields map[string]any, ok bool) {
	fields = map[string]any{}
	explicit := map[string]bool{}
	for i := range n.entries {
		e := &n.entries[i]
		if !e.merge {
			explicit[e.name] = true
			delete(fields, e.name)
			continue
		}
		for k, v := range ed.merged(e.value) {
			if explicit[k] {
				return nil, false
			}
			fields[k] = v
		}
		if !ed.intact(e.value) {
			return nil, false
		}
	}
	for k, v := range fields {
		w, ok := want[k]
		if !ok {
			return nil, false
		}
		if !exact(v, w) {
			delete(fields, k) // a field of its own follows
		}
	}
	return fields, true
}

// merged returns the entries that << brings in from a value.
func (ed *editor) merged(n *node) map[string]any {
	target := n.follow()
	if n.kind == seqNode {
		out := map[string]any{}
		for i := len(n.entries) - 1; i >= 0; i-- {
			maps.Copy(out, ed.merged(n.entries[i].value))
		}
		return out
	}
	v := target.value
	if held, ok := ed.holds[target]; ok {
		v = held
	}
	m, _ := v.(map[string]any)
	return m
}

// intact: what a << refers to is still there and still a mapping.
func (ed *editor) intact(n *node) bool {
	if n.kind == seqNode {
		return !slices.ContainsFunc(n.entries, func(e entry) bool { return !ed.intact(e.value) })
	}
	if n.kind != aliasNode {
		return true
	}
	held, ok := ed.holds[n.target]
	_, isMap := held.(map[string]any)
	return ok && isMap
}

// remember notes what the anchors inside a value that stays will hold.
func (ed *editor) remember(n *node) {
	if n.anchor != "" {
		ed.holds[n] = n.value
	}
	for i := range n.entries {
		ed.remember(n.entries[i].value)
	}
}
