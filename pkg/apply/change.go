package apply

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Change is one change of an object, in a form for logs and Events: values are short, on one line,
// and masked where they are a Secret's.
type Change struct {
	// Op is set, remove, order (of a list's entries), create (the object), or record (no value
	// changes, only what is known of the last apply).
	Op   string `json:"op"`
	Path string `json:"path,omitempty"` // spec.template.spec.containers[name=web].image
	From string `json:"from,omitempty"` // live's value; "" where it has none
	To   string `json:"to,omitempty"`   // desired's value; "" where it is removed

	// Owner is the field manager that had set live's value, "" where that is not known.
	Owner string `json:"owner,omitempty"`
	Why   string `json:"why"`
}

// String returns the change on one line:
// spec.replicas: 9 -> 3 (set by kubectl-scale): was changed since it was applied
func (c Change) String() string {
	var b strings.Builder
	switch {
	case c.Path == "":
		return c.Op + ": " + c.Why
	case c.Op == "order":
		b.WriteString(c.Path + ": order")
	case c.To == "":
		b.WriteString(c.Path + ": " + c.From + " removed")
	case c.From == "":
		b.WriteString(c.Path + ": " + c.To + " added")
	default:
		b.WriteString(c.Path + ": " + c.From + " -> " + c.To)
	}
	if c.Owner != "" {
		b.WriteString(" (set by " + c.Owner + ")")
	}
	return b.String() + ": " + c.Why
}

// ConflictError is the error of a plan in which desired and live disagree, and the policy leaves
// that to the caller.
type ConflictError struct {
	Object    string   // deployment.apps/web
	Conflicts []Change // From is live's value, To is desired's
}

// Error names the object and the fields with live's owners, and no value.
func (e *ConflictError) Error() string {
	fields := make([]string, len(e.Conflicts))
	for i, c := range e.Conflicts {
		if fields[i] = c.Path; c.Owner != "" {
			fields[i] += " (set by " + c.Owner + ")"
		}
	}
	return e.Object + ": desired and live disagree: " + strings.Join(fields, ", ")
}

// Changes returns what changes, in the order of the paths; nil where nothing does.
func (p *Plan) Changes() []Change {
	o := p.planned
	switch {
	case o.Action == apply.Nothing:
		return nil
	case o.Action == apply.Create:
		return []Change{{Op: "create", Why: "it is not there"}}
	case len(o.Changes) == 0:
		return []Change{{Op: "record", Why: "only what is known of the last apply changes"}}
	}
	r := reporting(o)
	return object.Each(o.Changes, func(c merge.Change) Change { return r.row(c.Op, c.Path, c.New, c.Old) })
}

func conflicts(o apply.Planned) error {
	r := reporting(o)
	e := &ConflictError{Object: o.Subject.Name}
	for _, d := range o.Conflicts {
		op := merge.OpSet
		if !d.Local.Set {
			op = merge.OpRemove
		}
		e.Conflicts = append(e.Conflicts, r.row(op, d.Path, d.Local, d.Live))
	}
	return e
}

// reported makes the rows of one plan.
type reported struct {
	diff.Report
	owners  merge.Owners
	settled map[string]merge.Disagreement
	removed map[string]merge.Removal
}

func reporting(o apply.Planned) reported {
	r := reported{
		Report:  diff.Report{Local: o.Value, Live: o.Live, Plan: o.Plan, Type: o.Type, Sensitive: o.Sensitive}.Looked(),
		owners:  ownership.Of(o.Live),
		settled: map[string]merge.Disagreement{},
		removed: map[string]merge.Removal{},
	}
	for _, d := range append(o.Settled[:len(o.Settled):len(o.Settled)], o.Conflicts...) {
		r.settled[d.Path.String()] = d
	}
	for _, gone := range o.Removed {
		r.removed[gone.Path.String()] = gone
	}
	return r
}

func (r reported) row(op merge.Op, path merge.Path, local, live merge.Opt) Change {
	c := Change{Op: op.String(), Path: path.String()}
	to, from := r.Masked(path, local, live)
	c.From, c.To = spelled(from), spelled(to)
	if owners := ownership.At(r.owners, path); live.Set && len(owners) > 0 {
		c.Owner = diff.OwnerName(&owners[0])
	}
	c.Why = r.why(op, c.Path, live.Set)
	return c
}

func spelled(o merge.Opt) string {
	if !o.Set {
		return ""
	}
	return diff.Value(o.Value)
}

func (r reported) why(op merge.Op, path string, was bool) string {
	d, disagree := r.settled[path]
	gone := r.removed[path]
	switch {
	case disagree && d.Kind == merge.Dropped:
		return "desired no longer states it, and it was changed since it was applied"
	case disagree && d.Kind == merge.Drift:
		return "was changed since it was applied"
	case disagree && d.Kind == merge.Both && d.Original.Set:
		return "desired has changed, and so has live"
	case disagree && d.Kind == merge.Both:
		return "differs, and was not applied before"
	case op == merge.OpOrder:
		return "desired has another order"
	case op == merge.OpRemove && len(gone.By) > 0:
		return "desired states " + gone.By.String()
	case op == merge.OpRemove && gone.Cause == merge.CauseNull:
		return "desired states null"
	case op == merge.OpRemove && gone.Cause == merge.CauseDisplaced:
		return "excluded by what else changes"
	case op == merge.OpRemove:
		return "desired no longer states it"
	case was:
		return "desired has changed"
	}
	return "desired states it, and live does not have it"
}
