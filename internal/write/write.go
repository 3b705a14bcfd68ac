// Package write carries a plan to an API server and says in one word what became
// of it. It refuses to compute a patch, and to write over anything that it was
// not told of: every write is bound to the state that was merged.
package write

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// API is what a Server needs of an API server; *cluster.Cluster has it.
type API interface {
	Get(ctx context.Context, t cluster.Target) (map[string]any, error)
	Create(ctx context.Context, t cluster.Target, obj any, w cluster.Write) (map[string]any, error)
	MergePatch(ctx context.Context, t cluster.Target, patch any, w cluster.Write) (map[string]any, error)
	JSONPatch(ctx context.Context, t cluster.Target, patch any, w cluster.Write) (map[string]any, error)
	Update(ctx context.Context, t cluster.Target, obj any, w cluster.Write) (map[string]any, error)

	// Patience is how long in sum the server may ask to be waited for.
	Patience() time.Duration
}

// Server writes to an API server.
type Server struct {
	API   API
	Write cluster.Write

	// Trial: only whether it goes through is of interest. Results have no Object,
	// and say nothing of what became of it.
	Trial bool
}

// Replan merges anew with what live has become.
type Replan func(ctx context.Context, live map[string]any) (apply.Planned, error)

// How often a write that somebody else overtook is merged anew: first bound to
// the whole object, then only to the values that it replaces, so that whoever
// writes status all the time starves nobody.
const (
	boundTries  = 5
	pinnedTries = 20
)

// stillTries is how often a write is refused as overtaken though the object is as it
// was read: nobody has overtaken it then.
const stillTries = 5

// Apply sends what p asks for, and nothing where nothing changes. Where the object
// was changed meanwhile, it is read and merged anew, a bounded number of times.
// Where the server's answer was lost, it is read to find out what became of it.
// What was sent is reported, whatever is found then. The error names the object.
func (s *Server) Apply(ctx context.Context, t cluster.Target, p apply.Planned, replan Replan) (Result, error) {
	c := carrying{Server: s, target: t, replan: replan, out: Result{Planned: p}}
	for try := 0; ; try++ {
		p := c.out.Planned
		switch {
		case len(p.Conflicts) > 0:
			c.unsettled()
			return c.out, nil
		case !Writes(p):
			c.settled()
			return c.out, nil
		}
		obj, err := s.send(ctx, t, p, try >= boundTries, &c.out)
		switch {
		case err == nil && s.Trial:
			return c.out, nil
		case err == nil:
			c.written(obj)
			return c.out, nil
		case cluster.Uncertain(err), cluster.IsNotFound(err) && p.Action == apply.Create:
			if err := c.settle(ctx, err); err != nil {
				return c.out, err
			}
			continue
		case !overtaken(err, p):
			return c.out, fmt.Errorf("%s: %w", t, c.refused(ctx, err))
		}
		if err := c.retry(ctx, try, err); err != nil {
			return c.out, err
		}
	}
}

// carrying is one Apply under way.
type carrying struct {
	*Server
	record
	target cluster.Target
	replan Replan
	out    Result
	read   string        // version of the object, the last time; "" where there is none
	lost   int           // answers
	still  int           // answers that say overtaken where nobody was
	waited time.Duration // because the server asked for it
}

// retry merges anew after a write that cause says was overtaken.
func (c *carrying) retry(ctx context.Context, try int, cause error) error {
	if try >= boundTries+pinnedTries {
		return fmt.Errorf("%s: was changed by others %d times while it was being merged: find out who writes it all the time (kubectl get -w), and merge again: %w", c.target, try+1, cause)
	}
	p := c.out.Planned
	if !c.Write.DryRun {
		c.remember(p, "the server refused the write as overtaken ("+cause.Error()+")")
	}
	if err := c.reread(ctx, try); err != nil {
		return err
	}
	if c.read != read(p) || cluster.IsUnsupported(cause) {
		return nil
	}
	if c.still++; c.still == stillTries {
		return fmt.Errorf("%s: %w: the server answered this to %d writes, though the object is as it was read before each: nothing was written: look at what stands between you and the server, and merge again", c.target, cause, stillTries)
	}
	return nil
}

// written ends with a write that the server has confirmed.
func (c *carrying) written(obj map[string]any) {
	c.out = c.out.stored(obj, c.Write.DryRun)
	if c.done == nil {
		return
	}
	c.note(c.doubt + "; it was done, and merged again with what others changed since")
	c.out.Planned = *both(c.done, c.out.Planned)
	if c.out.Outcome = Configured; c.out.Planned.Action == apply.Create {
		c.out.Outcome = Created
	}
}

// settled ends with a merge that finds nothing to do. After a write of the run's own
// that may have been done, that write is what made the object so, and is reported.
func (c *carrying) settled() {
	live := c.out.Planned.Live
	c.out = c.out.of(c.out.Planned)
	if c.sent == nil && c.done == nil || !mayBeFrom(live, c.Write.FieldManager) {
		return
	}
	c.note(c.doubt + "; read again, the object is as it should be")
	if c.sent != nil {
		if c.sent.Prepared == nil {
			c.changedBy(writers(c.sent.Live, live, c.Write.FieldManager))
		}
		c.done = both(c.done, *c.sent)
	}
	c.out = c.out.of(*c.done)
	c.out.Object = live
}

// unsettled ends with conflicts. What was written before others came is reported all
// the same.
func (c *carrying) unsettled() {
	c.out = c.out.of(c.out.Planned)
	if c.done == nil {
		return
	}
	c.note("was written, before others changed it again: " + c.doubt)
	for _, n := range diff.Notes(diff.Told{Object: c.done.Name, Namespace: c.done.Namespace(), Local: c.done.Value, Live: c.done.Live, Plan: c.done.Plan}) {
		c.note("with that write: " + n.Text)
	}
}

func (c *carrying) note(text string) { c.out.Notes = append(c.out.Notes, text) }

// changedBy notes that somebody else has written the object since it was read.
func (c *carrying) changedBy(name string) {
	if name != "" {
		c.note("was changed by " + name + " since it was read first")
	}
}

// overtaken: somebody else wrote between our reading and our writing.
func overtaken(err error, p apply.Planned) bool {
	switch {
	case cluster.IsConflict(err), cluster.IsAlreadyExists(err):
		return true
	case cluster.IsNotFound(err):
		return p.Action == apply.Change
	case cluster.IsUnsupported(err):
		return p.Prepared != nil // what is to be put in place of live has to be made first
	}
	return cluster.IsTestFailed(err)
}

// reread merges anew with what live is after a moment. The error names the object.
func (c *carrying) reread(ctx context.Context, try int) error {
	pause := time.Duration(1+rand.IntN(20<<min(try, 4))) * time.Millisecond
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", c.target, ctx.Err())
	}
	live, err := c.API.Get(ctx, c.target)
	if err != nil && !cluster.IsNotFound(err) {
		return fmt.Errorf("%s: %w", c.target, err)
	}
	c.read = version(live)
	c.changedBy(c.look(live, c.Write.FieldManager))
	if c.out.Planned, err = c.replan(ctx, live); err != nil {
		return err
	}
	c.out.Retries++
	return nil
}

func (s *Server) send(ctx context.Context, t cluster.Target, p apply.Planned, pinned bool, out *Result) (map[string]any, error) {
	r, err := p.Request(pinned)
	switch {
	case err != nil:
		return nil, err
	case p.Action == apply.Create:
		return s.API.Create(ctx, t, r.Body, s.Write)
	}
	patch := s.API.MergePatch
	if r.Type == types.JSONPatchType {
		patch = s.API.JSONPatch
	}
	obj, err := patch(ctx, t, r.Body, s.Write)
	if !cluster.IsUnsupported(err) || p.Prepared != nil {
		return obj, err
	}
	obj, err = s.API.Update(ctx, t, p.Final, s.Write)
	if err == nil {
		out.Notes = append(out.Notes, "was replaced whole, as its server takes no patches (bound to the version that was merged: nothing of others is lost)")
	}
	return obj, err
}

// read is the version of the live object that was merged.
func read(p apply.Planned) string {
	if p.Prepared != nil {
		return p.Prepared.Version
	}
	return version(p.Live)
}

func version(obj map[string]any) string { return object.Object{Value: obj}.ResourceVersion() }

// differ says whether two states of an object differ in more than the server's
// book-keeping.
func differ(was, is map[string]any) bool {
	a, _ := lastapplied.Strip(was, false)
	b, _ := lastapplied.Strip(is, false)
	_, changed := diff.MergePatch(a, b)
	return changed
}
