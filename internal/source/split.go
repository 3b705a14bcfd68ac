package source

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/pkg/yamldoc"
)

// chunk is a stretch of a file that holds one document, or one entry of a list.
type chunk struct {
	text []byte
	line int  // of its first byte, from 1
	nth  int  // document of its file, from 1
	many bool // the file holds more than one
	json bool

	// The value of the key items at the top of a JSON document, where it is a list:
	// where it stands in text, and its entries.
	list    [2]int
	entries []chunk
}

// split parts a file into its documents, so that one bad document does not hide
// the errors of the next.
func split(data []byte) ([]chunk, error) {
	data = inUTF8(data)
	if err := notText(data); err != nil {
		return nil, err
	}
	chunks, err := splitJSON(data)
	if err != nil {
		return nil, err
	}
	if chunks == nil {
		chunks = splitYAML(data)
	}
	for i := range chunks {
		chunks[i].nth, chunks[i].many = i+1, len(chunks) > 1
	}
	return chunks, nil
}

// splitYAML parts a file at its --- lines.
func splitYAML(data []byte) []chunk {
	var chunks []chunk
	start, line, first := 0, 1, 1
	for at := 0; at < len(data); {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if separator(data[at:end]) && at > start {
			chunks = append(chunks, chunk{text: data[start:at], line: first})
			start, first = at, line
		}
		at = end
		line++
	}
	chunks = append(chunks, chunk{text: data[start:], line: first})
	kept := chunks[:0]
	for _, c := range chunks {
		if !blank(c.text) {
			kept = append(kept, c)
		}
	}
	return kept
}

// separator: a line that begins a new document, whatever stands behind the
// dashes. A block scalar cannot hold such a line, as it is always indented. It may begin
// with a byte order mark, where two files were put together.
func separator(line []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), []byte("---"))
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// white is what YAML takes for white space.
const white = " \t\r\n"

// blank: nothing but comments, the directive %YAML 1.1, separators and white space. What
// only some readers take for the end of a comment is more.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\r\n")), []byte("\n"))
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		if separator(line) {
			line = line[len("---"):]
		}
		rest := bytes.Trim(line, " \t")
		comment := len(rest) == 0 || rest[0] == '#' || bytes.HasPrefix(line, []byte("%YAML 1.1")) || bytes.Equal(line, []byte("..."))
		if !comment || bytes.ContainsFunc(line, breaking) {
			return false
		}
	}
	return true
}

// breaking are control characters, and line breaks that not all readers know.
func breaking(r rune) bool { return unicode.IsControl(r) && r != '\t' || r == 0x2028 || r == 0x2029 }

// apartMark stands for the items in a list object that is read without them. What is
// found there shows that it was the object's items that were taken out, and not a
// part of some text that looks like them.
const apartMark = "read apart"

// apart parts a list object into itself without items, and each of its items, so
// that no more than one needs to be held. ok is false for what is no such list, or is
// written in a way that shows only when it is read whole; and what comes of the parts
// counts only if each of them can be read.
func (c chunk) apart() (frame chunk, items []chunk, ok bool) {
	frame = c
	switch {
	case !c.json:
		frame.text, items = blockItems(c)
	case len(c.entries) > 0:
		frame.text = bytes.Join([][]byte{c.text[:c.list[0]], c.text[c.list[1]:]}, []byte(`["`+apartMark+`"]`))
		frame.entries, items = nil, c.entries
	}
	for i := range items {
		items[i].nth, items[i].many = c.nth, c.many
	}
	return frame, items, len(items) > 0
}

// blockItems parts the text of a list object in YAML's block style, items: and
// below it one dash in the same column for each. No text of an item can begin a line
// there: the YAML specification (8.1, 8.2) wants it further in. A quoted text need not
// keep to that, but cut in two it is no YAML.
func blockItems(c chunk) (frame []byte, items []chunk) {
	const before, within, after = 0, 1, 2
	state, column, start := before, -1, 0
	at, line := 0, c.line
	for l := range bytes.Lines(c.text) {
		rest := bytes.TrimLeft(l, " ")
		in, dash := len(l)-len(rest), isEntry(rest)
		empty := len(bytes.Trim(rest, white)) == 0 || rest[0] == '#'
		if column < 0 && state == within && dash {
			column = in
		}
		switch {
		case state == before && string(bytes.TrimRight(l, " \t\r\n")) == "items:":
			state = within
			frame = append(frame, "items: ["+apartMark+"]\n"...)
		case state != within:
			frame = append(frame, l...)
		case dash && in == column:
			start = at
			items = append(items, chunk{text: l, line: line})
		case len(items) > 0 && (empty || in > column):
			items[len(items)-1].text = c.text[start : at+len(l)]
		case !empty:
			state = after
			frame = append(frame, l...)
		}
		at += len(l)
		line++
	}
	return frame, items
}

// entry is what an item of a list holds; false where it cannot be read by itself.
func (c chunk) entry(r *yamldoc.Reader) (Document, bool) {
	docs, err := c.documents(r)
	if err != nil || len(docs) != 1 {
		return Document{}, false
	}
	d := docs[0]
	if c.json {
		return d, true
	}
	one, ok := d.Value.([]any) // it stands behind its dash
	if !ok || len(one) != 1 {  // YAML ends lines at more than is looked at here
		return Document{}, false
	}
	d.Value, d.Line, d.Items = one[0], d.Items[0], nil
	return d, true
}

// isEntry: a line that begins, after its indentation, an entry of a list.
func isEntry(text []byte) bool {
	return len(text) > 0 && text[0] == '-' && (len(text) == 1 || strings.IndexByte(" \t\r\n", text[1]) >= 0)
}
