package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// chunk is a stretch of a file that holds one document, or one entry of a list.
type chunk struct {
	text []byte
	line int  // line of its first byte, from 1
	nth  int  // number of its document, from 1
	many bool // the file holds more than one
	json bool

	// For a JSON document whose top-level key items is a list: where the list is in text, and its
	// entries.
	list    [2]int
	entries []chunk
}

// split splits a file into its documents, so that one bad document does not hide the errors of the
// next.
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

// splitYAML splits a file at its --- lines.
func splitYAML(data []byte) []chunk {
	var chunks []chunk
	at, start, line, first := 0, 0, 1, 1
	for l := range bytes.Lines(data) {
		if separator(l) && at > start {
			chunks = append(chunks, chunk{text: data[start:at], line: first})
			start, first = at, line
		}
		at += len(l)
		line++
	}
	chunks = append(chunks, chunk{text: data[start:], line: first})
	return slices.DeleteFunc(chunks, func(c chunk) bool { return blank(c.text) })
}

// separator reports whether a line begins a new document, whatever follows the dashes. A block
// scalar cannot hold such a line, as it is always indented. It may begin with a byte order mark, if
// two files were concatenated.
func separator(line []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), []byte("---"))
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// white holds YAML's white space.
const white = " \t\r\n"

// blank reports whether text holds only comments, the directive %YAML 1.1, separators and white
// space. Line breaks that only some readers recognize do not end a comment.
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

// breaking reports whether r is a control character, or a line break that not all readers know.
func breaking(r rune) bool { return unicode.IsControl(r) && r != '\t' || r == 0x2028 || r == 0x2029 }

// apartMark replaces the items in a list object that is read without them. If it is found there,
// the removed text was the object's items, and not a part of some text that looks like them.
const apartMark = "read apart"

// apart splits a list object into the object without items, and each of its items, so that only one
// is in memory. ok is false if c is not such a list, or only a full read could show that it is. The
// result is valid only if each part can be read.
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

// blockItems splits the text of a list object in YAML's block style: items: and below it one dash
// in the same column for each. No text of an item can begin a line there: the YAML specification
// (8.1, 8.2) wants it further in. A quoted text need not be indented, but cut in two it is invalid
// YAML.
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

// entry reads an item of a list; false if it cannot be read alone.
func (c chunk) entry(r *yamldoc.Reader) (Document, bool) {
	docs, err := c.documents(r)
	if err != nil || len(docs) != 1 {
		return Document{}, false
	}
	d := docs[0]
	if c.json {
		return d, true
	}
	one, ok := d.Value.([]any) // it follows its dash
	if !ok || len(one) != 1 {  // YAML has more line breaks than are handled here
		return Document{}, false
	}
	d.Value, d.Line, d.Items = one[0], d.Items[0], nil
	return d, true
}

// isEntry reports whether a line begins, after its indentation, an entry of a list.
func isEntry(text []byte) bool {
	return len(text) > 0 && text[0] == '-' && (len(text) == 1 || strings.IndexByte(" \t\r\n", text[1]) >= 0)
}

// splitJSON splits a file of JSON documents, one after the other. It returns nil for a text that is
// not JSON, though it may begin like it: YAML has a flow style.
func splitJSON(data []byte) ([]chunk, error) {
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return nil, nil
	}
	w := jsonWalk{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1}
	var chunks []chunk
	for {
		at := w.next(" \t\r\n")
		if at == len(data) {
			return chunks, nil
		}
		c, err := w.document(at)
		if err != nil && strings.Contains(err.Error(), "exceeded max depth") {
			return nil, &SyntaxError{Line: w.line, What: "is nested too deep", Why: fmt.Sprintf("more than %d levels", yamldoc.MaxDepth)}
		}
		if err != nil {
			return nil, nil // the text may be YAML
		}
		chunks = append(chunks, c)
	}
}

// jsonWalk finds the positions of the values of a JSON text, without keeping any.
type jsonWalk struct {
	data    []byte
	dec     *json.Decoder
	line    int // at the current position
	counted int // bytes whose lines are counted in line
}

// next returns where the next value or key begins, after separators from between; line is then its
// line.
func (w *jsonWalk) next(between string) int {
	from := int(w.dec.InputOffset())
	at := len(w.data) - len(bytes.TrimLeft(w.data[from:], between))
	w.line += bytes.Count(w.data[w.counted:at], []byte("\n"))
	w.counted = at
	return at
}

// skipped is a value that is not decoded.
type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }

func (w *jsonWalk) skip() error { return w.dec.Decode(&skipped{}) }

// document walks over the document that begins at start.
func (w *jsonWalk) document(start int) (chunk, error) {
	c := chunk{line: w.line, json: true}
	open, err := w.dec.Token()
	if err != nil {
		return c, err
	}
	for open == json.Delim('{') && w.dec.More() {
		if err := w.field(&c, start); err != nil {
			return c, err
		}
	}
	for open == json.Delim('[') && w.dec.More() {
		if err := w.skip(); err != nil {
			return c, err
		}
	}
	if _, nested := open.(json.Delim); nested {
		if _, err := w.dec.Token(); err != nil {
			return c, err
		}
	}
	c.text = w.data[start:w.dec.InputOffset()]
	return c, nil
}

// field walks over a key and its value, and notes where the entries of items are.
func (w *jsonWalk) field(c *chunk, start int) error {
	key, err := w.dec.Token()
	if err != nil {
		return err
	}
	at := w.next(" \t\r\n:")
	if key != "items" || at == len(w.data) || w.data[at] != '[' {
		return w.skip()
	}
	if _, err := w.dec.Token(); err != nil {
		return err
	}
	c.entries = nil
	for w.dec.More() {
		from := w.next(" \t\r\n,")
		if err := w.skip(); err != nil {
			return err
		}
		c.entries = append(c.entries, chunk{text: w.data[from:w.dec.InputOffset()], line: w.line, json: true})
	}
	_, err = w.dec.Token()
	c.list = [2]int{at - start, int(w.dec.InputOffset()) - start}
	return err
}
