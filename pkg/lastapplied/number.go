package lastapplied

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// canonical spells every number in v as kubectl would; v itself is returned
// where no number changes.
func canonical(v any) any {
	switch v := v.(type) {
	case json.Number:
		return spell(v)
	case map[string]any:
		out, copied := v, false
		for k, e := range v {
			c := canonical(e)
			if !changed(e, c) {
				continue
			}
			if !copied {
				out, copied = maps.Clone(v), true
			}
			out[k] = c
		}
		return out
	case []any:
		out, copied := v, false
		for i, e := range v {
			c := canonical(e)
			if !changed(e, c) {
				continue
			}
			if !copied {
				out, copied = slices.Clone(v), true
			}
			out[i] = c
		}
		return out
	}
	return v
}

// changed reports whether canonical returned a new value for an old one. It copies maps and
// lists only where something inside is new, so identity shows it.
func changed(old, now any) bool {
	switch old := old.(type) {
	case json.Number:
		return old != now
	case map[string]any:
		return !sameMap(old, now.(map[string]any))
	case []any:
		now := now.([]any)
		return len(old) > 0 && &old[0] != &now[0]
	}
	return false
}

// spell returns a number as kubectl prints it: decoded as int64 where it is one, else as
// float64 (sigs.k8s.io/json), and printed by encoding/json. Where that would be another
// number, the digits are kept.
func spell(n json.Number) json.Number {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return json.Number(strconv.FormatInt(i, 10))
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return n
	}
	text, err := json.Marshal(f)
	if err != nil || !merge.Equal(n, json.Number(text), nil) {
		return n
	}
	return json.Number(text)
}
