package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// The values of --wait of a merge.
const (
	waitNone    = "none"
	waitWritten = "written"
	waitAll     = "all"
)

// waitAfter makes a run wait when everything is written.
//
// Unlike kubectl: whose --wait waits until deleted objects are gone.
func (c *call) waitAfter(s *session, notes *reporter) {
	if c.waits == waitNone {
		return
	}
	var rules schema.Rules
	if s.Planner.Rules != nil {
		rules = s.Planner.Rules.Rules
	}
	s.Wait = func(ctx context.Context, items []*run.Item) error {
		c.deadline()
		var objects []wait.Object
		for _, item := range items {
			if item.Result.Outcome.Written() || c.waits == waitAll && item.Result.Outcome == write.Unchanged {
				objects = append(objects, wait.Object{Target: item.Target, UID: item.UID, Rule: waitRule(rules, item.Target)})
			}
		}
		r := waitReport{call: c, notes: notes, stdout: c.output == ""}
		return r.wait(ctx, &wait.Waiter{API: s.api, Type: s.Planner.Schemas}, objects)
	}
}

// waitPhase is the phase that a terminal shows while objects are waited for.
const waitPhase run.Phase = "ready"

// waitReport prints the states of the objects that are waited for.
type waitReport struct {
	*call
	notes  *reporter
	stdout bool // objects that are ready get a line there, beside those of outcomes
}

// wait waits for the objects, reports their states, and adds the exit code to the error.
func (r waitReport) wait(ctx context.Context, w *wait.Waiter, objects []wait.Object) error {
	w.Timeout, w.Patience, w.Logs, w.Changed, w.Noted = r.timeout, r.patience, r.logs, r.changed, r.noted
	if r.line != nil {
		w.Progress = func(done, total int) { r.line.Note(string(waitPhase), done, total) }
	}
	defer r.line.End()
	return r.end(w.Wait(ctx, objects))
}

// waitEvent is one line for programs (--notes=json).
type waitEvent struct {
	Object    string      `json:"object"`
	Namespace string      `json:"namespace,omitempty"`
	Kind      ready.State `json:"kind"`
	Reason    string      `json:"reason,omitempty"`
	Text      string      `json:"text,omitempty"`
	Because   string      `json:"because,omitempty"`
	Pod       string      `json:"pod,omitempty"`
	Container string      `json:"container,omitempty"`
	Events    []string    `json:"events,omitempty"`
	Logs      []wait.Log  `json:"logs,omitempty"`
}

func newWaitEvent(o wait.Object, v ready.Verdict) waitEvent {
	return waitEvent{Object: o.Target.String(), Namespace: o.Namespace, Kind: v.State, Reason: v.Reason, Text: v.Message, Pod: v.Pod, Container: v.Container}
}

func newWaitFailure(e *wait.NotReady) waitEvent {
	out := newWaitEvent(e.Object, e.Verdict)
	out.Events, out.Logs = e.Events, e.Logs
	if e.Because != "" {
		out.Kind, out.Because = waitNotReady, e.Because
	}
	return out
}

// waitNotReady is the kind of the line about an object that has not failed, and is no longer waited
// for.
const waitNotReady ready.State = "not-ready"

// changed prints a change of state. Failures are printed at the end, as errors.
func (r waitReport) changed(o wait.Object, v ready.Verdict) {
	switch {
	case v.State == ready.Ready && r.stdout:
		fmt.Fprintf(r.line.Beside(r.Out), "%s ready%s\n", escape.Line(o.Target.String()), remark(v))
	case v.State == ready.Ready && !r.notes.json && !r.notes.quiet:
		r.print(fmt.Sprintf("note: %s: ready%s", o.Target, remark(v)))
	case v.State != ready.Failed && !r.notes.json && !r.notes.quiet:
		r.print(fmt.Sprintf("note: %s: %s: %s", o.Target, v.State, escape.Line(v.Problem.String())))
	}
	if r.notes.json && !r.notes.quiet && v.State != ready.Failed {
		r.event(newWaitEvent(o, v))
	}
}

func remark(v ready.Verdict) string {
	if v.Message == "" {
		return ""
	}
	return " (" + escape.Line(v.Message) + ")"
}

func (r waitReport) noted(text string) {
	switch {
	case r.notes.quiet:
	case r.notes.json:
		r.event(waitEvent{Kind: "problem", Text: escape.Line(text)})
	default:
		r.print("note: " + escape.Line(text))
	}
}

func (r waitReport) print(line string) { fmt.Fprintln(r.line.Beside(r.notes.w), line) }

func (r waitReport) event(e waitEvent) {
	e.Text = escape.Line(e.Text)
	if text, err := json.Marshal(e); err == nil {
		r.print(string(escape.JSON(text)))
	}
}

// end prints events and logs of the objects that are not ready, and adds the exit code to the
// wait's error. For programs, each object is one line with all of it.
func (r waitReport) end(err error) error {
	late := false
	for _, one := range leaves(err) {
		var e *wait.NotReady
		if !errors.As(one, &e) {
			continue
		}
		late = true
		if r.notes.json {
			r.event(newWaitFailure(e))
		} else {
			r.details(e)
		}
	}
	switch {
	case late && r.notes.json:
		return &exit{Code: notReady}
	case late:
		return &exit{Code: notReady, Err: err}
	}
	return err
}

func (r waitReport) details(e *wait.NotReady) {
	about := escape.Line(e.Object.Target.String())
	if e.Verdict.Pod != "" {
		about += ": pod " + escape.Line(e.Verdict.Pod)
	}
	for _, event := range e.Events {
		r.print("note: " + about + ": event: " + escape.Line(event))
	}
	for _, log := range e.Logs {
		which := "log"
		if log.Previous {
			which = "log of the previous run"
		}
		r.print(fmt.Sprintf("note: %s, container %s: %s:", about, log.Container, which))
		for _, line := range log.Lines {
			r.print("  " + escape.Line(line))
		}
	}
}

// waitRule returns the rules' statement about waiting for an object.
func waitRule(rules schema.Rules, t cluster.Target) ready.Rule {
	skip, wanted := rules.Waits(schema.Object{Group: t.Group, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name})
	return ready.Rule{Skip: skip, Path: wanted.Path, Value: wanted.Value}
}
