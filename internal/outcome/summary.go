// Package outcome summarizes the outcome of a whole run: in one line for people, and object by
// object for programs. It reads the run's value and prints nothing.
package outcome

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// order of the words in a summary.
var order = []write.Outcome{write.Created, write.Configured, write.Disowned, write.Recreated, write.Unchanged, write.Unsettled, write.Failed, write.Pruned, write.Deleted, write.Kept, write.NotPruned}

// Target is the destination of a run.
type Target struct {
	Context    string   `json:"context,omitempty"`    // of the kubeconfig; "" if none was used
	Server     string   `json:"server,omitempty"`     // the API server's address; "" offline
	Namespaces []string `json:"namespaces,omitempty"` // of the objects, in order of the input; none if all are cluster-scoped
}

// String names the target in a few words: "context prod, namespace shop".
func (t Target) String() string {
	where := "offline"
	switch {
	case t.Context != "":
		where = "context " + escape.Line(t.Context)
	case t.Server != "":
		where = "server " + escape.Line(t.Server)
	}
	switch n := len(t.Namespaces); {
	case n == 0:
		return where
	case n == 1:
		return where + ", namespace " + t.Namespaces[0]
	default:
		return where + ", namespaces " + suggest.Few(t.Namespaces, 3)
	}
}

// Summary is the outcome of all objects of a run.
type Summary struct {
	Objects int                   // of the input
	Counts  map[write.Outcome]int // of those, and of objects that the input does not have any more
	DryRun  bool
	Time    time.Duration
	Target  Target
}

// Ended is a run that has ended, or a preview of one.
type Ended struct {
	Plan    *run.Plan
	Objects int // of the input; 0: those of the plan without the ones that the input no longer has
	DryRun  bool
	Refused error // why nothing is written; nil: nothing refuses the run as a whole
	Took    time.Duration
	Target  Target
}

// Summarize counts the outcomes, expected ones in a preview, of the objects of a run.
func Summarize(e Ended) Summary {
	s := Summary{Objects: cmp.Or(e.Objects, len(e.Plan.Items)), Counts: map[write.Outcome]int{}, DryRun: e.DryRun, Time: e.Took, Target: e.Target}
	became := e.Became()
	for _, item := range slices.Concat(e.Plan.Items, e.Plan.Others) {
		s.Counts[became(item)]++
	}
	return s
}

// Became returns a function that returns the outcome of an item whose run has ended; in a dry run, also of one that
// conflicts of others would keep from being written. Of a refused run, none is.
func (e Ended) Became() func(*run.Item) write.Outcome {
	var waiting map[*run.Item]bool
	if e.DryRun {
		waiting = e.Plan.Waiting()
	}
	return func(item *run.Item) write.Outcome {
		refused := e.Refused != nil && item.Err == nil && item.Action().Writes()
		unreached := refused || waiting[item] || errors.As(item.Err, new(*run.NotReached)) || errors.Is(item.Err, run.ErrInterrupted)
		switch {
		case unreached && item.Surplus != nil:
			return write.NotPruned
		case unreached:
			return write.Unsettled
		case item.Err != nil, item.Late != nil:
			return write.Failed
		case item.Action() == apply.Keep:
			return write.Kept
		}
		return item.Result.Outcome
	}
}

// Total returns the number of objects, including those that the input no longer has.
func (s Summary) Total() (n int) {
	for _, some := range s.Counts {
		n += some
	}
	return n
}

// counts returns the numbers for programs.
func (s Summary) counts() map[string]int {
	out := map[string]int{"objects": s.Objects}
	for word, n := range s.Counts {
		out[string(word)] = n
	}
	return out
}

// MarshalJSON returns the form for programs: a line of --notes=json. It never fails in practice: a
// summary holds nothing that JSON cannot.
func (s Summary) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{
		"kind": "summary", "text": s.String(), "summary": s.counts(), "seconds": round(s.Time.Seconds()), "target": s.Target, "dryRun": s.DryRun,
	})
}

// Size returns the number of objects of the input: "12 objects".
func (s Summary) Size() string { return diff.Count(s.Objects, "object", "objects") }

// Count lists the counts: "1 created, 3 configured".
func (s Summary) Count() string { return diff.Counts(s.Counts, order) }

// String returns the summary in one line: "12 objects: 1 created, 3 configured, 8 unchanged in 1.2s
// (context prod, namespace shop)".
func (s Summary) String() string {
	dry := ""
	if s.DryRun {
		dry = "dry run; "
	}
	return fmt.Sprintf("%s: %s in %.1fs (%s%s)", s.Size(), s.Count(), s.Time.Seconds(), dry, s.Target)
}

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
	live, final := p.Configuration(p.Live), p.Configuration(p.Final)
	if !r.ShowSecrets {
		live, final = redact.Mask(live, final, p.Sensitive, p.Value, p.LiveSide())
	}
	return object.Each(merge.Diff(live, final, p.Type), newChange)
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
	switch reached, is := errors.AsType[*run.NotReached](item.Err); {
	case is:
		o.Error, o.Reason = "", reached.Reason()
	case o.Error == "":
		o.Reason = item.Reason()
	case became.Left():
		o.Error, o.Reason = "", o.Error
	}
	return o
}

// round returns a time in seconds to the millisecond.
func round(seconds float64) float64 { return float64(int64(seconds*1000+0.5)) / 1000 }
