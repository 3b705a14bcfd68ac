package yamldoc

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// look is how a document is laid out.
type look struct {
	eol  string
	step int // a mapping below a mapping is indented by so much
	list int // and a list below a mapping by so much, 0 or step

	// careful: nothing whose meaning hangs on what stands below it, which is a
	// literal that keeps its empty lines.
	careful bool

	kubectl bool // as kubectl -o yaml prints; see Encode
}

// look takes the layout from the first places that show it. From other
// documents, where this one shows none, it takes the rest.
func (d *Document) look(others []*Document) look {
	l := look{eol: d.file.EOL(), step: -1, list: -1}
	for _, shows := range append([]*Document{d}, others...) {
		if shows != nil && shows.root != nil {
			l.learn(shows.root)
		}
	}
	if l.step < 0 {
		l.step = 2
	}
	l.list = max(l.list, 0)
	return l
}

func (l *look) learn(n *node) {
	if !n.block() {
		return
	}
	for i := range n.entries {
		v := n.entries[i].value
		if l.step >= 0 && l.list >= 0 {
			return
		}
		if n.kind == mapNode && v.block() {
			if v.kind == mapNode && l.step < 0 {
				l.step = v.indent - n.indent
			}
			if v.kind == seqNode && l.list < 0 {
				l.list = v.indent - n.indent
			}
		}
		l.learn(v)
	}
}

// origin is a node somewhere whose order, spelling and comments a value takes
// over.
type origin struct {
	s text
	n *node
	e *entry // that it stands in, nil for a root

	in *node // the collection that has the entry
}

// origins come in the order of their authority.
type origins []origin

// first is the one that counts, nothing where there is none.
func (o origins) first() origin {
	if len(o) == 0 {
		return origin{}
	}
	return o[0]
}

// model is the example that a value is written after: its origins, and its type.
type model struct {
	from origins
	t    *merge.Type
}

// child are the origins of a field.
func (o origins) child(name string) (below origins) {
	for _, from := range o {
		in := from.n.follow()
		if e := in.child(name); e != nil {
			below = append(below, origin{from.s, e.value, e, in})
		}
	}
	return below
}

// node is the first origin of that kind that has entries, nil if there is none.
func (o origins) node(k kind) *node {
	for _, from := range o {
		if n := from.n.follow(); n != nil && n.kind == k && len(n.entries) > 0 {
			return n
		}
	}
	return nil
}

// printer writes values as new text.
type printer struct {
	strings.Builder
	look look
}

// line starts a new line with that indentation.
func (p *printer) line(col int) {
	p.WriteString(p.look.eol)
	p.WriteString(strings.Repeat(" ", col))
}

// printValue writes what stands behind a colon or a dash at column col, the white space
// in between included; note is the comment on its line.
func (p *printer) printValue(v any, m model, pl place) {
	if !pl.flow && isBlock(v, m.from) {
		p.block(v, m, pl)
	} else {
		p.note(" "+m.inline(v, pl, p.look), pl.note)
	}
}

// place is where a value is written.
type place struct {
	col   int    // column of the collection it is in; -1 for the root
	list  bool   // that is a list
	flow  bool   // inside [ ] or { }
	json  bool   // and all keys and texts have double quotes
	note  string // the comment that its line gets
	style style  // how its neighbours are written
	quote byte   // how its neighbours' keys are quoted
	deep  int    // the column of a block scalar's lines, 0 if that is free

	keys []merge.Key // of the list that it is an entry of
}

// note writes a text that may go over lines, with the comment behind the first.
func (p *printer) note(text, note string) {
	if note == "" {
		p.WriteString(text)
		return
	}
	first, rest := text, ""
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		i = len(strings.TrimRight(text[:i], "\r"))
		first, rest = text[:i], text[i:]
	}
	p.WriteString(first)
	p.WriteByte(' ')
	p.WriteString(note)
	p.WriteString(rest)
}

// start begins entry i of a block collection below pl: on the same line where
// YAML allows it, else on a line of its own, below what stands above it in its origin.
func (p *printer) start(at origin, i, col int, pl place) {
	if i > 0 || !pl.list && pl.col >= 0 {
		p.lead(at, i, col)
	}
	switch {
	case i > 0 || pl.col >= 0 && !pl.list || pl.col >= 0 && pl.note != "":
		p.line(col)
	case pl.col >= 0:
		p.WriteString(strings.Repeat(" ", col-pl.col-1))
	}
}

// below returns the column of a block collection in that place; step is how far one is indented.
func (pl place) below(step int) int {
	switch {
	case pl.col < 0:
		return 0
	case pl.list:
		return pl.col + len("- ")
	}
	return pl.col + step
}

// part is an entry of a collection that is written.
type part struct {
	name  string // of a field
	value any
	model
}

// parts are the entries of a collection in their order; keys are those of the list that it is an entry of.
func (m model) parts(v any, keys []merge.Key, l look) (all []part) {
	switch v := v.(type) {
	case map[string]any:
		names := orderOf(v, m.from, keys)
		if l.kubectl {
			slices.SortFunc(names, compareKeys)
		}
		for _, name := range names {
			all = append(all, part{name, v[name], model{m.from.child(name), m.t.Field(name).Type}})
		}
	case []any:
		pairs := m.from.items(v, m.t)
		for i, e := range v {
			all = append(all, part{"", e, model{pairs(i), m.t.EntryType()}})
		}
	}
	return all
}

// block writes a collection over several lines.
func (p *printer) block(v any, m model, pl place) {
	in := place{col: pl.below(p.look.step)}
	if _, in.list = v.([]any); in.list {
		in.col, in.keys = pl.below(p.look.list), keysOf(m.t)
	} else if n := m.from.node(mapNode); n != nil {
		in.quote = n.entries[0].quote
	}
	p.note("", pl.note)
	for i, e := range m.parts(v, pl.keys, p.look) {
		p.start(e.from.first(), i, in.col, pl)
		p.entry(e, in)
		if in.list && len(e.from) > 0 {
			in.style = e.from[0].n.style
		}
	}
}

// entry writes one entry of a mapping from its key on, or of a list from its dash on.
func (p *printer) entry(e part, pl place) {
	at := e.from.first()
	if at.e != nil {
		pl.note = at.s.note(at.e)
	}
	if pl.list {
		p.WriteByte('-')
	} else {
		p.key(e.name, at, &pl)
	}
	pl.quote = 0
	p.printValue(e.value, e.model, pl)
}

// key writes the key of an entry, and its colon. Behind that of a long one kubectl begins a collection as behind a dash.
func (p *printer) key(name string, at origin, pl *place) {
	spelt := key(name, pl.quote, false)
	if p.look.kubectl {
		spelt, pl.list = pl.encodedText(name, p.look, true), len(name) > longKey
	}
	if at.e != nil && !at.e.asked && !at.e.alias && (at.e.quote == 0 || !at.s.json()) {
		spelt = string(at.s[keyStart(at.s, at.e):at.s.trimmed(at.e.start, at.e.mark-1)]) // without white space and colon
	}
	if pl.list || len(spelt) > maxKey {
		p.WriteString("? " + spelt)
		p.line(pl.col)
	} else {
		p.WriteString(spelt)
	}
	p.WriteByte(':')
}

// keyStart steps over the anchor or tag of a key.
func keyStart(s text, e *entry) int {
	at := e.start
	for at < e.mark && (s[at] == '&' || s[at] == '!') {
		for !ends(s[at]) {
			at++
		}
		for isBlank(s[at]) {
			at++
		}
	}
	return at
}

// lead writes the comment lines, and at most one empty line, that stand above an
// entry in its origin.
func (p *printer) lead(at origin, i, col int) {
	if at.e == nil || !at.in.block() {
		return
	}
	head := at.s.head(at.e)
	if i > 0 && at.s.emptyAbove(head) {
		p.WriteString(p.look.eol)
	}
	for _, line := range strings.Split(string(at.s[head:at.e.start]), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			p.line(col)
			p.WriteString(line)
		}
	}
}

func keysOf(t *merge.Type) []merge.Key {
	if t == nil {
		return nil
	}
	return t.Keys
}
