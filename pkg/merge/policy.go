package merge

import (
	"fmt"
	"strings"
)

// Choice is what a policy does about a disagreement.
type Choice uint8

// The choices. For a Dropped disagreement TakeLocal removes the value and
// TakeLive keeps it.
const (
	TakeLocal Choice = iota
	TakeLive
	LeaveConflict
	TakeOriginal // only in a Rule: the answer "o" of the ask policy
)

// Policy decides which side wins (docs/semantics.md#which-side-wins), by what has changed since
// the original: only local, only live, both, or live where local has removed the value.
type Policy struct {
	Name                         string
	Update, Drift, Both, Dropped Choice

	// Rules decide before the policy does. The first that matches a path counts
	// for it and for all below it.
	Rules []Rule

	// Texts lists where texts are merged line by line instead of as one value. The first
	// that matches a path counts.
	Texts []TextRule

	// ClearNulls: a null in live is removed where nobody states a value (kustomize's
	// file merges); otherwise it stays as the server gave it.
	ClearNulls bool

	// Literal: no server has filled live in (live is a file). What is not split, a
	// list without keys for example, is then taken from one side as it stands there, nulls
	// included, also where live has all of it and more.
	Literal bool

	// ByKey: an object or map that local drops is removed key by key, and what only live has
	// in it stays (kustomize's file merges); otherwise only what is declared a map does.
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

	// Always: also where there is no disagreement, since live has not changed. What is
	// given to live then stays as it is there, whatever local states.
	Always bool
}

// RuleAt is the rule that decides at a path: the first one that matches the path or, of what it
// is in, the outermost; false where none does.
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

// TextRule has a text merged by its lines.
type TextRule struct {
	Name  string // as reported to the user
	Match func(Path) bool

	// Merge merges what changed from base to local into live. Of the lines that both have
	// changed, localWins has local's and liveWins live's; clean: there are none.
	Merge func(base, local, live string) (localWins, liveWins string, clean bool)
}

// Policies are the built-in policies, the default first. ask is none of them: it is strict,
// with the user's answers as rules. To add a policy is to add a file with
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

// PolicyNamed returns the built-in policy of that name; the error lists the
// names there are.
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
