package yamldoc

import "strings"

// document reads one document, and whether another one follows it.
func (p *parser) document() (*Document, bool, error) {
	d := &Document{sep: p.pos, from: p.pos}
	p.anchors, p.open, p.refs = map[string]*node{}, map[string]bool{}, false
	started, err := p.prologue(d)
	if err != nil {
		return nil, false, err
	}
	if started && p.pos != p.lineStart && !p.atEnd() {
		d.root, err = p.value(-1)
	} else {
		d.root, err = p.rootBelow()
	}
	if err != nil {
		return nil, false, err
	}
	col, err := p.next()
	if err != nil {
		return nil, false, err
	}
	if col >= 0 {
		return nil, false, p.fail(p.pos, "a new document needs a --- line, and an entry the indentation of its neighbours")
	}
	more, err := p.epilogue(d)
	if err != nil {
		return nil, false, err
	}
	d.refs = p.refs
	if d.root != nil {
		d.value, err = p.valueOf(d.root)
	}
	return d, more, err
}

// prologue steps over directives and the --- line; started says that there was
// one.
func (p *parser) prologue(d *Document) (started bool, err error) {
	col, err := p.next()
	if err != nil {
		return false, err
	}
	directives := false
	for col == 0 && p.peek(0) == '%' {
		if !strings.HasPrefix(p.src[p.pos:], "%YAML 1.1") {
			return false, p.fail(p.pos, "directives other than %%YAML 1.1 are not read")
		}
		if p.pos += len("%YAML 1.1"); !ends(p.peek(0)) {
			return false, p.fail(p.pos, "directives other than %%YAML 1.1 are not read")
		}
		directives = true
		if col, err = p.next(); err != nil {
			return false, err
		}
	}
	if !p.marker() || p.peek(0) != '-' {
		if directives {
			return false, p.fail(p.pos, "a --- line must follow the %%YAML directive")
		}
		if p.marker() {
			return false, p.fail(p.pos, "... ends a document where there is none")
		}
		return false, nil
	}
	p.pos += len("---")
	p.blanks()
	d.from = p.pos
	if isBreak(p.peek(0)) {
		p.newline()
		d.from = p.pos
	} else if p.peek(0) == '#' {
		p.comment()
		if isBreak(p.peek(0)) {
			p.newline()
		}
		d.from = p.pos
	}
	return true, nil
}

// rootBelow reads the document's value from the line that it starts on.
func (p *parser) rootBelow() (*node, error) {
	col, err := p.next()
	if err != nil || col < 0 {
		return nil, err
	}
	p.json = p.peek(0) == '{'
	return p.content(-1, col)
}

// epilogue ends the document before the next --- line or behind a ... line.
func (p *parser) epilogue(d *Document) (more bool, err error) {
	d.to = p.pos
	if p.pos >= len(p.src) {
		return false, nil
	}
	for p.marker() && p.peek(0) == '.' {
		p.pos += len("...")
		col, err := p.next()
		if err != nil {
			return false, err
		}
		d.to = p.pos
		if col >= 0 {
			d.to = p.lineStart
			p.pos, p.nextPos = p.lineStart, -1
			return true, nil
		}
	}
	return p.pos < len(p.src), nil
}

// value reads what stands on this line behind a colon, or behind --- with parent
// -1: a scalar, an alias, a flow collection, or properties of something below.
func (p *parser) value(parent int) (*node, error) {
	start := p.pos
	pr, err := p.properties()
	if err != nil {
		return nil, err
	}
	if pr != nil && p.atEnd() {
		return p.below(parent, start, pr, true)
	}
	if p.dash() {
		return nil, p.fail(p.pos, "a list cannot start on its key's line")
	}
	n, err := p.inline(parent, start, pr)
	if err != nil {
		return nil, err
	}
	p.blanks()
	if p.colon() {
		return nil, p.fail(p.pos, "a second \": \" on one line; quote the value")
	}
	return n, nil
}

// below reads a value from the following lines; start and pr are its properties,
// if it has any on the line before; dashes says that a list may stand as far left as
// the parent. Where nothing belongs to it the value is missing.
func (p *parser) below(parent, start int, pr *prop, dashes bool) (*node, error) {
	behind := p.pos
	for behind > start && isBlank(p.src[behind-1]) {
		behind--
	}
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
		n = p.new(node{start: start, body: behind, end: behind})
		if pr == nil {
			n.body, n.end = start, start
		}
	}
	if err != nil || pr == nil {
		return n, err
	}
	if n.props != nil || n.kind == aliasNode {
		return nil, p.fail(start, "one value has properties twice")
	}
	n.props = pr
	n.start = start
	p.name(n)
	return n, nil
}

// content reads a node that is the first thing on its line or behind a dash, at
// that column.
func (p *parser) content(parent, col int) (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.pos, "nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	if p.dash() {
		return p.sequence(col)
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
		return nil, p.fail(start, "a key must stand on one line")
	}
	return p.mapping(col, n)
}

func (p *parser) dash() bool { return p.peek(0) == '-' && ends(p.peek(1)) }

func (p *parser) colon() bool { return p.peek(0) == ':' && ends(p.peek(1)) }

// mapping reads a block mapping at that column; its first key has been read.
func (p *parser) mapping(col int, key *node) (*node, error) {
	start, bottom := key.start, len(p.stack)
	e, err := p.keyed(key)
	if err != nil {
		return nil, err
	}
	p.free(key)
	m := p.new(node{kind: mapNode, style: blockStyle, start: start, body: start, indent: col})
	for {
		p.blanks()
		if p.atEnd() {
			e.value, err = p.below(col, e.mark, nil, true)
		} else {
			e.value, err = p.value(col)
		}
		if err != nil {
			return nil, err
		}
		p.add(m, e, bottom)
		next, err := p.next()
		if err != nil {
			return nil, err
		}
		if next < col || next == col && p.dash() {
			p.take(m, bottom)
			return m, nil
		}
		if next > col {
			return nil, p.fail(p.pos, "indented deeper than its neighbours")
		}
		if e, err = p.further(col); err != nil {
			return nil, err
		}
	}
}

// add takes an entry in; bottom is where the collection's entries start on the
// stack.
func (p *parser) add(n *node, e entry, bottom int) {
	if len(p.stack) > bottom {
		e.bound = n.end
	}
	p.stack = append(p.stack, e)
	n.refs = n.refs || e.merge || e.value.refs
	n.end = e.end()
}

// take gives a collection its entries.
func (p *parser) take(n *node, bottom int) {
	n.entries = append([]entry(nil), p.stack[bottom:]...)
	clear(p.stack[bottom:])
	p.stack = p.stack[:bottom]
}

// further reads the key and colon of a further entry.
func (p *parser) further(col int) (entry, error) {
	key, err := p.key(col)
	if err != nil {
		return entry{}, err
	}
	e, err := p.keyed(key)
	p.free(key)
	return e, err
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
	if !p.colon() || p.lineStart != line {
		return nil, p.fail(start, "expected a key and a colon")
	}
	return n, nil
}

// keyed makes the entry for a key, and steps over its colon.
func (p *parser) keyed(key *node) (entry, error) {
	if key.kind != scalarNode || key.style == literalStyle || key.style == foldedStyle {
		return entry{}, p.fail(key.start, "a key must be a plain or quoted scalar")
	}
	if p.pos-key.start > maxKey {
		return entry{}, p.fail(key.start, "a key may be %d bytes long", maxKey)
	}
	p.pos++
	e := entry{start: key.start, mark: p.pos}
	switch key.style {
	case singleStyle:
		e.quote = '\''
	case doubleStyle:
		e.quote = '"'
	}
	var err error
	e.name, e.merge, err = p.keyName(key)
	p.refs = p.refs || e.merge
	return e, err
}

// sequence reads a block sequence at that column.
func (p *parser) sequence(col int) (*node, error) {
	s := p.new(node{kind: seqNode, style: blockStyle, start: p.pos, body: p.pos, indent: col})
	bottom := len(p.stack)
	for {
		e := entry{start: p.pos, mark: p.pos + 1}
		p.pos++
		for p.peek(0) == ' ' {
			p.pos++
		}
		var err error
		switch {
		case p.peek(0) == '\t':
			return nil, p.fail(p.pos, "a tab where only spaces may indent")
		case p.atEnd():
			e.value, err = p.item(col, e.mark)
		default:
			e.value, err = p.content(col, p.column())
		}
		if err != nil {
			return nil, err
		}
		p.add(s, e, bottom)
		next, err := p.next()
		if err != nil {
			return nil, err
		}
		if next > col {
			return nil, p.fail(p.pos, "indented deeper than its neighbours")
		}
		if next < col || !p.dash() {
			p.take(s, bottom)
			return s, nil
		}
	}
}

// item reads an entry's value from the lines below its dash.
func (p *parser) item(col, mark int) (*node, error) {
	next, err := p.next()
	if err != nil {
		return nil, err
	}
	if next <= col {
		return p.new(node{start: mark, body: mark, end: mark}), nil
	}
	return p.content(col, next)
}
