package laws

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// losersOf lists the fields that local's variant of the group excludes and that
// local does not state itself; nil where local asks for no variant.
//
// Rules: docs/semantics.md#the-rules ("Fields that exclude each other"); KEP-1027 for the discriminator.
func losersOf(t *merge.Type, g merge.OneOf, o, l, v map[string]any) []string {
	allowed, asked := variant(t, g, o, l)
	if !asked {
		return nil
	}
	var out []string
	for _, name := range g.Fields {
		if l[name] == nil && !slices.Contains(allowed, name) {
			out = append(out, name)
		}
	}
	// What live calls its variant must not contradict the one that local states.
	if d := g.Discriminator; d != "" && l[d] == nil && len(allowed) > 0 {
		if word, ok := v[d].(string); ok && !slices.Contains(allowed, g.Selects[word]) {
			out = append(out, d)
		}
	}
	return out
}

// variant says which fields of the group local allows, and whether it asks for a
// variant at all: by the discriminator, by giving it up, or by stating one.
func variant(t *merge.Type, g merge.OneOf, o, l map[string]any) (allowed []string, asked bool) {
	var stated, filled []string
	for _, name := range g.Fields {
		f := t.Fields[name]
		if l[name] != nil {
			stated = append(stated, name)
			if !(f.ZeroIsAbsent && zero(l[name], f.Type)) {
				filled = append(filled, name)
			}
		}
	}
	if d := g.Discriminator; d != "" {
		word, ok := l[d].(string)
		if !ok && o[d] != nil && len(stated) == 0 {
			word, ok = g.Fallback, true
		}
		if ok && (word != "" || !t.Fields[d].ZeroIsAbsent) {
			return []string{g.Selects[word]}, true
		}
		if !g.Displaces {
			return nil, false
		}
	}
	if len(filled) == 0 {
		filled = stated // an empty value is a variant where it stands alone
	}
	return filled, len(filled) > 0
}
