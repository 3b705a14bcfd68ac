package yamldoc

import (
	"bytes"
	"strings"
)

// Addition is a new document of a file.
type Addition struct {
	After *Document // one of the file's own, which may go itself; nil is the end
	Text  []byte    // gets the file's line ends
}

// Assemble gives the file's text with new texts for some of its documents, others
// taken out (a nil text), and new ones put in. Separators and every other byte
// stay; a comment that stands apart at the top of the file stays too when the
// document below it is removed. Nothing to do gives the same text. What is put into an empty
// text is its first document. An empty result is not nil, which stands for a file that is removed.
func (f *File) Assemble(texts map[*Document][]byte, add []Addition) []byte {
	first := f.docs[0]
	a := assembler{file: f}
	a.Grow(len(f.src)) // not nil
	a.WriteString(f.src[:first.sep])
	for _, d := range f.docs {
		body, changed := texts[d]
		switch {
		case !changed && f.src != "":
			a.document(d, d.Text())
		case body != nil:
			a.document(d, body)
		case d == first:
			a.header = d.header()
		}
		a.additions(add, d)
	}
	a.additions(add, nil)
	if a.items == 0 {
		a.WriteString(a.header)
	}
	return a.Bytes()
}

// Changed is Assemble with what of makes of the documents, by their number: nil leaves one as it is. The error is of's.
func (f *File) Changed(of func(n int, d *Document) ([]byte, error)) ([]byte, error) {
	texts := map[*Document][]byte{}
	for n, d := range f.docs {
		text, err := of(n, d)
		if err != nil {
			return nil, err
		}
		if text != nil {
			texts[d] = text
		}
	}
	return f.Assemble(texts, nil), nil
}

type assembler struct {
	bytes.Buffer
	file   *File
	items  int
	last   int    // where the last document begins
	header string // comments that are left of a first document that is removed
}

func (a *assembler) additions(add []Addition, after *Document) {
	for i := range add {
		if add[i].After == after {
			a.document(nil, a.file.withItsLineEnds(add[i].Text))
		}
	}
}

// withItsLineEnds is a text with the line ends of the file, where that has any. YAML reads
// both alike.
func (f *File) withItsLineEnds(body []byte) []byte {
	if !strings.Contains(f.src, "\n") {
		return body
	}
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(body, []byte("\n"), []byte(f.EOL()))
}

// document writes a document behind its separator. What comes first has the
// separator that the file starts with.
func (a *assembler) document(d *Document, body []byte) {
	f := a.file
	sep := "---" + f.EOL()
	own := d
	if a.items == 0 {
		own = f.docs[0]
	}
	if own != nil && (own != f.docs[0] || a.items == 0) {
		sep = f.src[own.sep:own.from]
	}
	if own != d && sep != "" && !strings.HasSuffix(sep, "\n") {
		sep = "---" + f.EOL()
	}
	if a.items > 0 && a.Len() > 0 && a.Bytes()[a.Len()-1] != '\n' {
		was, err := Parse(a.Bytes()[a.last:])
		a.WriteString(f.EOL())
		now, bad := Parse(a.Bytes()[a.last:])
		if err == nil && bad == nil && !exact(now.docs[0].value, was.docs[0].value) { // of a literal at its end
			if text, err := now.docs[0].Edit(Edit{Want: was.docs[0].value}); err == nil {
				a.Truncate(a.last)
				a.Write(text)
			}
		}
	}
	a.WriteString(sep)
	if a.items == 0 {
		a.WriteString(a.header)
	}
	a.last = a.Len()
	a.Write(body)
	a.items++
}

// header is the comments at the top of a document that an empty line sets apart
// from its content.
func (d *Document) header() string {
	if d.root == nil {
		return ""
	}
	s, kept := text(d.file.src), d.from
	for at := d.from; at < d.root.start; at = s.lineNext(at) {
		if s.blank(at, s.lineEnd(at)) {
			kept = s.lineNext(at)
		} else if !strings.HasPrefix(strings.TrimSpace(string(s[at:s.lineEnd(at)])), "#") {
			break
		}
	}
	if s.blank(d.from, kept) {
		return ""
	}
	return string(s[d.from:kept])
}
