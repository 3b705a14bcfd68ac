// Package ready judges from data whether an object does what it was configured for, is in
// progress, or needs a change to get there. It refuses to fetch or to watch anything:
// objects come in as exact JSON values (merge.ReadJSON), and only a History remembers
// earlier verdicts.
//
// Rules: docs/wait.md#when-an-object-is-ready, and the API conventions on
// observedGeneration and conditions.
package ready

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// State says how far an object is.
type State string

// The states. Skipped is an object that is not to be waited for: suspended, paused, or
// excluded by a rule.
const (
	Waiting State = "waiting"
	Ready   State = "ready"
	Failed  State = "failed"
	Skipped State = "not waited for"
)

// Problem describes what keeps an object from being ready.
type Problem struct {
	Reason    string // one word as the API has it: ImagePullBackOff, Progressing; may be ""
	Message   string // the server's, or the program's own where it has none
	Pod       string // the pod that it is about; "" for none
	Container string // the container in that pod; "" where it is none
}

// String returns the problem in one line: reason, pod and container, message. Empty parts
// are left out.
func (p Problem) String() string {
	where := ""
	switch {
	case p.Pod != "" && p.Container != "":
		where = "pod " + p.Pod + ", container " + p.Container
	case p.Pod != "":
		where = "pod " + p.Pod
	}
	parts := slices.DeleteFunc([]string{p.Reason, where, p.Message}, func(part string) bool {
		return part == "" || part == reasonProgressing || part == ReasonNotFound
	})
	return strings.Join(parts, ": ")
}

// Verdict states what is known about an object at one moment.
type Verdict struct {
	State State

	// Problem says why the object is not ready; in states Ready and Skipped, it is a
	// remark.
	Problem

	// Suspects are problems of an object in state Waiting that may pass without a change.
	// One that lasts without a break for the patience of a History is a failure.
	Suspects []Problem

	// Unobserved: the object's status has not been written yet.
	Unobserved bool
}

// Subject is an object with its related objects. Only Object is needed; without the others,
// less is known about why it is not ready.
type Subject struct {
	Object      map[string]any
	Type        *merge.Type      // schema of a custom resource; nil where it is unknown
	ReplicaSets []map[string]any // those that a Deployment controls, in any order
	Pods        []map[string]any // those that the object, or its ReplicaSets, control, in any order
	Events      []map[string]any // those about the object itself, in any order
	Class       map[string]any   // StorageClass of a PersistentVolumeClaim
	Rule        Rule
	Now         time.Time

	pods func(Subject) []map[string]any // those of the newest revision, by the kind's row
}

// Judge reports how far an object is, by the row of its kind, see Row.Judge.
func Judge(s Subject) Verdict { return s.row().Judge(s) }

// Judge reports how far an object of the row's kind is, by its rule, else by the row. One
// that is being deleted has failed, whatever its kind, since it is about to disappear.
func (r Row) Judge(s Subject) Verdict {
	switch {
	case s.Rule.Skip:
		return Verdict{State: Skipped, Problem: Problem{Message: "excluded by a rule"}}
	case merge.At[string](s.Object, "metadata", "deletionTimestamp") != "":
		return failed("Deleted", leaving(s.Object))
	case s.Rule.Path != nil:
		return s.Rule.judge(s.Object)
	}
	if v, stale := stale(s.Object); stale && r.observed {
		return v
	}
	s.pods = r.newest
	return r.judge(s)
}

// leaving describes an object that is being deleted, and what it waits for.
func leaving(obj map[string]any) string {
	finalizers := object.Object{Value: obj}.Finalizers()
	if len(finalizers) == 0 {
		return "is being deleted"
	}
	return "is being deleted, and waits for " + strings.Join(finalizers, ", ")
}

// ready returns the verdict on an object that is ready; remark may be "".
func ready(remark string) Verdict { return Verdict{State: Ready, Problem: Problem{Message: remark}} }

func skipped(reason, message string) Verdict {
	return Verdict{State: Skipped, Problem: Problem{Reason: reason, Message: message}}
}

func failed(reason, message string) Verdict {
	return Verdict{State: Failed, Problem: Problem{Reason: reason, Message: message}}
}

func waiting(reason, message string) Verdict {
	return Verdict{State: Waiting, Problem: Problem{Reason: reason, Message: message}}
}

// The reasons that this package defines; all others are the API's.
const (
	reasonUnobserved  = "NotObserved"
	reasonProgressing = "Progressing"
	ReasonNotFound    = "NotFound" // a wait's
)

// unobserved returns the verdict on an object whose controller has not written or updated
// its status; message says what is missing.
func unobserved(message string, never bool) Verdict {
	v := waiting(reasonUnobserved, message)
	v.Unobserved = never
	return v
}

// History remembers, from verdict to verdict, since when each problem of an object lasts.
// The zero value is for an object without a verdict yet.
type History struct {
	since   map[string]time.Time // by Problem.key
	unknown time.Time            // since when its status is not written
}

// Next takes a verdict on the object at time now and returns what to report. A problem that
// has lasted for patience without a break is a failure. A status that has not been written
// by then leads to a question about its controller. The History that it returns is for the
// next verdict; h is not modified.
func (h History) Next(v Verdict, now time.Time, patience time.Duration) (History, Verdict) {
	next := History{since: make(map[string]time.Time, len(v.Suspects))}
	for _, p := range v.Suspects {
		began, ok := h.since[p.key()]
		if !ok {
			began = now
		}
		next.since[p.key()] = began
		if v.State == Waiting && now.Sub(began) >= patience {
			v.State, v.Problem = Failed, p
		}
	}
	if v.Unobserved {
		if next.unknown = h.unknown; next.unknown.IsZero() {
			next.unknown = now
		}
		if now.Sub(next.unknown) >= patience {
			v.Message = "its status was never written: is its controller running?"
		}
	}
	return next, v
}

// key identifies a problem: two with the same key are one that lasts.
func (p Problem) key() string {
	class := p.Reason
	if t, ok := trouble(p.Reason); ok && t.Class != "" {
		class = t.Class
	}
	return strings.Join([]string{class, p.Pod, p.Container}, "\x00")
}

// Same reports whether two verdicts read as one: those of one problem of a pod, and those
// of one row of Troubles. Counts in the server's message do not matter, nor which of many
// pods that could not be created it names.
func (v Verdict) Same(other Verdict) bool {
	if v.State != other.State || v.key() != other.key() {
		return false
	}
	_, known := trouble(v.Reason)
	return known || v.Pod != "" || v.Message == other.Message
}

// moment returns a time below obj; zero where there is none.
func moment(obj map[string]any, path ...string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, merge.At[string](obj, path...)) // zero with an error
	return t
}

func isTrue(condition map[string]any) bool  { return merge.At[string](condition, "status") == "True" }
func isFalse(condition map[string]any) bool { return merge.At[string](condition, "status") == "False" }

// stated returns the cause that a condition gives; otherwise where it gives none.
func stated(c map[string]any, otherwise string) string {
	return cmp.Or(merge.At[string](c, "message"), otherwise)
}

// because returns a condition's reason; its type where it has none.
func because(c map[string]any) string {
	return cmp.Or(merge.At[string](c, "reason"), merge.At[string](c, "type"))
}

// stale reports that the status is about an older generation of the object, and how far it
// is; the verdict is Unobserved where there is no status.observedGeneration.
func stale(obj map[string]any) (v Verdict, stale bool) {
	wanted := object.Int(obj, 0, "metadata", "generation")
	seen := object.Int(obj, -1, "status", "observedGeneration")
	switch {
	case seen < 0:
		return unobserved("its status is not written yet", true), true
	case seen < wanted:
		return unobserved(fmt.Sprintf("its controller has not seen its latest change yet (generation %d of %d)", seen, wanted), false), true
	}
	return Verdict{}, false
}

// plural returns a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}
