package yamldoc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// plain reads a plain scalar. In block context it continues over lines that are
// indented at least as far as indent.
func (p *parser) plain(indent int, flow bool) (*node, error) {
	start := p.pos
	if !p.startsPlain(flow) {
		return nil, p.fail(p.pos, "%q cannot start a value; quote it", p.src[p.pos:p.pos+1])
	}
	end := p.plainLine(flow)
	first := p.src[start:end]
	text, err := p.plainRest(first, &end, indent, flow)
	if err != nil {
		return nil, err
	}
	p.pos = end
	return &node{start: start, body: start, end: end, text: text}, nil
}

func (p *parser) startsPlain(flow bool) bool {
	c, next := p.peek(0), p.peek(1)
	switch c {
	case '-':
		return !isBlank(next)
	case '?', ':':
		return !flow && !ends(next)
	}
	return strings.IndexByte(",[]{}#&*!|>'\"%@`", c) < 0
}

// plainLine reads to the end of the scalar on this line, and gives the offset
// behind its last character that is not white space.
func (p *parser) plainLine(flow bool) int {
	end := p.pos
	for {
		c := p.peek(0)
		switch {
		case c == 0 || isBreak(c):
			return end
		case isBlank(c):
			p.pos++
			if p.peek(0) == '#' {
				return end
			}
			continue
		case c == ':' && ends(p.peek(1)), flow && strings.IndexByte(",?[]{}", c) >= 0:
			return end
		}
		p.pos++
		end = p.pos
	}
}

// plainRest folds the lines that a plain scalar continues over into its text.
func (p *parser) plainRest(first string, end *int, indent int, flow bool) (string, error) {
	if !isBreak(p.peek(0)) {
		return first, nil
	}
	var b strings.Builder
	for isBreak(p.peek(0)) {
		pos, line := p.pos, p.lineStart
		breaks, tab := p.foldBreaks(indent)
		if tab {
			return "", p.fail(p.pos, tabIndents)
		}
		c := p.peek(0)
		goesOn := c != 0 && c != '#' && !p.marker() && (flow || p.column() >= indent) &&
			!(c == ':' && ends(p.peek(1))) && !(flow && strings.IndexByte(",?[]{}", c) >= 0)
		if !goesOn {
			p.pos, p.lineStart = pos, line
			break
		}
		if b.Len() == 0 {
			b.WriteString(first)
		}
		writeBreaks(&b, breaks)
		start := p.pos
		*end = p.plainLine(flow)
		b.WriteString(p.src[start:*end])
	}
	if b.Len() == 0 {
		return first, nil
	}
	return b.String(), nil
}

// foldBreaks steps over line breaks and the white space between them, and returns
// how many there were and whether a tab stands before that column on a line.
func (p *parser) foldBreaks(indent int) (breaks int, tab bool) {
	for isBreak(p.peek(0)) {
		p.newline()
		breaks++
		p.blanks()
		i := strings.IndexByte(p.src[p.lineStart:p.pos], '\t')
		tab = tab || i >= 0 && i < indent
	}
	return breaks, tab
}

// writeBreaks folds: one break is a space, more are one less.
func writeBreaks(b *strings.Builder, breaks int) {
	if breaks == 1 {
		b.WriteByte(' ')
		return
	}
	for ; breaks > 1; breaks-- {
		b.WriteByte('\n')
	}
}

// quoted reads a quoted scalar of either kind.
func (p *parser) quoted() (*node, error) {
	start, q := p.pos, p.peek(0)
	n := node{start: start, body: start, style: doubleStyle}
	if q == '\'' {
		n.style = singleStyle
	}
	p.quote = start
	p.pos++
	var b strings.Builder
	for {
		done, err := p.quotedPart(&b, q, start)
		if err != nil {
			return nil, err
		}
		if done {
			n.text, n.end = b.String(), p.pos
			return &n, nil
		}
	}
}

// quotedPart reads one escape, run of white space or of other characters.
func (p *parser) quotedPart(b *strings.Builder, q byte, start int) (done bool, err error) {
	c := p.peek(0)
	switch {
	case p.pos >= len(p.src):
		return false, p.fail(start, "the quote is not closed")
	case c == q && q == '\'' && p.peek(1) == q:
		b.WriteByte(q)
		p.pos += 2
	case c == q:
		p.pos++
		return true, nil
	case c == '\\' && q == '"':
		return false, p.escape(b, start)
	case isBlank(c) || isBreak(c):
		space := p.pos
		p.blanks()
		if !isBreak(p.peek(0)) {
			b.WriteString(p.src[space:p.pos])
			return false, nil
		}
		breaks, _ := p.foldBreaks(0)
		writeBreaks(b, breaks)
		if p.marker() {
			return false, p.fail(start, "the quote is not closed before the document ends")
		}
	default:
		run := p.src[p.pos:]
		if i := strings.IndexAny(run[1:], "\\'\" \t\r\n"); i >= 0 {
			run = run[:i+1]
		}
		b.WriteString(run)
		p.pos += len(run)
	}
	return false, nil
}

// escapes of double quotes that stand for one character.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r",
	'e': "\x1b", ' ': " ", '"': `"`, '\'': "'", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

func (p *parser) escape(b *strings.Builder, start int) error {
	c := p.peek(1)
	if isBreak(c) {
		p.pos++
		breaks, _ := p.foldBreaks(0)
		if breaks > 1 {
			writeBreaks(b, breaks)
		}
		if p.marker() {
			return p.fail(start, "the quote is not closed before the document ends")
		}
		return nil
	}
	if s, ok := escapes[c]; ok {
		b.WriteString(s)
		p.pos += 2
		return nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	switch {
	case c == '/' && p.json:
		b.WriteByte('/')
		p.pos += 2
		return nil
	case digits == 0:
		return p.fail(p.pos, "unknown escape in double quotes")
	}
	return p.codePoint(b, digits)
}

// codePoint reads \x41, \u0041, \U00000041, and in JSON two \u that make one
// character.
func (p *parser) codePoint(b *strings.Builder, digits int) error {
	r, ok := hex(p.src, p.pos+2, digits)
	if !ok {
		return p.fail(p.pos, "an escape in double quotes needs %d hexadecimal digits", digits)
	}
	at := p.pos
	p.pos += 2 + digits
	if p.json && r >= 0xd800 && r < 0xdc00 && p.peek(0) == '\\' && p.peek(1) == 'u' {
		if low, ok := hex(p.src, p.pos+2, 4); ok && low >= 0xdc00 && low < 0xe000 {
			r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
			p.pos += 6
		}
	}
	if r > utf8.MaxRune || r >= 0xd800 && r < 0xe000 {
		return p.fail(at, "the escape in double quotes is no character, or half of one (\\ud800 to \\udfff), which stands alone")
	}
	b.WriteRune(r)
	return nil
}

func hex(s string, at, digits int) (rune, bool) {
	if at+digits > len(s) {
		return 0, false
	}
	r, err := strconv.ParseUint(s[at:at+digits], 16, 32)
	return rune(min(r, utf8.MaxRune+1)), err == nil
}
