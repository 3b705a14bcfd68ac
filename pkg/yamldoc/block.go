package yamldoc

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
