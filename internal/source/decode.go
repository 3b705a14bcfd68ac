package source

import (
	"bytes"
	"encoding/json"
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
	chunks, err := split(data)
	if err != nil {
		return nil, err
	}
	var (
		docs  []Document
		errs  []error
		extra = maxUnfolded
	)
	for _, c := range chunks {
		got, err := c.documents(&extra)
		docs, errs = append(docs, got...), append(errs, err)
	}
	return docs, errors.Join(errs...)
}

// documents are what a chunk holds: one document, or several where they are apart by
// an end mark only. extra is what aliases may still add to what the text holds.
func (c chunk) documents(extra *int) ([]Document, error) {
	var (
		docs []Document
		err  error
	)
	if c.json {
		docs, err = c.fromJSON()
	} else {
		docs, err = c.fromYAML(extra)
	}
	for i := range docs {
		docs[i].Nth, docs[i].Many = c.nth, c.many
	}
	var bad *SyntaxError
	if errors.As(err, &bad) && c.many {
		bad.Document = c.nth
	}
	return docs, err
}

func (c chunk) fromJSON() ([]Document, error) {
	r := jsonReader{data: c.text, first: c.line, dec: json.NewDecoder(bytes.NewReader(c.text))}
	r.dec.UseNumber()
	v, err := r.read()
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, nil // as an empty document
	}
	d := Document{Value: v, Line: c.line}
	for _, e := range c.entries {
		d.Items = append(d.Items, e.line)
	}
	return []Document{d}, nil
}

func (c chunk) fromYAML(extra *int) ([]Document, error) {
	var docs []Document
	d := yaml.NewDecoder(bytes.NewReader(c.text))
	budget := *extra + len(c.text)
	defer func() { *extra = max(min(*extra, budget), 0) }()
	for {
		var node yaml.Node
		switch err := d.Decode(&node); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return docs, yamlError(c, err)
		}
		r := resolver{first: c.line, budget: budget}
		v, err := r.value(&node, 0)
		budget = r.budget
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
