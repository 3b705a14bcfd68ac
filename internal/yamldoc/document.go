package yamldoc

import "strings"

// document reads one document, and whether another one follows it.
func (p *parser) document() (*Document, bool, error) {
	d := &Document{sep: p.separatorAt(), from: p.pos}
	p.doc, p.anchors, p.open, p.json = d, map[string]*node{}, map[string]bool{}, false
	started, err := p.prologue(d)
	if err != nil {
		return nil, false, err
	}
	col := 0
	if started && p.pos != p.lineStart && !p.atEnd() {
		d.root, err = p.parseValue(-1)
	} else if col, err = p.next(); err == nil && col >= 0 {
		p.json = p.peek(0) == '{'
		d.root, err = p.content(-1, col)
	}
	if err != nil {
		return nil, false, err
	}
	if col, err = p.next(); err != nil {
		return nil, false, err
	}
	if col >= 0 {
		return nil, false, p.fail(p.pos, "a new document needs a --- line, and an entry the indentation of its neighbours")
	}
	more, err := p.epilogue(d)
	if err != nil {
		return nil, false, err
	}
	if d.root != nil {
		d.value, err = p.valueOf(d.root)
	}
	return d, more, err
}

// prologue steps over directives and the --- line; started: there was
// one.
func (p *parser) prologue(d *Document) (started bool, err error) {
	col, err := p.next()
	if err != nil {
		return false, err
	}
	directives := false
	for col == 0 && p.peek(0) == '%' {
		if !strings.HasPrefix(p.src[p.pos:], "%YAML 1.1") || !ends(p.peek(len("%YAML 1.1"))) {
			return false, p.fail(p.pos, "directives other than %%YAML 1.1 are not read")
		}
		p.pos += len("%YAML 1.1")
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
	p.separator(d)
	return true, nil
}

// separator steps over ---, and over the rest of its line if that is a comment.
func (p *parser) separator(d *Document) {
	p.pos += len("---")
	p.blanks()
	if p.peek(0) == '#' {
		p.comment()
	}
	if isBreak(p.peek(0)) {
		p.newline()
		p.mark()
	}
	d.from = p.pos
}

// separatorAt is where the --- line starts that may stand here, its byte order mark
// included where it was the beginning of a file.
func (p *parser) separatorAt() int {
	if p.pos > len(byteOrder) && p.marker() && strings.HasSuffix(p.src[:p.pos], byteOrder) {
		return p.pos - len(byteOrder)
	}
	return p.pos
}

// epilogue ends the document before the next --- line or behind a ... line.
func (p *parser) epilogue(d *Document) (more bool, err error) {
	d.to = p.separatorAt()
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

// span is a part of the text.
type span struct{ from, to int }

// HideComments returns the file's text with by in the place of the words of each comment
// that stands in, before or behind a document that hide picks. The # and all bytes that
// are no comment stay.
func (f *File) HideComments(hide func(*Document) bool, by string) []byte {
	var hidden []span
	for i, d := range f.docs {
		if hide(d) {
			hidden = append(hidden, f.around(i))
		}
	}
	var b strings.Builder
	done := 0
	for _, c := range f.comments {
		for len(hidden) > 0 && hidden[0].to <= c.from {
			hidden = hidden[1:]
		}
		if len(hidden) > 0 && hidden[0].from <= c.from {
			b.WriteString(f.src[done:c.from] + "# " + by)
			done = c.to
		}
	}
	b.WriteString(f.src[done:])
	return []byte(b.String())
}

// around is the text from the end of what the document before holds to the document's
// own end.
func (f *File) around(i int) span {
	s := span{0, f.docs[i].to}
	if i > 0 {
		before := f.docs[i-1]
		if s.from = before.from; before.root != nil {
			s.from = before.root.end
		}
	}
	if i == len(f.docs)-1 {
		s.to = len(f.src)
	}
	return s
}
