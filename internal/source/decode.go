package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Document is one YAML or JSON document of a file.
type Document struct {
	Value any
	Nth   int   // from 1; empty ones do not count
	Many  bool  // the file holds more than one
	Line  int   // from 1, where it begins
	Items []int // lines of a list's items, where they are known
}

// Decode reads every document of a file of YAML or JSON, as kubectl understands
// it (YAML 1.1: yes, on and 0777 are no strings) but strictly: a key that stands
// twice is an error, and so is a number that the API would round. Numbers come
// back exact, as json.Number. Empty documents are left out. Every bad document is
// told, in one joined error; the good ones come back too.
//
// Unlike kubectl: which keeps the last of two equal keys, and reads numbers as
// float64, so that 9007199254740993 becomes 9007199254740992.
func Decode(data []byte) ([]Document, error) {
	var docs []Document
	err := decode(data, func(d Document) { docs = append(docs, d) })
	return docs, err
}

// decode hands each document over as soon as it is read.
func decode(data []byte, take func(Document)) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := notText(data); err != nil {
		return err
	}
	if looksJSON(data) {
		if docs, err := decodeJSON(data); err == nil || !errors.Is(err, errNotJSON) {
			for _, d := range docs {
				take(d)
			}
			return err
		}
	}
	var errs []error
	chunks := split(data)
	for i, c := range chunks {
		got, err := decodeChunk(c)
		for _, d := range got {
			d.Nth, d.Many = i+1, len(chunks) > 1
			take(d)
		}
		var bad *SyntaxError
		if errors.As(err, &bad) && len(chunks) > 1 {
			bad.Document = i + 1
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// chunk is a stretch of a YAML file between two separators.
type chunk struct {
	text []byte
	line int // of its first byte, from 1
}

// split parts a file at its --- lines, so that one bad document does not hide
// the errors of the next.
func split(data []byte) []chunk {
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
// dashes. A block scalar cannot hold such a line, as it is always indented.
func separator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// blank: nothing but comments, directives, separators and white space.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if rest, ok := bytes.CutPrefix(line, []byte("---")); ok {
			line = bytes.TrimSpace(rest)
		}
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && !bytes.Equal(line, []byte("...")) {
			return false
		}
	}
	return true
}

func decodeChunk(c chunk) ([]Document, error) {
	var docs []Document
	d := yaml.NewDecoder(bytes.NewReader(c.text))
	for {
		var node yaml.Node
		switch err := d.Decode(&node); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return docs, yamlError(c, err)
		}
		r := resolver{first: c.line, budget: maxUnfolded + len(c.text)}
		v, err := r.value(&node, 0)
		if err != nil {
			return docs, err
		}
		if v != nil {
			docs = append(docs, Document{Value: v, Line: c.line - 1 + top(&node).Line, Items: r.items(&node)})
		}
	}
}

// yamlError puts the parser's message, which counts lines from the chunk's own
// first, into the file's lines.
func yamlError(c chunk, err error) error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line, what := 0, msg
	if n, _ := fmt.Sscanf(msg, "line %d:", &line); n == 1 {
		_, what, _ = strings.Cut(msg, ": ")
	} else {
		line = 1 + bytes.Count(c.text[:max(bytes.IndexFunc(c.text, control), 0)], []byte("\n"))
	}
	if name, ok := anchor(what); ok {
		line = 1 + bytes.Count(c.text[:max(bytes.Index(c.text, []byte("*"+name)), 0)], []byte("\n"))
		what = "an alias (*) of an anchor that is not there, or contains it; quote a text that begins with *"
	}
	if strings.Contains(what, "cannot start any token") && bytes.ContainsRune(c.text, '\t') {
		what += " (YAML is indented by spaces, never by tabs)"
	}
	return &SyntaxError{Line: c.line - 1 + line, What: "is not YAML", Why: what}
}

// control: YAML knows no such character, which the parser tells without its line.
func control(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' && r != 0x85
}

// anchor is the name that the parser's message carries. A password that begins with
// * is read as one, and is not to be told.
func anchor(what string) (string, bool) {
	_, rest, found := strings.Cut(what, "anchor '")
	name, _, closed := strings.Cut(rest, "' ")
	return name, found && closed
}

// SyntaxError is a place in a file that cannot be read.
type SyntaxError struct {
	Document int // from 1; 0 where the file holds one only
	Line     int // from 1
	Path     string
	What     string
	Why      string
}

// Error is document, line, path, what and why, as far as there are any.
func (e *SyntaxError) Error() string {
	parts := []string{fmt.Sprintf("line %d", e.Line)}
	if e.Document > 0 {
		parts[0] = fmt.Sprintf("document %d, line %d", e.Document, e.Line)
	}
	for _, p := range []string{e.Path, e.What, e.Why} {
		if p != "" {
			parts = append(parts, clip(p))
		}
	}
	return strings.Join(parts, ": ")
}

func top(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		return n.Content[0]
	}
	return n
}
