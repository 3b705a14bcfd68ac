package impact

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
)

// Fixed returns the immutable fields that a plan changes, as far as they are known without asking
// the server. nil for custom resources, and for fields that depend on more of the object's state.
func Fixed(p apply.Planned) (out []string) {
	if p.Type == nil || p.Live == nil {
		return nil
	}
	for _, f := range p.Type.Fixed {
		if name := f.String(); !slices.Contains(out, name) && f.Forbids(p.Type, p.Live, p.Final) {
			out = append(out, name)
		}
	}
	return out
}
