package source

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

var (
	floatText = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	notFinite = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
	jsonText  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	decimal   = regexp.MustCompile(`^[-+]?[0-9]+$`)
)

// exact keeps the digits of a number as JSON writes them, and refuses one that
// the API, which has int64 and float64 only, would change.
func (r *resolver) exact(n *yaml.Node, text string) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, r.fail(n, "number", "is out of the API's range; quote it if it is a string")
	}
	if !jsonText.MatchString(text) {
		text = respell(text)
	}
	if Rounded(text, f) {
		what, why := rounded(r.path, text, f)
		return nil, r.fail(n, what, why)
	}
	return json.Number(text), nil
}

// rounded tells of a number that would not survive. Below data it may be a
// Secret's, and is not shown.
func rounded(path merge.Path, text string, f float64) (what, why string) {
	const out = "the API rounds it; quote it if it is a string"
	if slices.ContainsFunc(path, func(s merge.Step) bool { return s.Name == "data" || s.Name == "stringData" }) {
		return "number", out
	}
	return "number " + text, fmt.Sprintf("would be stored as %s: %s", strconv.FormatFloat(f, 'g', -1, 64), out)
}

// Rounded says whether a number's text stands for another value than f, which is
// what float64 makes of it.
func Rounded(text string, f float64) bool {
	if decimal.MatchString(text) {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return false
		}
	}
	if len(text) < 16 { // float64 keeps any 15 digits
		return false
	}
	was, ok := new(big.Rat).SetString(text)
	if !ok {
		return true
	}
	is, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return !ok || was.Cmp(is) != 0
}

// respell turns what YAML allows and JSON does not (+1.5, .5, 5., 010.5) into a
// JSON number of the same value.
func respell(text string) string {
	text = strings.TrimPrefix(text, "+")
	sign, text := text[:len(text)-len(strings.TrimPrefix(text, "-"))], strings.TrimPrefix(text, "-")
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i:]
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	if frac != "" {
		frac = "." + frac
	}
	return sign + whole + frac + exponent
}
