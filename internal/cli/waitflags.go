package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// waitFlags determine how long objects are waited for.
type waitFlags struct {
	what     string // of a merge: see waitNone
	flags    *pflag.FlagSet
	timeout  time.Duration
	until    time.Time // end of the wait, see deadline
	patience time.Duration
	logs     int
}

func (f *waitFlags) add(flags *pflag.FlagSet) {
	flags.DurationVar(&f.timeout, "timeout", 10*time.Minute, "how long to wait for all objects to be ready; 0: no limit")
	flags.DurationVar(&f.patience, "patience", 30*time.Second, "how long a problem that may resolve itself (ImagePullBackOff, CrashLoopBackOff, Unschedulable) may last before it is a failure")
	flags.IntVar(&f.logs, "logs", 0, "lines to show of the log of a container that keeps an object from being ready; --logs alone: 20")
	flags.Lookup("logs").NoOptDefVal = "20"
}

// The values of --wait of a merge.
const (
	waitNone    = "none"
	waitWritten = "written"
	waitAll     = "all"
)

// addTo adds the flags to a command that writes, and waits if asked to.
//
// Unlike kubectl: whose --wait waits until deleted objects are gone.
func (f *waitFlags) addTo(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVar(&f.what, "wait", waitNone, "wait until what was written is ready, or, with all, every object of the input; exit code 4 if it is not")
	flags.Lookup("wait").NoOptDefVal = waitWritten
	f.add(flags)
}

// check returns an error for invalid flags of a command that writes as mode asks.
func (f *waitFlags) check(mode dryRun) error {
	switch f.what {
	case waitNone, "false":
		for _, name := range []string{"timeout", "patience", "logs"} {
			if f.flags.Changed(name) {
				return fmt.Errorf("--%s: nothing is waited for without --wait", name)
			}
		}
		f.what = waitNone
	case waitWritten, "true":
		f.what = waitWritten
	case waitAll:
	default:
		return fmt.Errorf("--wait=%s: must be %s (which --wait alone means), %s or %s", f.what, waitWritten, waitAll, waitNone)
	}
	if f.what != waitNone && mode != dryNone {
		return errors.New("--wait: nothing is written, so that there is nothing to wait for: leave out --wait, or what makes it a preview")
	}
	return f.validate()
}

// after makes a run wait when everything is written.
func (f *waitFlags) after(e *env, s *session, notes *reporter, stdout bool) {
	if f.what == waitNone {
		return
	}
	var rules schema.Rules
	if s.Planner.Rules != nil {
		rules = s.Planner.Rules.Rules
	}
	s.Wait = func(ctx context.Context, items []*run.Item) error {
		f.deadline()
		var objects []wait.Object
		for _, item := range items {
			if item.Result.Outcome.Written() || f.what == waitAll && item.Result.Outcome == write.Unchanged {
				objects = append(objects, wait.Object{Target: item.Target, UID: item.UID, Rule: waitRule(rules, item.Target)})
			}
		}
		return e.wait(ctx, waiting{waitFlags: f, api: s.api, types: s.Planner.Schemas, notes: notes, stdout: stdout}, objects)
	}
}

func (f *waitFlags) validate() error {
	switch {
	case f.timeout < 0:
		return fmt.Errorf("--timeout=%s: must not be negative", f.timeout)
	case f.patience < 0:
		return fmt.Errorf("--patience=%s: must not be negative", f.patience)
	case f.logs < 0:
		return fmt.Errorf("--logs=%d: must not be negative", f.logs)
	}
	return nil
}

// waitPhase is the phase that a terminal shows while objects are waited for.
const waitPhase run.Phase = "ready"

// waiting holds the options of a wait.
type waiting struct {
	*waitFlags
	api    *cluster.Cluster
	types  func(ctx context.Context, group, version, kind string) (*merge.Type, error)
	notes  *reporter
	stdout bool // objects that are ready get a line there, beside those of outcomes
}

// wait waits for the objects, reports their states, and adds the exit code to the error.
func (e *env) wait(ctx context.Context, w waiting, objects []wait.Object) error {
	r := waitReport{env: e, notes: w.notes, stdout: w.stdout}
	waiter := &wait.Waiter{
		API: w.api, Type: w.types, Timeout: w.timeout, Patience: w.patience, Logs: w.logs,
		Changed: r.changed, Noted: r.noted,
	}
	if e.line != nil {
		waiter.Progress = func(done, total int) { e.line.Note(string(waitPhase), done, total) }
	}
	defer e.line.End()
	return r.end(waiter.Wait(ctx, objects))
}

// waitReport prints the states of the objects that are waited for.
type waitReport struct {
	*env
	notes  *reporter
	stdout bool
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
	Logs      []waitLog   `json:"logs,omitempty"`
}

type waitLog struct {
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	Previous  bool     `json:"previous,omitempty"`
	Lines     []string `json:"lines"`
}

func newWaitEvent(o wait.Object, v ready.Verdict) waitEvent {
	return waitEvent{Object: o.Target.String(), Namespace: o.Namespace, Kind: v.State, Reason: v.Reason, Text: v.Message, Pod: v.Pod, Container: v.Container}
}

func newWaitFailure(e *wait.NotReady) waitEvent {
	out := newWaitEvent(e.Object, e.Verdict)
	out.Events = e.Events
	if e.Because != "" {
		out.Kind, out.Because = waitNotReady, e.Because
	}
	for _, l := range e.Logs {
		out.Logs = append(out.Logs, waitLog(l))
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
