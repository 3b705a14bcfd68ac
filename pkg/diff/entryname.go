package diff

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// names lists the fields by which people identify an entry of a list; the first that it has
// counts. A namespace is put before the name, an effect after the key.
var names = []string{"name", "key", "path", "host", "ip", "port", "type", "id"}

// scopes lists the fields that identify a role's rule: what it is about, and not what it allows.
var scopes = []string{"apiGroups", "resources", "resourceNames", "nonResourceURLs"}

// ruleName names a rule of a role by its scopes; "" for other entries.
func ruleName(m map[string]any) string {
	if m["verbs"] == nil {
		return ""
	}
	var parts []string
	for _, field := range scopes {
		if text := plainList(merge.At[[]any](m, field)); text != "" {
			parts = append(parts, field+"="+cut(text, longestName))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// plainList returns the scalars of a list, separated by commas.
func plainList(list []any) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = plain(v)
	}
	return strings.Join(texts, ",")
}

// entryName names an entry of a list; "" where no field identifies it.
func entryName(v any) string {
	m, _ := v.(map[string]any)
	if name := ruleName(m); name != "" {
		return name
	}
	for _, field := range names {
		if m[field] == nil || !merge.IsScalar(m[field]) {
			continue
		}
		name := plain(m[field])
		if ns := m["namespace"]; ns != nil && merge.IsScalar(ns) {
			name = plain(ns) + "/" + name
		}
		if effect, ok := m["effect"].(string); ok {
			name += ":" + escape.Line(effect)
		}
		if kind, ok := m["kind"].(string); ok {
			return escape.Line(kind) + " " + name
		}
		if more := variantNames(m, field); len(more) > 0 {
			return "[" + strings.Join(append([]string{field + "=" + name}, more...), ",") + "]"
		}
		return field + "=" + name
	}
	return ""
}

// variantNames returns the names in the field that the type of an entry selects, since many
// entries have one type. Those of the metric "type: Resource" are in its field resource.
func variantNames(entry map[string]any, field string) []string {
	variant, _ := entry["type"].(string)
	if field != "type" || variant == "" {
		return nil
	}
	first, size := utf8.DecodeRuneInString(variant)
	at := string(unicode.ToLower(first)) + variant[size:]
	return namesIn(entry[at], escape.Line(at), 1)
}

// namesIn returns the names in a value, and below it down to that depth.
func namesIn(v any, at string, depth int) (out []string) {
	m, _ := v.(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(m)) {
		place := at + "." + escape.Line(field)
		switch e := m[field]; {
		case merge.IsScalar(e) && (field == "name" || field == "container"):
			out = append(out, place+"="+plain(e))
		case depth > 0:
			out = append(out, namesIn(e, place, depth-1)...)
		}
	}
	return out
}

// longestName is the maximum length of a name; those of Kubernetes are shorter.
const longestName = 300

// plain returns a scalar in the form used in a name.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return cut(escape.Line(s), longestName)
	}
	return short(v, shownAt)
}
