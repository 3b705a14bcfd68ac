package redact

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

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
