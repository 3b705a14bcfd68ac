// Package outcome summarizes the outcome of a whole run: in one line for people, and object by
// object for programs. It reads the run's value and prints nothing.
package outcome

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
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
