package apply

import (
	"context"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// UserRules holds the rules of a run, and records which of them had something to decide.
// They may be used by several goroutines.
type UserRules struct {
	File  string // as the user named it; "" where there is none
	Rules schema.Rules

	// Values, which may be nil, receives the values of the fields that rules call
	// sensitive. They are then blanked in texts of others about the objects.
	Values *redact.Values

	mu   sync.Mutex
	used map[int]bool // nil: no object was merged
}

// CheckRules returns an error for rules that can match nothing: a path that the kind of an
// object does not have, and a misspelt kind. served reports whether a server has a kind
// that neither the objects nor the built-in types have; nil where no server can be asked.
// The error names file and line.
func (p *Planner) CheckRules(ctx context.Context, objects []object.Object, served func(kind string) bool) error {
	r := p.Rules
	if r == nil {
		return nil
	}
	seen := map[string]bool{}
	var typed []schema.Typed
	for _, o := range objects {
		name := o.APIVersion() + " " + o.Kind()
		if seen[name] {
			continue
		}
		seen[name] = true
		t, ok := schema.Builtin(o.Group(), o.Version(), o.Kind())
		if !ok && p.Schemas != nil {
			var err error
			if t, err = p.Schemas(ctx, o.Group(), o.Version(), o.Kind()); err != nil {
				return err
			}
		}
		typed = append(typed, schema.Typed{Group: o.Group(), Kind: o.Kind(), Type: r.Rules.Shape(t)})
	}
	return r.Rules.Check("--rules "+r.File, typed, served)
}

// look records which rules have something to decide in an object.
func (r *UserRules) look(s Subject, triple merge.Triple, t *merge.Type) {
	if r == nil {
		return
	}
	o := s.ruled(triple)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used == nil {
		r.used = map[int]bool{}
	}
	r.Rules.Found(o, t, func(i int) { r.used[i] = true })
}

// Sensitive returns the fields of an object that the rules have hidden; nil: none. triple
// answers the rules' conditions.
func (p *Planner) Sensitive(s Subject, triple merge.Triple) redact.Fields {
	if p.Rules == nil {
		return nil
	}
	fields := p.Rules.Rules.Sensitive(s.ruled(triple))
	for _, side := range []any{triple.Original, triple.Local, triple.Live} {
		p.Rules.Values.AddFields(side, fields)
	}
	return fields
}

// All returns the rules; nil where there are none.
func (r *UserRules) All() schema.Rules {
	if r == nil {
		return nil
	}
	return r.Rules
}

// Unused returns the rules that had nothing to decide in any object merged so far; nil
// where none was merged.
func (r *UserRules) Unused() (out []schema.Rule) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, rule := range r.Rules {
		if r.used != nil && !r.used[i] {
			out = append(out, rule)
		}
	}
	return out
}

// ruled returns the object in the form that rules are matched against.
func (s Subject) ruled(triple merge.Triple) schema.Object {
	return schema.Object{Group: s.Group(), Kind: s.Kind(), Namespace: s.Namespace(), Name: s.Object.Name(), Triple: triple}
}

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
