package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// maxDepth is the maximum nesting of a document; the API server has the same limit.
const maxDepth = 10_000

// jsonReader reads one value, reporting duplicate keys.
type jsonReader struct {
	data  []byte
	first int // line of the file at which data begins
	dec   *json.Decoder
	path  merge.Path
}

func (r *jsonReader) read() (any, error) {
	tok, err := r.token()
	if err != nil {
		return nil, err
	}
	return r.value(tok, 0)
}

// token returns the decoder's next token. A text in which half a character is written (\ud800
// alone) is an error: the decoder would replace it.
func (r *jsonReader) token() (json.Token, error) {
	from := r.dec.InputOffset()
	tok, err := r.dec.Token()
	if s, ok := tok.(string); ok && strings.Contains(s, "\ufffd") {
		written := strings.ToLower(string(r.data[from:r.dec.InputOffset()]))
		if strings.Count(s, "\ufffd") > strings.Count(written, "\ufffd")+strings.Count(written, `\ufffd`) {
			return nil, r.fail("is no text", `half a character (\ud800 to \udfff) stands alone in it; write the whole one`)
		}
	}
	return tok, err
}

func (r *jsonReader) fail(what, why string) error {
	return &SyntaxError{Line: r.first + bytes.Count(r.data[:r.dec.InputOffset()], []byte("\n")), Path: pathText(r.path), What: what, Why: why}
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
		if what, why := rounded(r.path, string(t)); what != "" {
			return nil, r.fail(what, why)
		}
		return t, nil
	}
	return tok, nil
}

func (r *jsonReader) object(depth int) (any, error) {
	m := map[string]any{}
	for r.dec.More() {
		tok, err := r.token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, r.fail("is not JSON", "a key has to be a text")
		}
		r.path = append(r.path, merge.Named(key))
		if _, twice := m[key]; twice {
			return nil, r.fail(fmt.Sprintf("key %q is given twice", key), "keep one of them")
		}
		if tok, err = r.token(); err != nil {
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
		tok, err := r.token()
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
