package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

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
		if err != nil {
			return nil, w.reported(err)
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

// reported converts an error for the file: nil for a text that may be YAML.
func (w *jsonWalk) reported(err error) error {
	if strings.Contains(err.Error(), "exceeded max depth") {
		return &SyntaxError{Line: w.line, What: "is nested too deep", Why: fmt.Sprintf("more than %d levels", maxDepth)}
	}
	return nil
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
