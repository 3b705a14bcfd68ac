package yamldoc

import (
	"slices"
	"strings"
)

// parseValue reads what stands on this line behind a colon, or behind --- with parent
// -1: a scalar, an alias, a flow collection, or properties of something below.
func (p *parser) parseValue(parent int) (*node, error) {
	start := p.pos
	pr, err := p.properties()
	if err != nil {
		return nil, err
	}
	if pr != nil && p.atEnd() {
		return p.below(parent, start, pr, true)
	}
	if p.dash() {
		return nil, p.fail(p.pos, "a list cannot start on its key's line: begin it on the next one, or quote a text that begins with a dash")
	}
	n, err := p.inline(parent, start, pr)
	if err != nil {
		return nil, err
	}
	p.blanks()
	switch {
	case p.colon() && p.lineStart > start:
		return nil, p.fail(p.pos, "indented deeper than the line before, which has a value: begin both in the same column")
	case p.colon():
		problem := "a second \": \" on one line; take out the space behind it, or quote the value"
		if word, _, _ := strings.Cut(p.src[p.lineStart:], ": "); slices.Contains([]string{"note", "warning", "error"}, word) { // 2>&1
			problem += "; if it is a message of kubectl merge, redirect stdout alone"
		}
		return nil, p.fail(p.pos, "%s", problem)
	}
	return n, nil
}

// below reads a value from the following lines; start and pr are its properties,
// if it has any on the line before; dashes: a list may stand as far left as
// the parent. Where nothing belongs to it the value is missing.
func (p *parser) below(parent, start int, pr *prop, dashes bool) (*node, error) {
	behind := text(p.src).trimmed(start, p.pos)
	p.begin(pr)
	col, err := p.next()
	if err != nil {
		return nil, err
	}
	var n *node
	switch {
	case col > parent:
		n, err = p.content(parent, col)
	case dashes && col >= 0 && col == parent && p.dash():
		n, err = p.sequence(col)
	default:
		n = &node{start: start, body: behind, end: behind}
		if pr == nil {
			n.body, n.end = start, start
		}
	}
	if err != nil || pr == nil {
		return n, err
	}
	if n.prop != (prop{}) || n.kind == aliasNode {
		return nil, p.fail(start, "one value has properties twice")
	}
	return n, p.attach(n, start, pr)
}

// content reads a node that is the first thing on its line or behind a dash, at
// that column.
func (p *parser) content(parent, col int) (*node, error) {
	if p.depth++; p.depth > MaxDepth {
		return nil, p.fail(p.pos, "nested more than %d deep", MaxDepth)
	}
	defer func() { p.depth-- }()
	if p.dash() {
		return p.sequence(col)
	}
	if p.question() {
		return p.mapping(col, nil)
	}
	start := p.pos
	pr, err := p.properties()
	if err != nil {
		return nil, err
	}
	if pr != nil && p.atEnd() {
		return p.below(parent, start, pr, false)
	}
	if pr != nil && p.dash() {
		return nil, p.fail(p.pos, "a list cannot start behind an anchor or a tag on one line")
	}
	line := p.lineStart
	n, err := p.inline(parent, start, pr)
	if err != nil {
		return nil, err
	}
	end := p.pos
	p.blanks()
	if !p.colon() {
		p.pos = end
		return n, nil
	}
	if p.lineStart != line {
		return nil, p.fail(start, "%s", noKey(p.src[start:], start == line))
	}
	return p.mapping(col, n)
}

func (p *parser) dash() bool { return p.peek(0) == '-' && ends(p.peek(1)) }

func (p *parser) question() bool { return p.peek(0) == '?' && ends(p.peek(1)) }

func (p *parser) colon() bool { return p.peek(0) == ':' && ends(p.peek(1)) }

// mapping reads a block mapping at that column; its first key has been read, unless it
// stands behind a ?.
func (p *parser) mapping(col int, key *node) (*node, error) {
	start := p.pos
	if key != nil {
		start = key.start
	}
	e, err := p.opening(col, key)
	if err != nil {
		return nil, err
	}
	m := &node{kind: mapNode, style: blockStyle, start: start, body: start, indent: col}
	for {
		p.atItems(start, e.name)
		if err := p.fieldValue(col, &e); err != nil {
			return nil, err
		}
		m.add(e)
		next, err := p.next()
		if err != nil {
			return nil, err
		}
		if next < col || next == col && p.dash() {
			return m, nil
		}
		if next > col {
			return nil, p.fail(p.pos, "is indented by %d, where nothing above begins that it can belong to: indent it as the lines above it", next)
		}
		if e, err = p.opening(col, nil); err != nil {
			return nil, err
		}
	}
}

// opening reads a key, unless that has been done, and what stands between it and its
// value.
func (p *parser) opening(col int, key *node) (entry, error) {
	var err error
	if key == nil && p.question() {
		return p.askedKey(col)
	}
	if key == nil {
		if key, err = p.key(col); err != nil {
			return entry{}, err
		}
	}
	return p.keyed(key)
}

// askedKey reads a key that stands behind a ?, and the colon below it. Where there is
// no colon, e.value is marked as missing.
func (p *parser) askedKey(col int) (entry, error) {
	start := p.pos
	key, err := p.behind(col)
	if err != nil {
		return entry{}, err
	}
	e, err := p.named(key)
	if err != nil {
		return e, err
	}
	e.start, e.asked = start, true
	next, err := p.next()
	if err != nil {
		return e, err
	}
	if e.mark = key.end; next != col || !p.colon() {
		e.value = &node{start: e.mark, body: e.mark, end: e.mark}
		return e, nil
	}
	e.mark = p.pos + 1
	return e, nil
}

// fieldValue reads what stands behind a key.
func (p *parser) fieldValue(col int, e *entry) (err error) {
	if e.value != nil {
		return nil
	}
	if e.asked && p.colon() {
		p.indented()
	} else {
		p.blanks()
	}
	switch {
	case e.asked && p.peek(0) == '\t':
		return p.fail(p.pos, tabIndents)
	case p.atEnd():
		e.value, err = p.below(col, e.mark, nil, true)
	case e.asked:
		e.value, err = p.content(col, p.column())
	default:
		e.value, err = p.parseValue(col)
	}
	return err
}

// add takes an entry of a block collection in.
func (n *node) add(e entry) {
	if len(n.entries) > 0 {
		e.bound = n.end
	}
	n.entries = append(n.entries, e)
	n.refs = n.refs || e.refers()
	n.end = e.end()
}

func (p *parser) key(parent int) (*node, error) {
	start, line := p.pos, p.lineStart
	pr, err := p.properties()
	if err != nil {
		return nil, err
	}
	n, err := p.inline(parent, start, pr)
	if err != nil {
		return nil, err
	}
	p.blanks()
	if !p.colon() && p.text[1] > 0 && p.text[1] <= start && strings.TrimSpace(p.src[p.text[1]:start]) == "" {
		return nil, p.fail(start, "ends the text that begins in line %d, as it is indented less: indent it as that text, or write a key, a colon and a space", p.lineAt(p.text[0]))
	}
	if !p.colon() || p.lineStart != line {
		return nil, p.fail(start, "%s", noKey(p.src[start:], start == line))
	}
	return n, nil
}

// noKey returns the error of a text that is no entry of a mapping.
func noKey(text string, startsLine bool) string {
	if startsLine && isMarker(text) {
		return "a conflict marker, as git leaves them: settle the conflict first"
	}
	if line, _, _ := strings.Cut(text, "\n"); strings.Contains(line, ":") {
		return "expected a key, a colon and a space (a space has to follow the colon)"
	}
	return "expected a key, a colon and a space, as in name: web"
}

// keyed makes the entry for a key, and steps over its colon.
func (p *parser) keyed(key *node) (entry, error) {
	if key.style == literalStyle || key.style == foldedStyle {
		return entry{}, p.fail(key.start, "a key must be a plain or quoted scalar")
	}
	if p.pos-key.start > maxKey {
		return entry{}, p.fail(key.start, "a key may be %d bytes long", maxKey)
	}
	p.pos++
	e, err := p.named(key)
	e.mark = p.pos
	return e, err
}

// named makes the entry for a key.
func (p *parser) named(key *node) (entry, error) {
	is := key.follow()
	key.key = true
	if is.kind != scalarNode {
		return entry{}, p.fail(key.start, "a key must be a single value")
	}
	e := entry{start: key.start, alias: key != is}
	switch key.style {
	case singleStyle:
		e.quote = '\''
	case doubleStyle:
		e.quote = '"'
	}
	var err error
	e.name, e.merge, err = p.keyName(is)
	if is.style == plainStyle && e.name != is.text {
		p.doc.Reread = append(p.doc.Reread, p.fail(key.start, "the key %s is read as %s: quote it if it is a text", is.text, e.name))
	}
	if strings.HasPrefix(e.name, "\u00a0") && is.style == plainStyle {
		p.doc.Reread = append(p.doc.Reread, p.fail(key.start, "the key begins with a non-breaking space (U+00A0), which indents nothing: write spaces"))
	}
	return e, err
}

// sequence reads a block sequence at that column.
func (p *parser) sequence(col int) (*node, error) {
	s := &node{kind: seqNode, style: blockStyle, start: p.pos, body: p.pos, indent: col}
	apart := p.readsApart()
	for {
		e := entry{start: p.pos, mark: p.pos + 1}
		var err error
		if e.value, err = p.behind(col); err != nil {
			return nil, err
		}
		if apart {
			err = p.handOver(e.value)
		} else {
			s.add(e)
		}
		if err != nil {
			return nil, err
		}
		next, err := p.next()
		if err != nil {
			return nil, err
		}
		if next > col {
			return nil, p.fail(p.pos, "is indented by %d, where nothing above begins that it can belong to: indent it as the lines above it", next)
		}
		if next < col || !p.dash() {
			return s, nil
		}
	}
}

// indented steps over a dash, ? or colon and the spaces behind it, which indent what
// follows.
func (p *parser) indented() {
	for p.pos++; p.peek(0) == ' '; p.pos++ {
	}
}

// behind reads what belongs to a dash or a ? at that column.
func (p *parser) behind(col int) (*node, error) {
	mark := p.pos + 1
	p.indented()
	switch {
	case p.peek(0) == '\t':
		return nil, p.fail(p.pos, tabIndents)
	case !p.atEnd():
		return p.content(col, p.column())
	}
	next, err := p.next()
	if err != nil {
		return nil, err
	}
	if next <= col {
		return &node{start: mark, body: mark, end: mark}, nil
	}
	return p.content(col, next)
}
