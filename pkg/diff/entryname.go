package diff

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// names are the fields by which people know an entry of a list, the first that it has;
// a namespace before the name and an effect behind the key belong to it.
var names = []string{"name", "key", "path", "host", "ip", "port", "type", "id"}

// scopes are the fields that tell a role's rules apart: what they are about, and not what they allow.
var scopes = []string{"apiGroups", "resources", "resourceNames", "nonResourceURLs"}

// ruleName names a rule of a role by what it is about; "" for other entries.
func ruleName(m map[string]any) string {
	if m["verbs"] == nil {
		return ""
	}
	var parts []string
	for _, field := range scopes {
		list, _ := m[field].([]any)
		if text := plainList(list); text != "" {
			parts = append(parts, field+"="+cut(text, longestName))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// plainList are the scalars of a list with commas between.
func plainList(list []any) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = plain(v)
	}
	return strings.Join(texts, ",")
}

// entryName names an entry of a list; "" where nothing in it does.
func entryName(v any) string {
	m, _ := v.(map[string]any)
	if name := ruleName(m); name != "" {
		return name
	}
	for _, field := range names {
		if m[field] == nil || !isScalar(m[field]) {
			continue
		}
		name := plain(m[field])
		if ns := m["namespace"]; ns != nil && isScalar(ns) {
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

// variantNames are the names in the field that the type of an entry selects, since many
// entries have one type: those of the metric "type: Resource" are in its field resource.
func variantNames(entry map[string]any, field string) []string {
	variant, _ := entry["type"].(string)
	if field != "type" || variant == "" {
		return nil
	}
	first, size := utf8.DecodeRuneInString(variant)
	at := string(unicode.ToLower(first)) + variant[size:]
	return namesIn(entry[at], escape.Line(at), 1)
}

// namesIn are the names in a value, and in what is in it, to that depth.
func namesIn(v any, at string, depth int) []string {
	m, _ := v.(map[string]any)
	var out []string
	for _, field := range slices.Sorted(maps.Keys(m)) {
		place := at + "." + escape.Line(field)
		switch e := m[field]; {
		case isScalar(e) && (field == "name" || field == "container"):
			out = append(out, place+"="+plain(e))
		case depth > 0:
			out = append(out, namesIn(e, place, depth-1)...)
		}
	}
	return out
}

// longestName is how long a name may be; those of Kubernetes are shorter.
const longestName = 300

// plain is a scalar as it stands in a name.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return cut(escape.Line(s), longestName)
	}
	return short(v, shownAt)
}

// entryText is an entry by its name, or as far as a line has room for it.
func entryText(v any) string {
	if name := entryName(v); name != "" && !fits(merge.Some(v), shownAt) {
		return name
	}
	return short(v, 2*shownAt)
}
