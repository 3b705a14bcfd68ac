package apply

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Answer is the user's answer about one value.
type Answer struct {
	Path   merge.Path
	Choice merge.Choice

	// Live is the value that the user saw there. An answer about one value does not apply
	// to the next: where live has another by now, the disagreement is open again.
	Live merge.Opt

	// Always: the answer is not about a disagreement but about what is written, and holds
	// whatever live has by now.
	Always bool
}

// Answered returns the answers that still hold for a live object, as rules of a policy; nil
// where none holds.
func (s Subject) Answered(live map[string]any, typ *merge.Type) (rules []merge.Rule) {
	for _, a := range s.Answers {
		if !a.holds(live, typ) {
			continue
		}
		at := a.Path.String()
		rules = append(rules, merge.Rule{
			Match:  func(p merge.Path) bool { return len(p) == len(a.Path) && p.String() == at },
			Choice: a.Choice,
			Always: a.Always,
		})
	}
	return rules
}

func (a Answer) holds(live map[string]any, typ *merge.Type) bool {
	if a.Always {
		return true
	}
	v, found := merge.Lookup(live, a.Path, typ)
	found = found && v != nil
	return found == a.Live.Set && (!found || merge.Equal(v, a.Live.Value, nil))
}
