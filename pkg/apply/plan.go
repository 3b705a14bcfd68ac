package apply

import (
	"bytes"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Plan is the planned write of one object. It does not change, and is safe for concurrent use.
type Plan struct {
	planned apply.Planned
	manager string
	ignored []merge.Path
}

// Request is a write, as data.
type Request struct {
	// Type of Body, for a Patch. "" is Create: Body is then the new object.
	Type types.PatchType

	// Body is JSON, numbers digit for digit; nil where there is nothing to write. Secrets are not
	// masked in it.
	Body []byte

	// Manager is the field manager to write with.
	Manager string

	// Force: a server-side apply takes fields over from others, as planned. Send it as it is: the
	// server refuses what others have taken since.
	Force bool

	// Again: this write only prepares another one, since server-side apply takes over what was
	// applied from the client's side. Plan again with the object that the server returns.
	Again bool
}

// Changed reports whether anything has to be written.
func (p *Plan) Changed() bool { return p.planned.Action != apply.Nothing }

// Request returns the write. A patch is bound to the resourceVersion of the live object that was
// planned with: the server refuses it with 409 Conflict once another client has written; plan again
// then. It is an error if live had none.
func (p *Plan) Request() (Request, error) {
	r, err := p.planned.Request(false)
	if err != nil {
		return Request{}, fmt.Errorf("%s: %w", p.planned.Subject.Name, err)
	}
	again := p.planned.Applying != nil && p.planned.Applying.Owners != nil && p.Changed()
	return Request{Type: r.Type, Body: bytes.TrimSpace(r.Body), Manager: p.manager, Force: r.Force, Again: again}, nil
}

// Object returns the object as it is after the write, for Create or for a comparison. What the API
// server fills in is not in it. Secrets are not masked. It is an error if a number in it fits
// neither int64 nor float64.
func (p *Plan) Object() (*unstructured.Unstructured, error) {
	return object.Object{Value: p.planned.Final}.Unstructured()
}

// Applied returns what to give to Planner.Since the next time, once the write has succeeded. The
// values of a Secret are blanked in it. nil where the Planner keeps it elsewhere.
func (p *Plan) Applied() []byte { return []byte(p.planned.Record) }

// Warnings reports, one per line of a log, what in desired has no effect: fields that the kind
// does not have or that are the server's, and a record of what was applied that cannot be read.
func (p *Plan) Warnings() []string {
	out := object.Each(p.ignored, func(path merge.Path) string { return path.String() + ": is the server's, and is not applied" })
	return append(out, p.planned.Problems...)
}

// most is the length of Plan.String in bytes: the API takes 1,024 in the note of an Event.
const most = 1000

// String returns the changes on one line that has room in an Event; "unchanged" where there are
// none.
func (p *Plan) String() string {
	var b strings.Builder
	changes := p.Changes()
	for i, c := range changes {
		text := c.String()
		rest := fmt.Sprintf("; and %d more", len(changes)-i)
		if b.Len()+len("; ")+len(text)+len(rest) > most {
			return strings.TrimPrefix(b.String()+rest, "; and ")
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(text)
	}
	if len(changes) == 0 {
		return "unchanged"
	}
	return b.String()
}

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
