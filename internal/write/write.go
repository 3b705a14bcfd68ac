// Package write sends a plan to an API server and reports the outcome. It computes no
// patch, and never overwrites what the plan does not know: every write is bound to the
// state that was merged.
//
// A write is bound to what was merged: to the resourceVersion, and after five conflicts to the
// values that it replaces. After a 409 the object is read and merged again. No write is repeated by
// client-go: after a lost answer the object is read, and what was sent is still reported.
package write

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// API is the part of an API server that a Server needs; *cluster.Cluster implements it.
type API interface {
	Get(ctx context.Context, t cluster.Target) (map[string]any, error)
	Send(ctx context.Context, t cluster.Target, as cluster.Way, body any, w cluster.Write) (map[string]any, error)
	Delete(ctx context.Context, t cluster.Target, d cluster.Deletion) (left map[string]any, err error)

	// Patience is how long in total the server may ask the client to wait.
	Patience() time.Duration
}

// Server writes to an API server.
type Server struct {
	API   API
	Write cluster.Write

	// Trial states that only the error matters. Results have the answer as Object, and no Outcome. A
	// server-side apply whose result differs from the plan is a *Different.
	Trial bool
}

// Task is one plan to be written.
type Task struct {
	Target  cluster.Target
	Planned apply.Planned

	// Prepared is the request of the plan if its Live and Final are not stored; else nil.
	Prepared *apply.Request

	// Replan merges again with the current live object, nil if it does not exist any more.
	Replan func(ctx context.Context, live map[string]any) (apply.Planned, error)

	// Begin is called before each request that is not a dry run, with the plan that it writes; end
	// is called with the outcome. Nothing is sent if it fails. May be nil.
	Begin func(p apply.Planned) (end func(stored map[string]any, err error), err error)
}

// How often an overtaken write is merged again: first bound to the whole object, then only to the
// values that it replaces. Otherwise a controller that constantly writes status would block it.
const (
	boundTries  = 5
	pinnedTries = 20
)

// stillTries is how often a server may report a conflict although the object has not
// changed.
const stillTries = 5

// Apply sends the request of a plan, and nothing if nothing changes. If the object was changed
// meanwhile, it is read and merged again, a limited number of times. If the server's response is
// lost, the object is read to find out what happened. A write that was sent is always reported. The
// error names the object.
func (s *Server) Apply(ctx context.Context, t Task) (out Result, err error) {
	c := applying{Server: s, Task: t, out: Result{Planned: t.Planned}}
	defer func() {
		switch {
		case c.first != nil && (err != nil || out.Outcome == Unsettled):
			err = c.handBack(ctx, err)
		case err == nil && out.Outcome.Written() && (out.Planned.Theirs != nil || out.Planned.Unowned != nil) && !c.Write.DryRun:
			out = c.give(ctx, out)
		}
	}()
	for try := 0; ; try++ {
		p := c.out.Planned
		switch {
		case len(p.Conflicts) > 0:
			c.unsettled()
			return c.out, nil
		case !Writes(p):
			c.settled()
			return c.out, nil
		case p.Applying != nil && p.Applying.Owners != nil && !c.Write.DryRun: // it gets other owners first
			if err := c.handOver(ctx, try); err != nil {
				return c.out, err
			}
			continue
		}
		obj, err := c.send(ctx, try >= boundTries)
		switch {
		case err == nil && s.Trial:
			if c.out.Object, err = obj, verify(p, obj); err != nil {
				err = fmt.Errorf("%s: %w", c.Target, err)
			}
			return c.out, err
		case err == nil:
			c.written(obj)
			return c.out, nil
		case cluster.Uncertain(err), cluster.IsNotFound(err) && p.Action == apply.Create:
			if err := c.settle(ctx, err); err != nil {
				return c.out, err
			}
			continue
		case !c.overtaken(err):
			return c.out, fmt.Errorf("%s: %w", c.Target, c.refused(ctx, err))
		}
		if err := c.retry(ctx, try, err); err != nil {
			return c.out, err
		}
	}
}

// applying is the state of one Apply.
type applying struct {
	*Server
	record
	Task                  // Planned is the first plan; Prepared is nil after a Replan
	out    Result         // its Planned is the current plan
	read   string         // version of the object when last read; "" if there is none
	lost   int            // responses lost
	still  int            // conflicts although the object had not changed
	first  *apply.Planned // the plan before its owners were written; nil if they were not
	handed string         // version of the object after that
	pauses cluster.Pauses // on request of the server
	last   apply.Request  // that was sent
}

// retry merges again after a conflict, cause.
func (c *applying) retry(ctx context.Context, try int, cause error) error {
	if try >= boundTries+pinnedTries {
		return fmt.Errorf("%s: was changed by others %d times while it was being merged: find out who writes it all the time (kubectl get -w), and merge again: %w", c.Target, try+1, cause)
	}
	was := c.version()
	if !c.Write.DryRun {
		c.remember(c.out.Planned, "the server refused the write as overtaken ("+cause.Error()+")")
	}
	if err := c.reread(ctx, try); err != nil {
		return err
	}
	if c.read != was || cluster.IsUnsupported(cause) {
		return nil
	}
	if cluster.IsOwned(cause) {
		return fmt.Errorf("%s: %w: the server sees a conflict that the merge does not: nothing was written: look at the values with kubectl merge diff --server-side, or take them over with --force-conflicts", c.Target, cause)
	}
	if c.still++; c.still == stillTries {
		return fmt.Errorf("%s: %w: the server answered this to %d writes, though the object is as it was read before each: nothing was written: look at what stands between you and the server, and merge again", c.Target, cause, stillTries)
	}
	return nil
}

// written ends an Apply after a confirmed write.
func (c *applying) written(obj map[string]any) {
	c.out = c.out.stored(obj, c.version(), c.Write.DryRun)
	if id := object.UID(obj); id != "" && c.last.UID != "" && id != c.last.UID { // a server-side apply that could not be bound to it
		c.out.Outcome = Created
		c.note("was deleted since it was read, and is created again")
	}
	c.reportUnstored(obj)
	if c.first != nil { // the plan as it was before its owners were written: it has the other managers' values
		c.out.Planned = *c.first
	}
	if c.done == nil {
		return
	}
	c.note(c.doubt + "; it was done, and merged again with what others changed since")
	c.out.Planned = *both(c.done, c.out.Planned)
	if c.out.Outcome = Configured; c.out.Planned.Action == apply.Create {
		c.out.Outcome = Created
	}
}

// settled ends an Apply if nothing is left to do. If an earlier write of this Apply may have been
// executed, that write is reported as the reason.
func (c *applying) settled() {
	live := c.out.Planned.Live
	c.out = c.out.of(c.out.Planned)
	if c.first != nil { // only its owners had to be written
		c.out.Planned, c.out.Outcome = *c.first, Configured
		return
	}
	if c.sent != nil && c.sent.Final != nil && (c.sent.Live != nil || lastapplied.Read(c.sent.Final).Text != lastapplied.Read(live).Text) {
		c.sent = nil // look has not found it in live: what live has is from another run, maybe under the same name
	}
	if c.sent == nil && c.done == nil || !mayBeFrom(live, c.Write.FieldManager) {
		return
	}
	c.note(c.doubt + "; read again, the object is as it should be")
	if c.sent != nil {
		if c.sent.Final != nil {
			c.changedBy(writers(*c.sent, live, c.Write.FieldManager))
		}
		c.done = both(c.done, *c.sent)
	}
	c.out = c.out.of(*c.done)
	c.out.Object = live
}

// unsettled ends an Apply with conflicts. An earlier write of this Apply is reported as well.
func (c *applying) unsettled() {
	c.out = c.out.of(c.out.Planned)
	if c.done == nil {
		return
	}
	c.note("was written, before others changed it again: " + c.doubt)
	for _, n := range diff.Notes(diff.Report{Object: c.done.Name, Namespace: c.done.Namespace(), Local: c.done.Value, Live: c.done.Live, Plan: c.done.Plan}) {
		c.note("with that write: " + n.Text())
	}
}

func (c *applying) note(text string) { c.out.Notes = append(c.out.Notes, text) }

// changedBy notes that another manager has written the object since it was read.
func (c *applying) changedBy(name string) {
	if name != "" {
		c.note("was changed by " + name + " since it was read first")
	}
}

// overtaken reports whether the object was changed between reading and writing.
func (c *applying) overtaken(err error) bool {
	switch {
	case cluster.IsConflict(err), cluster.IsAlreadyExists(err):
		return true
	case cluster.IsNotFound(err):
		return c.out.Planned.Action == apply.Change
	case cluster.IsUnsupported(err):
		return c.Prepared != nil // Update needs the whole object, so it is merged again
	}
	return cluster.IsTestFailed(err)
}

// reread reads the object after a short pause and merges again. The error names the object.
func (c *applying) reread(ctx context.Context, try int) error {
	pause := time.Duration(1+rand.IntN(20<<min(try, 4))) * time.Millisecond
	if err := cluster.Sleep(ctx, pause); err != nil {
		return fmt.Errorf("%s: %w", c.Target, err)
	}
	live, err := c.API.Get(ctx, c.Target)
	if err != nil && !cluster.IsNotFound(err) {
		return fmt.Errorf("%s: %w", c.Target, err)
	}
	c.read = version(live)
	c.changedBy(c.look(live, c.Write.FieldManager))
	if c.out.Planned, err = c.Replan(ctx, live); err != nil {
		return err
	}
	c.Prepared = nil
	return nil
}

// send sends the request of the current plan, and records it before and afterwards.
func (c *applying) send(ctx context.Context, pinned bool) (map[string]any, error) {
	if c.Begin == nil || c.Write.DryRun {
		return c.request(ctx, pinned)
	}
	p, err := c.out.Planned, error(nil)
	if c.first != nil { // what is recorded are the owners before they were written
		p.Live = ownership.WithEntries(merge.Without(p.Live, "metadata", "managedFields"), merge.At[[]any](c.first.Live, "metadata", "managedFields"))
	}
	if c.end, err = c.Begin(p); err != nil {
		return nil, err
	}
	obj, err := c.request(ctx, pinned)
	c.end(obj, err)
	return obj, err
}

// request sends the request of the current plan. A pinned one is bound to the values that it
// replaces instead of the resourceVersion.
func (c *applying) request(ctx context.Context, pinned bool) (map[string]any, error) {
	p, w, err := c.out.Planned, c.Write, error(nil)
	if c.Prepared != nil {
		c.last = *c.Prepared
	} else if c.last, err = p.Request(pinned); err != nil {
		return nil, err
	}
	r := c.last
	if p.Applying != nil && w.For == cluster.Merging {
		w.For = cluster.Applying // also a trial that is sent in another way
	}
	if r.Type == cluster.Apply {
		return c.apply(ctx, r, w)
	}
	obj, err := c.API.Send(ctx, c.Target, r.Type, r.Body, w)
	if !cluster.IsUnsupported(err) || r.Type == cluster.Create || c.Prepared != nil {
		return obj, err
	}
	obj, err = c.API.Send(ctx, c.Target, cluster.Replace, p.Final, w)
	if err == nil {
		c.note("was replaced whole, as its server takes no patches (bound to the version that was merged: nothing of others is lost)")
	}
	return obj, err
}

// version returns the version of the live object that was merged; "" if there was none.
func (c *applying) version() string {
	if c.Prepared != nil {
		return c.Prepared.Version
	}
	return version(c.out.Planned.Live)
}

func version(obj map[string]any) string { return object.Object{Value: obj}.ResourceVersion() }

// differ reports whether two states of an object differ in more than metadata maintained by
// the server.
func differ(was, is map[string]any) bool {
	a, _ := lastapplied.Strip(was, false)
	b, _ := lastapplied.Strip(is, false)
	return !merge.Identical(a, b)
}
