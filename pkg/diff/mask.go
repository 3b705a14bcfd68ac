package diff

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// What stands in a Secret's place; the words are kubectl diff's
// (k8s.io/kubectl/pkg/cmd/diff.Masker).
const (
	masked       = "***"
	maskedBefore = "*** (before)"
	maskedAfter  = "*** (after)"
)

// lastApplied is the annotation in which a whole Secret may stand once more.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Mask hides the values of data and stringData of every Secret in two forms of an
// object, or of a List, so that a value that differs is recognisable as such.
// Either may be nil. What holds no Secret is returned as it is.
//
// Unlike kubectl: stringData, Lists and the last-applied annotation are masked
// too; kubectl diff prints their values.
func Mask(live, result any) (liveMasked, resultMasked any) {
	return mask(live, result)
}

// mask walks both forms at once. A Secret is known by its kind wherever it
// stands, so that Lists and templates need no knowledge of their own.
func mask(a, b any) (any, any) {
	x, xMap := a.(map[string]any)
	y, yMap := b.(map[string]any)
	if xMap || yMap {
		x, y = maskMaps(x, y)
		return keep(xMap, x, a), keep(yMap, y, b)
	}
	l, lList := a.([]any)
	m, mList := b.([]any)
	if lList || mList {
		l, m = maskLists(l, m)
		return keep(lList, l, a), keep(mList, m, b)
	}
	return a, b
}

// keep gives the masked form, or the value itself where it is of another kind
// than its counterpart. It is then masked alone.
func keep[T any](is bool, masked T, v any) any {
	if is {
		return masked
	}
	switch v.(type) {
	case map[string]any, []any:
		alone, _ := mask(v, nil)
		return alone
	}
	return v
}

// openFields are those of a Secret that hold no values. What is not one of them, and
// not data or stringData either, is a mistake (stringdata) that may hold some.
var openFields = []string{"apiVersion", "kind", "metadata", "type", "immutable"}

func maskMaps(x, y map[string]any) (map[string]any, map[string]any) {
	x, y = maskAnnotation(x, y)
	secret := isSecret(x) || isSecret(y) // what became of a Secret may have its values still
	for _, k := range eachKey(x, y) {
		if secret && !slices.Contains(openFields, k) {
			x, y = maskField(x, y, k)
			continue
		}
		v, had := x[k]
		w, has := y[k]
		mv, mw := mask(v, w)
		if had && !merge.Identical(v, mv) {
			x = with(x, k, mv)
		}
		if has && !merge.Identical(w, mw) {
			y = with(y, k, mw)
		}
	}
	return x, y
}

// maskLists pairs objects by what they are, anything else by place.
func maskLists(l, m []any) ([]any, []any) {
	places := map[string]int{}
	for i, e := range m {
		if id := objectID(e); id != "" {
			places[id] = i
		}
	}
	var outL, outM []any
	done := make([]bool, len(m))
	for i, e := range l {
		j, ok := places[objectID(e)]
		if !ok && objectID(e) == "" && i < len(m) && objectID(m[i]) == "" {
			j, ok = i, true
		}
		if !ok || done[j] {
			v, _ := mask(e, nil)
			outL = replaced(outL, l, i, v)
			continue
		}
		done[j] = true
		v, w := mask(e, m[j])
		outL, outM = replaced(outL, l, i, v), replaced(outM, m, j, w)
	}
	for j, e := range m {
		if !done[j] {
			_, w := mask(nil, e)
			outM = replaced(outM, m, j, w)
		}
	}
	return pick(outL, l), pick(outM, m)
}

func replaced(out, in []any, i int, v any) []any {
	if merge.Identical(in[i], v) {
		return out
	}
	if out == nil {
		out = append([]any(nil), in...)
	}
	out[i] = v
	return out
}

func pick(out, in []any) []any {
	if out != nil {
		return out
	}
	return in
}

// objectID is "" for what is no object with a kind.
func objectID(v any) string {
	m, _ := v.(map[string]any)
	kind, _ := m["kind"].(string)
	if kind == "" {
		return ""
	}
	meta, _ := m["metadata"].(map[string]any)
	ns, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	return kind + "\x00" + ns + "\x00" + name
}

// maskField masks one map of values.
func maskField(x, y map[string]any, field string) (map[string]any, map[string]any) {
	v, had := x[field]
	w, has := y[field]
	if had && v != nil {
		x = with(x, field, maskValues(v, w, has, maskedBefore))
	}
	if has && w != nil {
		y = with(y, field, maskValues(w, v, had, maskedAfter))
	}
	return x, y
}

// maskValues masks v, which stands opposite other. Nulls stay: they say that a
// key goes, and hold nothing.
func maskValues(v, other any, paired bool, differs string) any {
	m, ok := v.(map[string]any)
	if !ok {
		return veil(v, other, paired, differs)
	}
	o, _ := other.(map[string]any)
	out := make(map[string]any, len(m))
	for k, e := range m {
		if e != nil {
			w, both := o[k]
			out[k] = veil(e, w, both, differs)
			continue
		}
		out[k] = nil
	}
	return out
}

func veil(v, other any, paired bool, differs string) string {
	if paired && !merge.Identical(v, other) {
		return differs
	}
	return masked
}

// maskAnnotation masks the Secret that stands in the last-applied annotation.
func maskAnnotation(x, y map[string]any) (map[string]any, map[string]any) {
	a, b := annotation(x), annotation(y)
	if !strings.Contains(a, "Secret") && !strings.Contains(b, "Secret") && !isSecret(x) && !isSecret(y) {
		return x, y
	}
	v, okA := decoded(a)
	w, okB := decoded(b)
	v, w = mask(v, w)
	return withText(x, a, v, okA, maskedIf(a, b, maskedBefore)), withText(y, b, w, okB, maskedIf(b, a, maskedAfter))
}

func maskedIf(text, other, differs string) string {
	if other != "" && text != other {
		return differs
	}
	return masked
}

// decoded reads an annotation; what is no JSON object is not.
func decoded(text string) (any, bool) {
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		return nil, false
	}
	_, ok := v.(map[string]any)
	return v, ok
}

// withText puts the masked configuration back; one that could not be read is
// hidden whole.
func withText(obj map[string]any, text string, v any, ok bool, whole string) map[string]any {
	if text == "" {
		return obj
	}
	if now, err := json.Marshal(v); ok && err == nil {
		whole = string(now) + "\n"
	}
	meta, _ := obj["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	return with(obj, "metadata", with(meta, "annotations", with(notes, lastApplied, whole)))
}

func annotation(obj map[string]any) string {
	meta, _ := obj["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	s, _ := notes[lastApplied].(string)
	return s
}

// isSecret: of the core group, whatever its version; a file may leave that out.
func isSecret(m map[string]any) bool {
	kind, _ := m["kind"].(string)
	version, _ := m["apiVersion"].(string)
	return kind == "Secret" && !strings.Contains(version, "/")
}

// with returns m with one entry changed.
func with(m map[string]any, k string, v any) map[string]any {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]any{}
	}
	m[k] = v
	return m
}

func eachKey(x, y map[string]any) []string {
	keys := make([]string, 0, len(x)+len(y))
	for k := range x {
		keys = append(keys, k)
	}
	for k := range y {
		if _, ok := x[k]; !ok {
			keys = append(keys, k)
		}
	}
	return keys
}
