package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// invalid returns one line with all causes: field, value if it is short and not secret, reason.
func invalid(causes []metav1.StatusCause, secret bool, place func(field, kind string) (path, whose string)) string {
	parts := make([]string, 0, len(causes))
	for _, c := range causes {
		kind, value, why := cutValue(c.Message)
		field, whose := place(c.Field, kind)
		if c.Field == "<nil>" || c.Field == "" || c.Field == "[]" { // rules about the whole object, which the caller names
			field, value, whose = "", "", ""
			if why != "" {
				kind = ""
			}
		}
		if secret {
			value = ""
		}
		if value != "" && len(value) <= maxValue {
			kind += " " + value
		}
		text := slices.DeleteFunc([]string{field, kind, why, whose}, func(part string) bool { return part == "" })
		parts = append(parts, shorten(strings.Join(text, ": "), maxText))
	}
	const most = 5
	if n := len(parts); n > most {
		parts = append(parts[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(parts, "; ")
}

// cutValue splits a cause such as `Invalid value: {"a":1}: field is immutable`.
func cutValue(message string) (kind, value, why string) {
	for _, kind := range []string{"Invalid value", "Duplicate value", "Unsupported value", "Not found"} {
		rest, ok := strings.CutPrefix(message, kind+": ")
		if !ok {
			continue
		}
		n := valueLength(rest)
		return strings.ToLower(kind), rest[:n], strings.TrimPrefix(rest[n:], ": ")
	}
	return "", "", message
}

func valueLength(text string) int {
	if text == "" {
		return 0
	}
	switch text[0] {
	case '"':
		if q, err := strconv.QuotedPrefix(text); err == nil {
			return len(q)
		}
	case '{', '[':
		d := json.NewDecoder(strings.NewReader(text))
		var v json.RawMessage
		if d.Decode(&v) == nil {
			return int(d.InputOffset())
		}
	default:
		if value, _, _ := strings.Cut(text, ": "); strings.Contains(value, " ") {
			return 0 // a rule's message, and no value
		}
	}
	if i := strings.Index(text, ": "); i >= 0 {
		return i
	}
	return len(text)
}

// shorten makes a text one line of at most n bytes, with control characters escaped.
func shorten(text string, n int) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = strings.TrimRight(text[:i], " {[(") + " …"
	}
	quoted := strconv.QuoteToGraphic(text)
	text = strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if len(text) > n {
		text = strings.ToValidUTF8(text[:n], "") + " …"
	}
	return text
}
