package yamldoc

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds nesting, where encoding/json, go-yaml and the API server stop too.
const MaxDepth = 10_000

const tabIndents = "a tab indents; YAML is indented by spaces, never by tabs"

// maxKey is go-yaml's bound on a key and its colon.
const maxKey = 1024

// parser is a recursive descent over the text. It follows libyaml's scanner,
// which kubectl's reader is a translation of.
type parser struct {
	src       string
	line      int // that src starts on
	pos       int
	lineStart int // where the line that pos is on starts
	depth     int
	around    int // the column of the block around the flow collection that is being read
	nextPos   int // where next stopped last, and at which column
	nextCol   int
	text      [2]int    // where the last block scalar begins and ends
	quote     int       // where the last quoted scalar begins
	json      bool      // the document is a flow mapping: JSON's escapes are read too
	doc       *Document // that is being read
	anchors   map[string]*node
	open      map[string]bool // anchors of values that are still being read
	serial    int
	reader    *Reader
	sizes     map[*node]int // what the anchored nodes of the document come to
	own       int           // what the value that is unfolded comes to without aliases
	taken     int           // entries taken in by merge keys
	top       int           // where the document's value begins
	apart     bool          // the value that is read next is that of items in it; see Reader
	seen      [2]int        // the place up to which lines are counted for Reader.Item, and how many there are
	comments  []span
}

// fail makes the error for an offset.
func (p *parser) fail(at int, format string, args ...any) error {
	at = min(at, len(p.src))
	return &Error{Line: p.lineAt(at), Problem: fmt.Sprintf(format, args...), at: at}
}

func (p *parser) lineAt(at int) int { return p.line + strings.Count(p.src[:at], "\n") }

// check refuses what no YAML may contain. A file that is JSON as a whole may contain what
// JSON may: kubectl reads it as that (YAMLOrJSONDecoder of k8s.io/apimachinery), and no
// reader takes a character inside a string for a line break there.
func (p *parser) check() error {
	p.mark()
	err := p.checkAll()
	whole := p.src[p.pos:]
	if err != nil && strings.HasPrefix(strings.TrimLeft(whole, " \t\r\n"), "{") && utf8.ValidString(whole) && json.Valid([]byte(whole)) {
		return nil
	}
	return err
}

// checkAll refuses what no YAML may contain, and the line breaks and byte order
// marks in odd places that readers disagree about.
//
// Unlike kubectl: what an editor shows as one line must not be two to the server.
func (p *parser) checkAll() error {
	for i := p.pos; i < len(p.src); i++ {
		c := p.src[i]
		switch {
		case c >= ' ' && c < 0x7f || c == '\n' || c == '\t':
		case c == '\r':
			if i+1 >= len(p.src) || p.src[i+1] != '\n' {
				return p.fail(i, "a carriage return without a line feed; save the file with LF or CRLF line ends")
			}
		case c < utf8.RuneSelf:
			return p.fail(i, "control character %#U; write it as an escape in double quotes", rune(c))
		default:
			n, err := p.checkRune(i)
			if err != nil {
				return err
			}
			i += n - 1
		}
	}
	return nil
}

func (p *parser) checkRune(i int) (int, error) {
	r, n := utf8.DecodeRuneInString(p.src[i:])
	switch {
	case r == utf8.RuneError && n <= 1:
		return 0, p.fail(i, "the text is not UTF-8 (byte 0x%02X); save the file as UTF-8", p.src[i])
	case r == 0x85 || r == 0x2028 || r == 0x2029:
		return 0, p.fail(i, "line break %U inside the text; write it as an escape in double quotes", r)
	case r == 0xfeff && !p.mayMark(i):
		return 0, p.fail(i, "a byte order mark at the beginning of a line; take it out")
	case r < 0xa0 || r == 0xfffe || r == 0xffff:
		return 0, p.fail(i, "control character %U; write it as an escape in double quotes", r)
	}
	return n, nil
}

// byteOrder is the byte order mark of UTF-8, which some editors begin files with.
const byteOrder = "\ufeff"

// mark steps over a byte order mark, which is as if it were not there.
func (p *parser) mark() {
	if strings.HasPrefix(p.src[p.pos:], byteOrder) {
		p.pos += len(byteOrder)
		p.lineStart = p.pos
	}
}

// mayMark reports whether a byte order mark may stand there: inside a line, where it is a
// character as any other, or as the first thing of a file that this one was put together
// of: behind a --- line or in front of one.
func (p *parser) mayMark(at int) bool {
	line := text(p.src).lineStart(at)
	rest := p.src[at+len(byteOrder):]
	return line < at || strings.HasPrefix(rest, "---") ||
		line > 0 && strings.HasPrefix(p.src[text(p.src).lineStart(line-1):], "---")
}

// peek is the byte i places ahead, 0 behind the end.
func (p *parser) peek(i int) byte {
	if p.pos+i < len(p.src) {
		return p.src[p.pos+i]
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isBreak(c byte) bool { return c == '\n' || c == '\r' }

// ends reports whether c ends a word: white space, a line break or the end.
func ends(c byte) bool { return c == 0 || isBlank(c) || isBreak(c) }

func (p *parser) column() int { return p.pos - p.lineStart }

func (p *parser) blanks() {
	for isBlank(p.peek(0)) {
		p.pos++
	}
}

// atEnd reports whether the rest of the line is a comment or nothing.
func (p *parser) atEnd() bool {
	c := p.peek(0)
	return c == 0 || c == '#' || isBreak(c)
}

// newline steps over one line break.
func (p *parser) newline() {
	if p.peek(0) == '\r' && p.peek(1) == '\n' {
		p.pos++
	}
	p.pos++
	p.lineStart = p.pos
}

// marker reports whether a --- or ... line starts here, perhaps behind a byte order mark.
func (p *parser) marker() bool {
	if p.pos != p.lineStart {
		return false
	}
	rest := strings.TrimPrefix(p.src[p.pos:], byteOrder)
	return (strings.HasPrefix(rest, "---") || strings.HasPrefix(rest, "...")) && (len(rest) == 3 || ends(rest[3]))
}

// next moves on to the next content, over white space, comments and line breaks,
// and gives its column; -1 at the end of the document. Content on the line that
// it starts from is an error: a value has ended there.
func (p *parser) next() (int, error) {
	if p.pos == p.nextPos {
		return p.nextCol, nil
	}
	for fresh := p.pos == p.lineStart; ; fresh = true {
		if fresh && p.peek(0) == byteOrder[0] && p.pos == p.lineStart {
			p.mark()
		}
		for c := p.peek(0); c == ' ' || c == '\t' && !fresh; c = p.peek(0) {
			p.pos++
		}
		if p.peek(0) == '#' {
			p.comment()
		}
		if isBreak(p.peek(0)) {
			p.newline()
			continue
		}
		col := p.column()
		switch {
		case p.pos >= len(p.src):
			col = -1
		case !fresh:
			return 0, p.fail(p.pos, "unexpected text behind a value%s", p.quoting(p.pos))
		case p.marker():
			col = -1
		case p.peek(0) == '\t':
			return 0, p.fail(p.pos, tabIndents)
		}
		p.nextPos, p.nextCol = p.pos, col
		return col, nil
	}
}

func (p *parser) comment() {
	start := p.pos
	p.pos = text(p.src).lineEnd(p.pos)
	if n := len(p.comments); n == 0 || p.comments[n-1].from < start { // some text is read twice
		p.comments = append(p.comments, span{start, p.pos})
	}
}

// quoting returns the advice about text at a place behind a value that has ended; "" for what is
// in no need of quotes.
func (p *parser) quoting(at int) string {
	before := strings.TrimRight(p.src[:at], " \t")
	switch {
	case strings.HasSuffix(before, "'") && p.quote < p.lineStart, strings.HasSuffix(before, `"`) && p.quote < p.lineStart:
		return fmt.Sprintf("; the quote that line %d opens ends here: close it where it is to end", p.lineAt(p.quote))
	case strings.HasSuffix(before, "]"), strings.HasSuffix(before, "}"):
		return "; quote a text that begins with [ or {"
	case strings.HasSuffix(before, "'"):
		return "; a quote inside '…' is written twice"
	case strings.HasSuffix(before, `"`):
		return `; a quote inside "…" is written \"`
	}
	return ""
}
