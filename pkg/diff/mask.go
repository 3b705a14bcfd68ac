package diff

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// What stands in a Secret's place; the words are kubectl diff's
// (k8s.io/kubectl/pkg/cmd/diff.Masker).
const (
	masked       = "***"
	maskedBefore = "*** (before)"
	maskedAfter  = "*** (after)"
)

// lastApplied is the annotation in which a whole object stands once more.
const lastApplied = redact.LastApplied

// Mask hides what pkg/redact names in two forms of an object, or of a List, so that a
// value that differs is recognizable as such: the values of Secrets, the environment
// variables whose name asks for it, and the manifests of Secrets in text. Either may be
// nil. What holds nothing of the kind is returned as it is.
//
// Unlike kubectl: stringData, Lists, the annotations that copy an object and
// environment variables are masked too; kubectl diff prints their values.
func Mask(live, result any) (liveMasked, resultMasked any) {
	return MaskFields(live, result, nil)
}

// MaskFields is Mask that hides the sensitive fields too; nil: there are none.
func MaskFields(live, result any, sensitive redact.Fields) (liveMasked, resultMasked any) {
	return masking{sensitive}.mask(live, result)
}

// masking walks both forms at once. A Secret is known by its kind wherever it
// stands, so that Lists and templates need no knowledge of their own.
type masking struct {
	fields redact.Fields // below the values it is at
}

func (m masking) mask(a, b any) (any, any) {
	x, xMap := a.(map[string]any)
	y, yMap := b.(map[string]any)
	if xMap || yMap {
		x, y = m.maps(x, y)
		return m.keep(xMap, x, a), m.keep(yMap, y, b)
	}
	k, kList := a.([]any)
	l, lList := b.([]any)
	if kList || lList {
		k, l = m.lists(k, l)
		return m.keepList(kList, k, a), m.keepList(lList, l, b)
	}
	return maskText(a, b, maskedBefore), maskText(b, a, maskedAfter)
}

// maskText hides a text that holds the manifest of a Secret.
func maskText(v, other any, differs string) any {
	if s, ok := v.(string); ok && redact.HoldsSecret(s) {
		return veil(v, other, other != nil, differs)
	}
	return v
}

// keep gives the masked form, or the value itself where it is of another kind
// than its counterpart. It is then masked alone.
func (m masking) keep(is bool, masked map[string]any, v any) any {
	if is {
		return masked
	}
	return m.alone(v)
}

func (m masking) keepList(is bool, masked []any, v any) any {
	if is {
		return masked
	}
	return m.alone(v)
}

func (m masking) alone(v any) any {
	if v == nil {
		return nil
	}
	out, _ := m.mask(v, nil)
	return out
}

func (m masking) maps(x, y map[string]any) (map[string]any, map[string]any) {
	x, y = m.annotations(x, y)
	secret := redact.IsSecret(x) || redact.IsSecret(y) // what became of a Secret may have its values still
	for _, k := range eachKey(x, y) {
		whole, below := m.fields.Below(merge.Named(k))
		if whole || secret && !(redact.Open(k, x[k]) && redact.Open(k, y[k])) || k == "stringData" {
			x, y = maskField(x, y, k)
			continue
		}
		if redact.Copies(k) {
			continue // masked above
		}
		v, had := x[k]
		w, has := y[k]
		if k == "env" {
			v, w = maskEnv(v, w)
		}
		mv, mw := masking{below}.mask(v, w)
		if had && !merge.Identical(x[k], mv) {
			x = with(x, k, mv)
		}
		if has && !merge.Identical(y[k], mw) {
			y = with(y, k, mw)
		}
	}
	return x, y
}

// maskEnv masks the environment variables that hold a secret by their name.
func maskEnv(a, b any) (any, any) {
	x, y := envOf(a), envOf(b)
	if len(x) == 0 && len(y) == 0 {
		return a, b
	}
	return hideEnv(a, y, maskedBefore), hideEnv(b, x, maskedAfter)
}

// envOf are the values of a container's env that a name calls secret, by name.
func envOf(v any) map[string]any {
	found := map[string]any{}
	list, _ := v.([]any)
	for _, e := range list {
		e, _ := e.(map[string]any)
		name, _ := e["name"].(string)
		if value, ok := e["value"].(string); ok && value != "" && redact.SensitiveName(name) {
			found[name] = value
		}
	}
	return found
}

func hideEnv(v any, others map[string]any, differs string) any {
	list, _ := v.([]any)
	var out []any
	for i, e := range list {
		m, _ := e.(map[string]any)
		name, _ := m["name"].(string)
		if value, ok := m["value"].(string); ok && value != "" && redact.SensitiveName(name) {
			other, paired := others[name]
			out = replaced(out, list, i, with(m, "value", veil(value, other, paired, differs)))
		}
	}
	if out == nil {
		return v
	}
	return out
}

// lists pairs objects by what they are, anything else by place.
func (m masking) lists(k, l []any) ([]any, []any) {
	places := map[string]int{}
	for i, e := range l {
		if id := objectID(e); id != "" {
			places[id] = i
		}
	}
	var outK, outL []any
	done := make([]bool, len(l))
	for i, e := range k {
		j, ok := places[objectID(e)]
		if !ok && objectID(e) == "" && i < len(l) && objectID(l[i]) == "" {
			j, ok = i, true
		}
		if !ok || done[j] {
			v, _ := m.entry(e, nil)
			outK = replaced(outK, k, i, v)
			continue
		}
		done[j] = true
		v, w := m.entry(e, l[j])
		outK, outL = replaced(outK, k, i, v), replaced(outL, l, j, w)
	}
	for j, e := range l {
		if !done[j] {
			_, w := m.entry(nil, e)
			outL = replaced(outL, l, j, w)
		}
	}
	return pick(outK, k), pick(outL, l)
}

// entry masks an entry of a list, which has no name that a rule could name it by but
// what it holds.
func (m masking) entry(a, b any) (any, any) {
	if m.fields == nil {
		return m.mask(a, b)
	}
	whole, below := m.fields.Below(redact.EntryStep(a))
	wholeB, belowB := m.fields.Below(redact.EntryStep(b))
	if whole || wholeB {
		return veilOr(a, b, maskedBefore), veilOr(b, a, maskedAfter)
	}
	if below == nil {
		below = belowB
	}
	return masking{below}.mask(a, b)
}

func veilOr(v, other any, differs string) any {
	if v == nil {
		return nil
	}
	return veil(v, other, other != nil, differs)
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

// annotations masks the objects that stand in annotations once more.
func (m masking) annotations(x, y map[string]any) (map[string]any, map[string]any) {
	notes, others := annotations(x), annotations(y)
	for _, name := range eachKey(notes, others) {
		if redact.Copies(name) {
			a, _ := notes[name].(string)
			b, _ := others[name].(string)
			x, y = m.annotation(x, y, copied{name, a, b})
		}
	}
	return x, y
}

// copied is an annotation that may hold an object, of both forms.
type copied struct{ name, a, b string }

func (m masking) annotation(x, y map[string]any, c copied) (map[string]any, map[string]any) {
	secret := redact.IsSecret(x) || redact.IsSecret(y)
	if !secret && m.fields == nil && !mayHide(c.a) && !mayHide(c.b) {
		return x, y
	}
	v, okA := decoded(c.a)
	w, okB := decoded(c.b)
	v, w = m.mask(v, w)
	return withText(x, c.name, c.a, v, okA, maskedIf(c.a, c.b, maskedBefore)), withText(y, c.name, c.b, w, okB, maskedIf(c.b, c.a, maskedAfter))
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

// withText puts the masked object back; one that could not be read is hidden whole.
func withText(obj map[string]any, name, text string, v any, ok bool, whole string) map[string]any {
	if text == "" {
		return obj
	}
	if now, err := json.Marshal(v); ok && err == nil {
		whole = string(now) + "\n"
	}
	meta, _ := obj["metadata"].(map[string]any)
	return with(obj, "metadata", with(meta, "annotations", with(annotations(obj), name, whole)))
}

func annotations(obj map[string]any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	return notes
}

// mayHide: the text of an object that has something to hide has one of these words.
func mayHide(text string) bool {
	return strings.Contains(text, "ecret") || strings.Contains(text, `"env"`) || strings.Contains(text, `"stringData"`)
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
