package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

const waitLong = `Wait until the objects that files or arguments name, or the members of a set, are ready, as
the cluster has them now. Nothing is written. What ready means depends on the kind;
docs/wait.md has the table.

The wait ends at once when an object has failed for good, and after --patience where one
has a problem that lasts longer: an image that cannot be pulled, a container that crashes
repeatedly, a pod that fits on no node. The error names object, pod,
container and the server's message, and the latest warnings about them.

Only permission to list and watch the kinds, and the pods, is needed; where watching is
forbidden, the objects are read every two seconds.

Exit code 0: all are ready; 1: an error; 4: not ready: one has failed, or the time is over.`

const waitExample = `  # After a merge, until everything is ready
  kubectl merge wait -f web.yaml

  # Objects of the cluster by their names
  kubectl merge wait deployment/web

  # At most five minutes, with the end of the log of a container that crashes
  kubectl merge wait -f web.yaml --timeout=5m --logs`

// Unlike kubectl: which waits for a condition that the user has to know.
var _ = registerVerb(verb{
	use: "wait (-f FILE | -k DIRECTORY | TYPE/NAME... | --applyset=NAME)", short: "Wait until objects are ready, or report why they are not", long: waitLong, example: waitExample,
	inputs: "wait for", args: objectArgs, takes: (*call).checkObjects, run: (*call).wait,
})

func (c *call) wait(ctx context.Context) error {
	rules, err := c.readRules(ctx)
	if err != nil {
		return err
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	objects, err := c.waitedFor(ctx, at)
	if err != nil {
		return err
	}
	if rules != nil {
		named := each(objects, func(o wait.Object) object.Object { return o.Identity() })
		p := apply.Planner{Schemas: at.Type, Rules: &apply.UserRules{Rules: rules, File: c.rules}}
		if err := p.CheckRules(ctx, named, nil); err != nil {
			return err
		}
	}
	for i := range objects {
		objects[i].Rule = waitRule(rules, objects[i].Target)
	}
	c.line = c.progress(ctx)
	return waitReport{call: c, stdout: true}.wait(ctx, &wait.Waiter{API: at.Cluster, Type: at.Type}, objects)
}

// checkObjects returns an error unless files, arguments or a set name the objects.
func (c *call) checkObjects() error {
	if len(c.args) == 0 && (c.set.name == "" || c.hasInput()) {
		return c.validateInput()
	}
	return c.checkNamed()
}

// waitedFor returns the objects that the flags or the arguments name.
func (c *call) waitedFor(ctx context.Context, at reached) (all []wait.Object, err error) {
	if c.set.name != "" {
		return c.members(ctx, at.Cluster)
	}
	objects, err := c.objects(ctx, at.Cluster)
	if err != nil {
		return nil, err
	}
	located, err := at.live.Resolve(ctx, objects)
	return each(located, func(l live.Located) wait.Object { return wait.Object{Target: l.Target} }), err
}

// members returns the members of the set.
func (c *call) members(ctx context.Context, api *cluster.Cluster) ([]wait.Object, error) {
	set, err := c.readSet(ctx, c.set, api, (*prune.Set).Existing)
	if err != nil {
		return nil, err
	}
	found, err := set.Everyone(ctx)
	var all []wait.Object
	for _, m := range found {
		o := wait.Object{Target: m.Target}
		if m.Deleting == "" { // otherwise it is read again: no kind is ready while it is deleted
			o.UID = m.UID
		}
		all = append(all, o)
	}
	return all, err
}

// The values of --wait of a merge.
const (
	waitNone    = "none"
	waitWritten = "written"
	waitAll     = "all"
)

// waitAfter makes a run wait when everything is written.
//
// Unlike kubectl: whose --wait waits until deleted objects are gone.
func (c *call) waitAfter(s *session) {
	if c.waits == waitNone {
		return
	}
	rules := s.Planner.Rules.All()
	s.Wait = func(ctx context.Context, items []*run.Item) error {
		c.deadline()
		var objects []wait.Object
		for _, item := range items {
			if item.Result.Outcome.Written() || c.waits == waitAll && item.Result.Outcome == write.Unchanged {
				objects = append(objects, wait.Object{Target: item.Target, UID: item.UID, Rule: waitRule(rules, item.Target)})
			}
		}
		r := waitReport{call: c, stdout: c.output == ""}
		return r.wait(ctx, &wait.Waiter{API: s.api, Type: s.Planner.Schemas}, objects)
	}
}

// waitPhase is the phase that a terminal shows while objects are waited for.
const waitPhase run.Phase = "ready"

// waitReport prints the states of the objects that are waited for.
type waitReport struct {
	*call
	stdout bool // objects that are ready get a line there, beside those of outcomes
}

// wait waits for the objects, reports their states, and adds the exit code to the error.
func (r waitReport) wait(ctx context.Context, w *wait.Waiter, objects []wait.Object) error {
	w.Timeout, w.Patience, w.Logs, w.Changed = r.timeout, r.patience, r.logs, r.changed
	w.Noted = func(text string) { r.note("", text) }
	w.Progress = func(done, total int) { r.line.Note(string(waitPhase), done, total) }
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

// waitNotReady is the kind of the line about an object that has not failed, and is no longer waited
// for.
const waitNotReady ready.State = "not-ready"

// changed prints a change of state. Failures are printed at the end, as errors.
func (r waitReport) changed(o wait.Object, v ready.Verdict) {
	if v.State == ready.Ready && r.stdout {
		fmt.Fprintf(r.line.Beside(r.Out), "%s ready%s\n", escape.Line(o.Target.String()), remark(v))
	}
	switch {
	case r.quiet || v.State == ready.Failed:
	case r.json:
		r.event(newWaitEvent(o, v))
	case v.State != ready.Ready:
		r.note(o.Target.String(), fmt.Sprintf("%s: %s", v.State, v.Problem))
	case !r.stdout:
		r.note(o.Target.String(), "ready"+remark(v))
	}
}

func remark(v ready.Verdict) string {
	if v.Message == "" {
		return ""
	}
	return " (" + escape.Line(v.Message) + ")"
}

func (r waitReport) print(line string) { fmt.Fprintln(r.line.Beside(r.ErrOut), line) }

func (r waitReport) event(e waitEvent) {
	e.Text = escape.Line(e.Text)
	_ = escape.WriteJSON(r.line.Beside(r.ErrOut), e, "") // only stdout matters
}

// end prints events and logs of the objects that are not ready, for programs all that is known of each in one
// line, and adds the exit code to the wait's error.
func (r waitReport) end(err error) error {
	late := false
	for _, one := range leaves(err) {
		e, is := errors.AsType[*wait.NotReady](one)
		switch late = late || is; {
		case is && r.json:
			out := newWaitEvent(e.Object, e.Verdict)
			out.Events, out.Logs = e.Events, e.Logs
			if e.Because != "" {
				out.Kind, out.Because = waitNotReady, e.Because
			}
			r.event(out)
		case is:
			r.details(e)
		}
	}
	if late {
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
