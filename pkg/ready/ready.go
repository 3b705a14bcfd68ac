// Package ready judges from data whether an object does what it was configured for,
// is on its way, or will never get there by itself. It refuses to fetch or to watch
// anything: objects come in as exact JSON values (merge.ReadJSON), and nothing is
// remembered but what a History holds.
//
// Rules: docs/wait.md#when-an-object-is-ready, and the API conventions on
// observedGeneration and conditions.
package ready

import (
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// State is how far an object is.
type State string

// The states. Skipped is an object that asks not to be waited for: suspended, paused,
// or excluded by a rule.
const (
	Waiting State = "waiting"
	Ready   State = "ready"
	Failed  State = "failed"
	Skipped State = "not waited for"
)

// Problem is what keeps an object from being ready.
type Problem struct {
	Reason    string // one word as the API has it: ImagePullBackOff, Progressing; may be ""
	Message   string // the server's, or the program's own where it has none
	Pod       string // the pod that it is about; "" where it is none
	Container string // the container in that pod; "" where it is none
}

// String is the problem in one line: reason, pod and container, message. What is not
// there is left out.
func (p Problem) String() string {
	var parts []string
	where := ""
	switch {
	case p.Pod != "" && p.Container != "":
		where = "pod " + p.Pod + ", container " + p.Container
	case p.Pod != "":
		where = "pod " + p.Pod
	}
	for _, part := range []string{p.Reason, where, p.Message} {
		if part != "" && part != reasonProgressing {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Verdict is what is known about an object at one moment.
type Verdict struct {
	State State

	// Problem is why the object is not ready; in states Ready and Skipped, what is
	// worth mentioning.
	Problem

	// Suspects are problems of an object in state Waiting that may pass by themselves:
	// each that lasts without a break for the patience of a History is a failure.
	Suspects []Problem

	// Unobserved: nobody has written the object's status yet.
	Unobserved bool
}

// Subject is an object with what belongs to it. Only Object is needed; the less else
// there is, the less is known about why it is not ready.
type Subject struct {
	Object      map[string]any
	Type        *merge.Type      // schema of a custom resource; nil where nobody knows it
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
// that is being deleted has failed, whatever its kind: it is about to disappear.
func (r Row) Judge(s Subject) Verdict {
	switch {
	case s.Rule.Skip:
		return Verdict{State: Skipped, Problem: Problem{Message: "excluded by a rule"}}
	case text(s.Object, "metadata", "deletionTimestamp") != "":
		return failed("Deleted", leaving(s.Object))
	case s.Rule.Path != nil:
		return s.Rule.judge(s.Object)
	}
	s.pods = r.newest
	return r.judge(s)
}

// leaving describes an object that is being deleted, and what it waits for.
func leaving(obj map[string]any) string {
	var finalizers []string
	list, _ := at(obj, "metadata", "finalizers").([]any)
	for _, f := range list {
		if name, ok := f.(string); ok {
			finalizers = append(finalizers, name)
		}
	}
	if len(finalizers) == 0 {
		return "is being deleted"
	}
	return "is being deleted, and waits for " + strings.Join(finalizers, ", ")
}

// ready is the verdict on an object that is; remark may be "".
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

// The reasons of this package's own; all others are the API's.
const (
	reasonUnobserved  = "NotObserved"
	reasonProgressing = "Progressing"
)

// unobserved is the verdict on an object whose controller has not written, or not
// brought up to date, its status; what is missing is in message.
func unobserved(message string, never bool) Verdict {
	v := waiting(reasonUnobserved, message)
	v.Unobserved = never
	return v
}
