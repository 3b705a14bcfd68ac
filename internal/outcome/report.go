package outcome

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// APIVersion and Kind of a report. A later version of the program may add fields.
const (
	APIVersion = "kubectl-merge.dev/v1alpha1"
	Kind       = "Outcome"
)

// Object is the outcome of one object, as a report has it.
type Object struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Namespace  string         `json:"namespace,omitempty"`
	Name       string         `json:"name"`
	Outcome    write.Outcome  `json:"outcome"`
	RolledBack write.Outcome  `json:"rolledBack,omitempty"` // what its rollback then did to it
	Impact     *impact.Impact `json:"impact,omitempty"`
	Changes    []Change       `json:"changes,omitempty"` // of an object that existed
	Notes      []diff.Note    `json:"notes,omitempty"`
	Error      string         `json:"error,omitempty"`
	Reason     string         `json:"reason,omitempty"` // reason that it was kept, or not written
	Requests   int            `json:"requests"`
	Seconds    float64        `json:"seconds"` // duration of these requests
}

// Change is one step from live to what was, or would be, written. Values are masked.
type Change struct {
	Path   string `json:"path"`
	Op     string `json:"op"` // add, replace, remove or order
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// Report collects the outcomes of a run's objects, one by one, since the run may drop the details
// of an object once it is reported.
type Report struct {
	ShowSecrets bool
	RolledBack  map[string]write.Outcome // by the names of objects
	seen        map[*run.Item]Object
}

// Add takes an item that is done, and its notes.
func (r *Report) Add(item *run.Item, notes []diff.Note) {
	if r.seen == nil {
		r.seen = map[*run.Item]Object{}
	}
	r.seen[item] = Object{Changes: r.changes(item), Notes: notes}
}

// changes returns those of an object that existed before and exists after.
func (r *Report) changes(item *run.Item) (out []Change) {
	p := item.Result.Planned
	if p.Action != apply.Change || p.Live == nil || p.Final == nil || item.Result.Outcome == write.Unchanged {
		return nil
	}
	live, final := any(p.Live), any(p.Final)
	if !r.ShowSecrets {
		live, final = redact.Mask(live, final, p.Sensitive, p.Value)
	}
	return object.Each(merge.Diff(configured(live), configured(final), p.Type), newChange)
}

// configured returns an object without what a run writes beside the configuration: the last-applied
// annotation, and managedFields where it moves from client-side to server-side apply.
func configured(obj any) any {
	obj, _ = lastapplied.Strip(lastapplied.Without(obj), false)
	return obj
}

func newChange(c merge.Change) Change {
	out := Change{Path: c.Path.String(), Op: "replace", Before: c.Old.Value, After: c.New.Value}
	switch {
	case c.Op == merge.OpOrder:
		out.Op, out.Before, out.After = "order", merge.Texts(c.OldOrder), merge.Texts(c.NewOrder)
	case c.Op == merge.OpRemove:
		out.Op = "remove"
	case !c.Old.Set:
		out.Op = "add"
	}
	return out
}

// document is the report as written.
type document struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	DryRun     bool     `json:"dryRun"`
	Target     Target   `json:"target"`
	Seconds    float64  `json:"seconds"`
	Summary    any      `json:"summary"` // objects, and how many of each outcome
	Objects    []Object `json:"objects"`
	Error      string   `json:"error,omitempty"` // about no single object
}

// Write writes the report of a run as indented JSON. Values of Secrets are blanked in errors.
func (r *Report) Write(w io.Writer, e Ended, secrets *redact.Values) error {
	p, s, became := e.Plan, Summarize(e), e.Became()
	d := document{APIVersion: APIVersion, Kind: Kind, DryRun: s.DryRun, Target: s.Target, Seconds: round(s.Time.Seconds()), Summary: s.counts(), Objects: []Object{}}
	for _, item := range slices.Concat(p.Items, p.Others) {
		d.Objects = append(d.Objects, r.objectOf(item, became(item), secrets))
	}
	if err := cmp.Or(p.Err, e.Refused); err != nil {
		d.Error = secrets.Blank(err.Error())
	}
	return escape.WriteJSON(w, d, "  ")
}

func (r *Report) objectOf(item *run.Item, became write.Outcome, secrets *redact.Values) Object {
	o := r.seen[item]
	t := item.Target
	o.APIVersion, o.Kind, o.Namespace, o.Name = t.GroupVersion(), t.Kind, t.Namespace, t.Name
	o.Outcome, o.RolledBack = became, r.RolledBack[t.String()]
	o.Requests, o.Seconds = item.Meter.Requests(), round(item.Meter.Time().Seconds())
	if i := item.Impact(); !became.Left() && i.Word != impact.None {
		o.Impact = &i
	}
	for _, err := range []error{item.Err, item.Late} {
		if err != nil {
			o.Error = strings.TrimPrefix(secrets.Blank(err.Error()), t.String()+": ")
		}
	}
	if o.Error == "" {
		o.Reason = item.Reason()
	}
	return o
}

// round returns a time in seconds to the millisecond.
func round(seconds float64) float64 { return float64(int64(seconds*1000+0.5)) / 1000 }
