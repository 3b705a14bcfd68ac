package yamldoc

import "strings"

// blockScalar is a literal or folded scalar while it is read.
type blockScalar struct {
	folded bool
	chomp  byte // '-', '+' or 0
	indent int
	text   strings.Builder
	last   string // the break behind the line read last
	blank  int    // empty lines behind it
	spaced bool   // that line started with white space
}

// block reads a literal (|) or folded (>) scalar whose parent's column is parent.
func (p *parser) block(parent int) (*node, error) {
	n := node{start: p.pos, body: p.pos, style: literalStyle}
	s := blockScalar{folded: p.peek(0) == '>'}
	if s.folded {
		n.style = foldedStyle
	}
	p.pos++
	if err := p.blockHeader(&s, parent); err != nil {
		return nil, err
	}
	n.end = p.pos
	p.blanks()
	if p.peek(0) == '#' {
		p.comment()
	}
	if p.pos < len(p.src) && !isBreak(p.peek(0)) {
		return nil, p.fail(p.pos, "unexpected text behind | or >")
	}
	if p.pos < len(p.src) {
		p.newline()
	}
	if err := p.blockBody(&n, &s, parent); err != nil {
		return nil, err
	}
	n.text, p.text = s.text.String(), [2]int{n.start, p.pos}
	return &n, nil
}

func (p *parser) blockHeader(s *blockScalar, parent int) error {
	for range 2 {
		switch c := p.peek(0); {
		case (c == '+' || c == '-') && s.chomp == 0:
			s.chomp = c
			p.pos++
		case c == '0':
			return p.fail(p.pos, "the indentation behind | or > must be 1 to 9")
		case c > '0' && c <= '9' && s.indent == 0:
			s.indent = max(parent, 0) + int(c-'0')
			p.pos++
		}
	}
	return nil
}

// blockBody reads the lines. It leaves the parser at the scalar's end, so that
// next reads on from there.
func (p *parser) blockBody(n *node, s *blockScalar, parent int) error {
	at, err := p.blockBlank(s, parent)
	if err != nil {
		return err
	}
	for p.column() == s.indent && p.pos < len(p.src) && !isBreak(p.peek(0)) {
		spaced := isBlank(p.peek(0))
		if s.folded && !s.spaced && !spaced && s.last != "" {
			if s.blank == 0 {
				s.text.WriteByte(' ')
			}
		} else {
			s.text.WriteString(s.last)
		}
		s.text.WriteString(strings.Repeat("\n", s.blank))
		s.spaced, s.blank, s.last = spaced, 0, ""
		start := p.pos
		p.pos = text(p.src).lineEnd(start)
		s.text.WriteString(p.src[start:p.pos])
		n.end = p.pos
		if p.pos < len(p.src) {
			p.newline()
			s.last = "\n"
		}
		if at, err = p.blockBlank(s, parent); err != nil {
			return err
		}
	}
	if s.chomp != '-' {
		s.text.WriteString(s.last)
	}
	if s.chomp == '+' && s.blank > 0 {
		s.text.WriteString(strings.Repeat("\n", s.blank))
		n.end = at
	}
	p.pos, p.lineStart = n.end, strings.LastIndexByte(p.src[:n.end], '\n')+1
	return nil
}

// blockBlank steps over empty lines and the indentation behind them, settles the
// indentation if nothing has yet, and gives where the last empty line starts.
func (p *parser) blockBlank(s *blockScalar, parent int) (last int, err error) {
	widest := 0
	for {
		for (s.indent == 0 || p.column() < s.indent) && p.peek(0) == ' ' {
			p.pos++
		}
		widest = max(widest, p.column())
		if (s.indent == 0 || p.column() < s.indent) && p.peek(0) == '\t' {
			return 0, p.fail(p.pos, tabIndents)
		}
		if !isBreak(p.peek(0)) {
			break
		}
		last = p.pos
		p.newline()
		s.blank++
	}
	if s.indent == 0 {
		s.indent = max(widest, parent+1, 1)
	}
	return last, nil
}
