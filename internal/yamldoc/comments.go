package yamldoc

import "strings"

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
