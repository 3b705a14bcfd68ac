package source

import (
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
