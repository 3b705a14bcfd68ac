package yamldoc

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Encode prints a JSON value as kubectl -o yaml does (sigs.k8s.io/yaml): keys in
// order, lists not indented, text of several lines as a block. Integers of any
// size and fractions of any length keep their value. It does not mask.
// The error is that of a value which is not JSON, and does not quote it.
//
// Unlike kubectl: long text is not folded at 80 columns, so that a change in it
// is one line of a diff; C1 control characters, at which kubectl fails, and
// format characters, which can make text read as another, are escaped.
//
// A value that is nested too deep to be indented (Deep), of which each level would
// take a line longer than the one before, is one line of JSON, which is YAML too; a list
// one for each entry.
func Encode(v any) ([]byte, error) {
	if Deep(v) {
		return encodeDeep(v)
	}
	if merge.Any(v, notJSON) {
		return nil, ErrNotJSON
	}
	p := printer{look: look{eol: "\n", step: 2, kubectl: true}}
	p.printValue(v, model{}, place{col: -1})
	return []byte(strings.TrimPrefix(p.String(), " ") + "\n"), nil
}

// maxIndented is how many levels are indented; no kind of Kubernetes has a tenth.
const maxIndented = 500

// Deep reports whether a value is nested so deep that it is not printed indented: 10,000
// levels, which the API server takes, would come to hundreds of megabytes.
func Deep(v any) bool { return nested(v, maxIndented) }

func nested(v any, levels int) bool {
	if levels < 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if nested(e, levels-1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return nested(e, levels-1) })
	}
	return false
}

func encodeDeep(v any) ([]byte, error) {
	entries, list := v.([]any)
	if !list {
		entries = []any{v}
	}
	var out []byte
	for _, e := range entries {
		text, err := json.Marshal(e)
		if err != nil {
			return nil, ErrNotJSON
		}
		if list {
			out = append(out, "- "...)
		}
		out = append(append(out, escape.JSON(text)...), '\n')
	}
	return out, nil
}

// ErrNotJSON quotes no value.
var ErrNotJSON = errors.New("not a JSON value: it cannot be printed; read it with merge.ReadJSON")

func notJSON(v any) bool {
	switch v := v.(type) {
	case nil, bool, string, map[string]any, []any:
		return false
	case json.Number:
		return !json.Valid([]byte(v))
	}
	return true
}

// longKey is from where on YAML wants a key marked as such.
const longKey = 128

// encoded is a scalar as kubectl spells it: fractions and exponents through float64, unless
// that would be another number.
func (pl place) encoded(v any, l look) string {
	switch v := v.(type) {
	case string:
		return pl.encodedText(v, l, false)
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(string(v), ".eE") {
			if g := json.Number(strconv.FormatFloat(f, 'g', -1, 64)); merge.Equal(v, g, nil) {
				return string(g)
			}
		}
	}
	return pl.spell(v, l)
}

// compareKeys orders keys as people do: symbols, numbers by what they are, then
// letters, so that 9 comes before 10. That is the YAML library's order wherever
// the library has one: with numbers that letters follow (a9, a10, a1b) its
// comparison goes round in a circle, and its output changes from run to run.
func compareKeys(a, b string) int {
	for a != "" && b != "" {
		x, y := token(a), token(b)
		if x == y {
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if c := cmp.Compare(class(x), class(y)); c != 0 {
			return c
		}
		if class(x) == classNumber { // of any length; of 7 and 007, 7 is first
			m, n := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			return cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n), cmp.Compare(len(x), len(y)))
		}
		return strings.Compare(x, y)
	}
	return len(a) - len(b)
}

// token is the run of digits, or the one character, that s begins with.
func token(s string) string {
	if n := len(s) - len(strings.TrimLeft(s, "0123456789")); n > 0 {
		return s[:n]
	}
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

const (
	classSymbol = iota
	classNumber
	classLetter
)

func class(token string) int {
	r, _ := utf8.DecodeRuneInString(token)
	switch {
	case r >= '0' && r <= '9':
		return classNumber
	case unicode.IsLetter(r):
		return classLetter
	}
	return classSymbol
}

// encodedText is a string in the first style that reads back as it: a block for
// several lines, plain, single-quoted, double-quoted. A key is never a block.
func (pl place) encodedText(s string, l look, key bool) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	switch lines := strings.Contains(s, "\n"); {
	case strings.ContainsFunc(s, escaped), lines && (key || strings.Contains(s, " \n") || strings.HasSuffix(s, " ")), isOther(s):
		return quoted(s, escaped, yamlEscapes)
	case lines:
		return pl.block(s, false, l)
	case plainForm(s, false):
		return s
	}
	return single(s)
}

// escaped are the characters that are never written as they are: what the YAML
// library escapes (control characters, the byte order mark, all beyond the basic
// plane), and what this package never prints raw.
func escaped(r rune) bool {
	return r == '\t' || escape.Hidden(r) || r >= 0x10000 || r == 0xfffe || r == 0xffff
}

var base60Text = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`)

// isOther reports whether kubectl quotes s since some reader would take it for something else
// than text: null, a boolean, a number, a time, a merge key.
func isOther(s string) bool {
	return s == "<<" || !isText(resolve(s)) || isTime(s) || strings.Contains(s, ":") && base60Text.MatchString(s)
}

// timeForms are the times that kubectl's YAML library reads.
var timeForms = []string{"2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 15:4:5.999999999", "2006-1-2"}

func isTime(s string) bool {
	if len(s) < 5 || s[4] != '-' || strings.IndexFunc(s[:4], func(r rune) bool { return !unicode.IsDigit(r) }) >= 0 {
		return false
	}
	return slices.ContainsFunc(timeForms, func(form string) bool {
		_, err := time.Parse(form, s)
		return err == nil
	})
}
