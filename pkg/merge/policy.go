package merge

import (
	"fmt"
	"strings"
)

// Choice says how a policy settles a disagreement.
type Choice uint8

// The choices. For a Dropped disagreement TakeLocal removes the value and
// TakeLive keeps it.
const (
	TakeLocal Choice = iota
	TakeLive
	LeaveConflict
	TakeOriginal // only in a Rule: the answer "o" of the ask policy
)

// Policy decides which side wins (docs/semantics.md#which-side-wins). It decides by what has changed
// since the original: only local, only live, both, or live where local has removed the value.
type Policy struct {
	Name                         string
	Update, Drift, Both, Dropped Choice

	// Rules decide before the policy does. The first that matches a path applies to it and
	// to all below it.
	Rules []Rule

	// Texts lists where texts are merged line by line instead of as one value. The first
	// that matches a path applies.
	Texts []TextRule

	// ClearNulls: a null in live is removed where no other side states a value (kustomize's
	// file merges). Otherwise it stays as the server gave it.
	ClearNulls bool

	// Literal: no server has filled live in (live is a file). A value that is not split, as
	// a list without keys, is then taken from one side unchanged, with its nulls. This
	// holds also where live has all of it and more.
	Literal bool

	// ByKey: an object or map that local drops is removed key by key, and the keys that only live
	// has stay (kustomize's file merges). Otherwise only declared maps are removed key by key.
	ByKey bool

	// Prepend puts new list entries first rather than last, where the policy keeps
	// live's order.
	Prepend bool
}

// Rule overrides the policy at the paths that Match accepts.
type Rule struct {
	Name   string // as reported to the user
	Match  func(Path) bool
	Choice Choice

	// Always: also where there is no disagreement, since live has not changed. A value
	// given to live then stays unchanged, whatever local states.
	Always bool
}

// RuleAt returns the rule that decides at a path: the first one that matches the path or,
// of what contains it, the outermost. It returns false where no rule does.
func RuleAt(rules []Rule, p Path) (Rule, bool) {
	for i := range p {
		for _, r := range rules {
			if r.Match(p[:i+1]) {
				return r, true
			}
		}
	}
	return Rule{}, false
}

// TextRule makes the merge split a text into its lines.
type TextRule struct {
	Name  string // as reported to the user
	Match func(Path) bool

	// Merge merges what changed from base to local into live. In lines that both have changed,
	// localWins has local's form and liveWins live's. clean: there are no such lines.
	Merge func(base, local, live string) (localWins, liveWins string, clean bool)
}

// Policies lists the built-in policies, the default first. ask is not among them: it is
// strict, with the user's answers as rules. To add a policy is to add a file with
//
//	var _ = register(Policy{Name: "…", …})
//
// Help, completion and errors follow from the row.
var Policies = []Policy{
	{Name: "apply", Drift: TakeLocal, Both: TakeLocal, Dropped: TakeLocal},
}

var (
	_ = register(Policy{Name: "merge3", Drift: TakeLive, Both: TakeLocal, Dropped: TakeLocal, ClearNulls: true})
	_ = register(Policy{Name: "diff3", Drift: TakeLive, Both: LeaveConflict, Dropped: LeaveConflict})
	_ = register(Policy{Name: "strict", Drift: LeaveConflict, Both: LeaveConflict, Dropped: LeaveConflict})
	_ = register(Policy{Name: "live", Drift: TakeLive, Both: TakeLive, Dropped: TakeLive})
)

// register adds a row to Policies, when the program starts.
func register(p Policy) bool {
	Policies = append(Policies, p)
	return true
}

// PolicyNamed returns the built-in policy of that name; the error lists the known names.
func PolicyNamed(name string) (Policy, error) {
	var names []string
	for _, p := range Policies {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Policy{}, fmt.Errorf("unknown policy %q; there are %s", name, strings.Join(names, ", "))
}

func (p Policy) choice(k DisagreementKind) Choice {
	switch k {
	case Update:
		return p.Update
	case Drift:
		return p.Drift
	case Both:
		return p.Both
	}
	return p.Dropped
}
