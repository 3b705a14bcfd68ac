package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
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
	return r.readValue(tok, 0)
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

func (r *jsonReader) readValue(tok json.Token, depth int) (any, error) {
	if depth > maxDepth {
		return nil, r.fail("is nested too deep", fmt.Sprintf("more than %d levels", maxDepth))
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return r.readObject(depth)
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

func (r *jsonReader) readObject(depth int) (any, error) {
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
		if m[key], err = r.readValue(tok, depth+1); err != nil {
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
		v, err := r.readValue(tok, depth+1)
		if err != nil {
			return nil, err
		}
		r.path = r.path[:len(r.path)-1]
		list = append(list, v)
	}
	_, err := r.dec.Token()
	return list, err
}

// checkNumbers finds the first number of a document that the API, which has int64 and
// float64 only, would change.
func checkNumbers(d *yamldoc.Document) error {
	if !merge.Any(d.Value(), isRounded) { // nearly always, and decided without sorting
		return nil
	}
	path, what, why := unfit(d.Value(), nil)
	return &SyntaxError{Line: d.LineOf(path), Path: pathText(path), What: what, Why: why}
}

func isRounded(v any) bool {
	n, _ := v.(json.Number)
	what, _ := rounded(nil, string(n))
	return what != ""
}

// unfit returns the first number in v that is not preserved, with its path and the reason; what is
// "" if there is none. path is the path of v.
func unfit(v any, path merge.Path) (at merge.Path, what, why string) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if at, what, why = unfit(v[k], path.Child(merge.Named(k))); what != "" {
				return at, what, why
			}
		}
	case []any:
		for i, e := range v {
			if at, what, why = unfit(e, path.Child(merge.Step{Kind: merge.IndexStep, Index: i})); what != "" {
				return at, what, why
			}
		}
	case json.Number:
		what, why = rounded(path, string(v))
		return path, what, why
	}
	return nil, "", ""
}

// rounded describes a number that would not be preserved; what is "" for one that is. Below data it
// may be a Secret's, and is not shown.
func rounded(path merge.Path, text string) (what, why string) {
	if len(text) < 16 && !strings.ContainsAny(text, "eE") { // float64 keeps any 15 digits
		return "", ""
	}
	const out = "the API rounds it; quote it if it is a string"
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return "number", "is out of the API's range; quote it if it is a string"
	case !object.Rounded(text, f):
		return "", ""
	case slices.ContainsFunc(path, func(s merge.Step) bool { return s.Name == "data" || s.Name == "stringData" }):
		return "number", out
	}
	return "number " + text, fmt.Sprintf("would be stored as %s: %s", strconv.FormatFloat(f, 'g', -1, 64), out)
}
