package yamldoc

import "strings"

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
	if !p.colon() && p.text[1] > 0 && strings.TrimSpace(p.src[p.text[1]:start]) == "" {
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
	s := p.new(node{kind: seqNode, style: blockStyle, start: p.pos, body: p.pos, indent: col})
	bottom := len(p.stack)
	for {
		e := entry{start: p.pos, mark: p.pos + 1}
		var err error
		if e.value, err = p.behind(col); err != nil {
			return nil, err
		}
		p.add(s, e, bottom)
		next, err := p.next()
		if err != nil {
			return nil, err
		}
		if next > col {
			return nil, p.fail(p.pos, "is indented by %d, where nothing above begins that it can belong to: indent it as the lines above it", next)
		}
		if next < col || !p.dash() {
			p.take(s, bottom)
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
		return p.new(node{start: mark, body: mark, end: mark}), nil
	}
	return p.content(col, next)
}
