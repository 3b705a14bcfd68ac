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
func Parse(text []byte) (*File, error) { return new(Reader).Parse(text, 1) }

// Reader reads a text part by part, and bounds what the aliases of all parts together
// unfold to. The zero value is ready for use.
type Reader struct {
	unfolded int // what aliases have added so far; see maxUnfolded
}

// Parse is the function Parse for a part of a text that begins on that line, from 1;
// errors are as there.
func (r *Reader) Parse(text []byte, line int) (*File, error) {
	p := &parser{src: string(text), line: line, nextPos: -1, unfolded: &r.unfolded}
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
