package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// errNotJSON: the text begins like JSON but may be YAML's flow style.
var errNotJSON = errors.New("is not JSON")

func looksJSON(data []byte) bool {
	t := bytes.TrimLeft(data, " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

// jsonReader reads one JSON document after the other, telling keys that stand
// twice.
type jsonReader struct {
	data []byte
	dec  *json.Decoder
	path merge.Path
}

func decodeJSON(data []byte) ([]Document, error) {
	r := jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	var docs []Document
	for {
		line := r.nextLine()
		tok, err := r.dec.Token()
		if errors.Is(err, io.EOF) {
			for i := range docs {
				docs[i].Nth, docs[i].Many = i+1, len(docs) > 1
			}
			return docs, nil
		}
		var v any
		if err == nil {
			v, err = r.value(tok, 0)
		}
		if err != nil {
			var syntax *SyntaxError
			if errors.As(err, &syntax) {
				return docs, err
			}
			return docs, fmt.Errorf("line %d: %w: %v", r.line(r.dec.InputOffset()), errNotJSON, err)
		}
		if v != nil {
			docs = append(docs, Document{Value: v, Line: line})
		}
	}
}

func (r *jsonReader) line(offset int64) int {
	return 1 + bytes.Count(r.data[:min(int(offset), len(r.data))], []byte("\n"))
}

// nextLine is the line of the next token.
func (r *jsonReader) nextLine() int {
	at := int(r.dec.InputOffset())
	rest := r.data[min(at, len(r.data)):]
	return r.line(int64(at + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))))
}

func (r *jsonReader) fail(what, why string) error {
	path := ""
	if len(r.path) > 0 {
		path = r.path.String()
	}
	return &SyntaxError{Line: r.line(r.dec.InputOffset()), Path: path, What: what, Why: why}
}

func (r *jsonReader) value(tok json.Token, depth int) (any, error) {
	if depth > maxDepth {
		return nil, r.fail("is nested too deep", fmt.Sprintf("more than %d levels", maxDepth))
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return r.object(depth)
		}
		return r.list(depth)
	case json.Number:
		f, err := strconv.ParseFloat(string(t), 64)
		if err != nil {
			return nil, r.fail("number", "is out of the API's range; quote it if it is a string")
		}
		if Rounded(string(t), f) {
			return nil, r.fail(rounded(r.path, string(t), f))
		}
		return t, nil
	}
	return tok, nil
}

func (r *jsonReader) object(depth int) (any, error) {
	m := map[string]any{}
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, errNotJSON
		}
		r.path = append(r.path, merge.Named(key))
		if _, twice := m[key]; twice {
			return nil, r.fail(fmt.Sprintf("key %q is given twice", key), "keep one of them")
		}
		if tok, err = r.dec.Token(); err != nil {
			return nil, err
		}
		if m[key], err = r.value(tok, depth+1); err != nil {
			return nil, err
		}
		r.path = r.path[:len(r.path)-1]
	}
	_, err := r.dec.Token()
	return m, err
}

func (r *jsonReader) list(depth int) (any, error) {
	list := []any{}
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return nil, err
		}
		r.path = append(r.path, merge.Step{Kind: merge.IndexStep, Index: len(list)})
		v, err := r.value(tok, depth+1)
		if err != nil {
			return nil, err
		}
		r.path = r.path[:len(r.path)-1]
		list = append(list, v)
	}
	_, err := r.dec.Token()
	return list, err
}
