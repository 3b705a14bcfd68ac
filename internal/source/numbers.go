package source

import (
	"encoding/json"
	"fmt"
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
	path, found := merge.First(d.Value(), func(_ merge.Step, v any) bool {
		n, _ := v.(json.Number)
		what, _ := rounded(nil, string(n))
		return what != ""
	})
	if !found {
		return nil
	}
	n, _ := merge.Lookup(d.Value(), path, nil)
	what, why := rounded(path, fmt.Sprint(n))
	return &SyntaxError{Line: d.LineOf(path), Path: pathText(path), What: what, Why: why}
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
