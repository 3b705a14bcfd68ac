package redact

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// What stands in a Secret's place, where two forms differ (else Blanked); the words are kubectl diff's
// (k8s.io/kubectl/pkg/cmd/diff.Masker).
const (
	maskedBefore = "*** (before)"
	maskedAfter  = "*** (after)"
)

// Mask hides what this package names in two forms of an object, or of a List, so that a
// value that differs is recognizable as such: the values of Secrets, the environment
// variables whose name asks for it, the manifests of Secrets in text, what a kustomization makes
// or patches Secrets with, and the sensitive
// fields (nil: there are none). A Secret's values are hidden in its metadata, too. Either
// form may be nil. What holds nothing of the kind is returned as it is. sides are other forms of the
// object, such as the local file's: the values of their Secrets are hidden in metadata as well.
//
// Unlike kubectl: stringData, Lists, annotations with a copy of the object or of a value, and
// environment variables are masked too; kubectl diff prints their values.
func Mask(live, result any, sensitive Fields, sides ...any) (liveMasked, resultMasked any) {
	return masking{fields: sensitive, sides: sides}.mask(live, result)
}

// masking walks both forms at once. A Secret is known by its kind wherever it
// stands, so that Lists and templates need no knowledge of their own.
type masking struct {
	fields Fields  // below the values it is at
	sides  []any   // other forms of the object, whose values are hidden too
	known  *Values // of the Secret that it is in; nil outside
	own    *Values // the same within its metadata; nil elsewhere

	generator bool // in the secretGenerator of a kustomization
}

func (m masking) mask(a, b any) (any, any) {
	x, xMap := a.(map[string]any)
	y, yMap := b.(map[string]any)
	k, kList := a.([]any)
	l, lList := b.([]any)
	switch {
	case a != nil && b != nil && (xMap != yMap || kList != lList): // each is masked alone
		a, _ = m.mask(a, nil)
		b, _ = m.mask(b, nil)
		return a, b
	case xMap || yMap:
		x, y = m.maps(x, y)
		return orNil(xMap, x), orNil(yMap, y)
	case kList || lList:
		k, l = m.lists(k, l)
		return orNil(kList, k), orNil(lList, l)
	}
	return m.maskText(a, b, maskedBefore), m.maskText(b, a, maskedAfter)
}

// orNil is the masked form of a side, nil where there is none.
func orNil(is bool, masked any) any {
	if is {
		return masked
	}
	return nil
}

// maskText hides a text that holds the manifest of a Secret, and the Secret's own values in one.
func (m masking) maskText(v, other any, differs string) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if HoldsSecret(s) {
		return veil(v, other, other != nil, differs)
	}
	blanked := m.own.BlankOwn(s)
	if o, text := other.(string); blanked != s && text && o != s && m.own.BlankOwn(o) == blanked {
		return differs
	}
	return blanked
}

func (m masking) maps(x, y map[string]any) (map[string]any, map[string]any) {
	secret := IsSecret(x) || IsSecret(y) // what became of a Secret may have its values still
	if secret && m.known == nil {
		m.known = ValuesOf(append([]any{x, y}, m.sides...)...)
	}
	x, y = m.annotations(x, y)
	for _, k := range eachKey(x, y) {
		whole, below := m.fields.Below(merge.Named(k))
		whole = whole || k == "literals" && m.generator || k == "patch" && (patchesSecret(x) || patchesSecret(y))
		if whole || secret && !(Open(k, x[k]) && Open(k, y[k])) || k == "stringData" {
			x, y = maskField(x, y, k)
			continue
		}
		if Copies(k) {
			continue // masked above
		}
		v, had := x[k]
		w, has := y[k]
		if k == "env" {
			v, w = maskEnv(v, w)
		}
		in := m
		in.fields, in.generator = below, k == "secretGenerator"
		if secret && k == "metadata" {
			in.own = m.known
		}
		mv, mw := in.mask(v, w)
		if had && !merge.Identical(x[k], mv) {
			x = merge.With(x, mv, k)
		}
		if has && !merge.Identical(y[k], mw) {
			y = merge.With(y, mw, k)
		}
	}
	return x, y
}

// patchesSecret reports whether an entry of a kustomization's patches is for a Secret.
func patchesSecret(entry map[string]any) bool {
	return merge.At[string](entry, "target", "kind") == "Secret"
}

func maskField(x, y map[string]any, field string) (map[string]any, map[string]any) {
	v, had := x[field]
	w, has := y[field]
	if had && v != nil {
		x = merge.With(x, maskValues(v, w, has, maskedBefore), field)
	}
	if has && w != nil {
		y = merge.With(y, maskValues(w, v, had, maskedAfter), field)
	}
	return x, y
}

// maskValues masks v, which stands opposite other. Nulls stay: they mean that a
// key is removed, and hide nothing.
func maskValues(v, other any, paired bool, differs string) any {
	m, ok := v.(map[string]any)
	if !ok {
		return veil(v, other, paired, differs)
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		if out[k] = nil; e != nil {
			w, both := merge.At[map[string]any](other)[k]
			out[k] = veil(e, w, both, differs)
		}
	}
	return out
}

func veil(v, other any, paired bool, differs string) string {
	if paired && !merge.Identical(v, other) {
		return differs
	}
	return Blanked
}

func eachKey(x, y map[string]any) []string {
	all := make(map[string]any, len(x)+len(y))
	maps.Copy(all, x)
	maps.Copy(all, y)
	return slices.Collect(maps.Keys(all))
}

// Place is the place of a value in an object: what is hidden depends on the names around
// it.
type Place struct {
	Path   merge.Path
	Secret int // how many steps of the path lead to a Secret; below 0: it leads into none

	// Values are those of the Secrets in the whole object; nil: of none.
	Values *Values
}

// MaskAt is Mask for two values of one place.
func MaskAt(p Place, live, result merge.Opt, sensitive Fields) (liveMasked, resultMasked merge.Opt) {
	a, b := masking{fields: sensitive, known: p.Values}.mask(wrap(p, live), wrap(p, result))
	return unwrap(p.Path, a, live), unwrap(p.Path, b, result)
}

// wrap puts a value back at its place, in an object that has only what identifies its
// parts: the kind of a Secret, and the keys of entries.
func wrap(at Place, o merge.Opt) any {
	if !o.Set {
		return nil
	}
	v, p := o.Value, at.Path
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].Kind != merge.FieldStep {
			v = []any{v}
			continue
		}
		m := map[string]any{}
		if i > 0 {
			for _, k := range p[i-1].Keys {
				m[k.Name] = k.Value
			}
		}
		if i == at.Secret {
			m["kind"], m["apiVersion"], m["metadata"] = "Secret", "v1", map[string]any{}
		}
		m[p[i].Name] = v
		v = m
	}
	return v
}

func unwrap(p merge.Path, v any, was merge.Opt) merge.Opt {
	if !was.Set {
		return was
	}
	for _, s := range p {
		switch c := v.(type) {
		case map[string]any:
			v = c[s.Name]
		case []any:
			v = c[0]
		default:
			return merge.Some(v) // a parent hides it as a whole
		}
	}
	return merge.Some(v)
}
