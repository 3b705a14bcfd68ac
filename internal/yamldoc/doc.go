// Package yamldoc changes values inside YAML text and leaves every other byte as
// it is: comments, key order, quoting, block styles, indentation, anchors, line
// ends. It refuses to understand Kubernetes, to read or write files, and to give
// back a text that does not read as the value that was asked for.
//
// YAML is read as kubectl reads it, which is YAML 1.1 with go-yaml's ways: yes,
// no, on and off are booleans, 0777 is octal, a later << wins over an earlier
// key. Numbers keep their digits (json.Number). What is legal YAML but has no
// place in a manifest is refused with a line number rather than guessed at:
// duplicate keys, keys that are no scalars, directives other than %YAML, line breaks
// that only some readers take for such, documents that unfold to something enormous.
package yamldoc

import (
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// File is a text of one or more YAML documents. It is read-only.
type File struct {
	src  string
	line int // of the text's beginning, from 1
	docs []*Document

	comments []span // in the order of the text
}

// Document is one document of a File, together with the bytes that belong to it:
// from behind its --- line to the next one. It is read-only and may be used by
// several goroutines.
type Document struct {
	file  *File
	sep   int // where the separator line before the document starts
	from  int // where its text starts
	to    int // where its text ends
	root  *node
	value any

	Strange error   // the *Error of the first tag that is not YAML's own, and that Value leaves out; nil if there is none
	Reread  []error // an *Error of each key whose name in Value is not what the text seems to have, as false for n
}

// Error is a text that cannot be read.
type Error struct {
	Line    int        // from 1
	Path    merge.Path // of the value; nil where the text is not YAML at all
	Problem string     // quotes keys, never values
	Large   bool       // its aliases spell out to too much

	at int // the offset in the text
}

// Error is line, path and problem.
func (e *Error) Error() string {
	if len(e.Path) == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
	}
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Path, e.Problem)
}

// Parse reads all documents of a text. The error is an *Error. A text without any
// content has one empty document.
func Parse(text []byte) (*File, error) { return new(Reader).Parse(string(text), 1) }

// Reader reads a text part by part, and bounds what the aliases of all parts together
// unfold to. The zero value is ready for use.
type Reader struct {
	// Item, if it is set, is given each entry of the list items of a document that is a mapping, with
	// its line, as soon as it is read. The list then has none: only one entry is in memory at a time. An
	// error of Item is that of the text.
	Item func(v any, line int) error

	unfolded int // what aliases have added so far; see maxUnfolded
}

// Parse is the function Parse for a part of a text that begins on that line, from 1;
// errors are as there.
func (r *Reader) Parse(text string, line int) (*File, error) {
	p := &parser{src: text, line: line, nextPos: -1, reader: r}
	if err := p.check(); err != nil {
		return nil, err
	}
	f := &File{src: p.src, line: line}
	for {
		d, more, err := p.document()
		if err != nil {
			return nil, err
		}
		d.file = f
		f.docs = append(f.docs, d)
		if !more {
			f.comments = p.comments
			return f, nil
		}
	}
}

// Documents are the documents of the file in order, empty ones included; there is
// always one.
func (f *File) Documents() []*Document { return f.docs }

// Text is the whole text.
func (f *File) Text() []byte { return []byte(f.src) }

// Value is the content of the document, in the JSON forms of package merge; nil for
// an empty document. It must not be modified.
func (d *Document) Value() any { return d.value }

// Empty reports whether there is nothing but white space and comments.
func (d *Document) Empty() bool { return d.root == nil }

// Text is the document's own text: what stands between its separators.
func (d *Document) Text() []byte { return []byte(d.file.src[d.from:d.to]) }

// EOL is the line end that the file uses: "\r\n" if its first line ends so.
func (f *File) EOL() string {
	if i := strings.IndexByte(f.src, '\n'); i > 0 && f.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// document reads one document, and whether another one follows it.
func (p *parser) document() (*Document, bool, error) {
	d := &Document{sep: p.separatorAt(), from: p.pos}
	p.doc, p.anchors, p.open, p.json = d, map[string]*node{}, map[string]bool{}, false
	p.sizes = map[*node]int{}
	started, err := p.prologue(d)
	if err != nil {
		return nil, false, err
	}
	col := 0
	if p.top = p.pos; started && p.pos != p.lineStart && !p.atEnd() {
		d.root, err = p.parseValue(-1)
	} else if col, err = p.next(); err == nil && col >= 0 {
		p.top, p.json = p.pos, p.peek(0) == '{'
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
