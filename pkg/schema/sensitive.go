package schema

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// Sensitive are the fields of an object that rules call sensitive; nil where none does.
func (rs Rules) Sensitive(o Object) redact.Fields {
	var paths []merge.Path
	for _, r := range rs.For(o) {
		if r.Sensitive {
			paths = append(paths, r.Path)
		}
	}
	return below(paths)
}

// below is what a step leads to of the paths.
func below(paths []merge.Path) redact.Fields {
	if len(paths) == 0 {
		return nil
	}
	return func(s merge.Step) (whole bool, rest redact.Fields) {
		var left []merge.Path
		for _, p := range paths {
			switch {
			case !stepFits(p[0], s):
			case len(p) == 1:
				whole = true
			default:
				left = append(left, p[1:])
			}
		}
		return whole, below(left)
	}
}
