package write

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// record holds the plans that were sent and, as far as can be seen, executed. They are reported
// whatever the next read of the object shows.
type record struct {
	sent  *apply.Planned                         // the last one, while its outcome is uncertain
	doubt string                                 // why it is uncertain
	end   func(stored map[string]any, err error) // enters the outcome of the last request; nil: nothing is recorded
	done  *apply.Planned                         // earlier plans, combined
}

// remember stores a plan that was sent and may have been executed, and why that is
// uncertain.
func (r *record) remember(sent apply.Planned, doubt string) { r.sent, r.doubt = &sent, doubt }

// look determines from the current object whether the last plan sent was executed, so that
// it is reported together with the next one.
func (r *record) look(live map[string]any, manager string) (others string) {
	if r.sent == nil || !landed(*r.sent, live) {
		return ""
	}
	if others = writers(*r.sent, live, manager); others == "" && r.sent.Action == apply.Create && r.end != nil {
		r.end(live, nil) // what is written to it from now on is others'
	}
	r.done = both(r.done, *r.sent)
	r.sent = nil
	return others
}

// landed reports whether the live object shows that the plan was executed: by its
// last-applied configuration if the plan changes that, else by the changed values, or owners. It is
// false for a plan that is not stored whole.
func landed(p apply.Planned, live map[string]any) bool {
	if p.Final == nil || live == nil || p.Live != nil && version(live) == version(p.Live) {
		return false
	}
	if want := lastapplied.Read(p.Final).Text; want != lastapplied.Read(map[string]any(p.Live)).Text {
		return want == lastapplied.Read(live).Text
	}
	if p.Action == apply.Create {
		return false // created by another writer, as far as can be seen
	}
	if before, after := entries(p.Live), entries(p.Final); !differ(p.Live, p.Final) { // the server puts them in another order
		ended, begun := ownership.Lacking(after, before), ownership.Lacking(before, after)
		if missing := ownership.Lacking(entries(live), begun); len(begun) > 0 {
			return len(missing) < len(begun)
		}
		return len(ended) > 0 && len(ownership.Lacking(entries(live), ended)) == len(ended)
	}
	sent, _ := patch.Merge(p.Live, p.Final)
	return holdsAny(sent, live)
}

func entries(obj map[string]any) []map[string]any {
	return merge.MapsAt(obj, "metadata", "managedFields")
}

// holdsAny reports whether a value contains one of the values of a merge patch.
func holdsAny(patch map[string]any, in any) bool {
	for key, want := range patch {
		is, there := merge.At[map[string]any](in)[key]
		inner, deeper := want.(map[string]any)
		switch {
		case deeper && len(inner) > 0:
			if holdsAny(inner, is) {
				return true
			}
		case want == nil && !there, want != nil && merge.Equal(want, is, nil):
			return true
		}
	}
	return false
}

// both combines two plans that were executed one after the other, for the report.
func both(first *apply.Planned, second apply.Planned) *apply.Planned {
	if first == nil || first.Final == nil || second.Final == nil {
		return &second
	}
	out := second
	out.Live = first.Live
	out.Settled = append(slices.Clone(first.Settled), second.Settled...)
	out.Removed = append(slices.Clone(first.Removed), second.Removed...)
	out.Changes = append(slices.Clone(first.Changes), second.Changes...)
	out.Theirs = append(slices.Clone(first.Theirs), second.Theirs...)
	out.Unowned = append(slices.Clone(first.Unowned), second.Unowned...)
	if first.Action == apply.Create {
		out.Action = apply.Create
	}
	return &out
}

// mayBeFrom reports whether the manager may have written the object: managedFields name it,
// or there are none.
func mayBeFrom(live map[string]any, manager string) bool {
	all := entries(live)
	return len(all) == 0 || slices.ContainsFunc(all, func(e map[string]any) bool { return e["manager"] == manager })
}

// writers names another manager that has written the object since the state that a plan was sent for; ""
// if none is known. Writes to status, which controllers make all the time, do not count, nor what the plan
// itself enters for other managers.
func writers(sent apply.Planned, is map[string]any, manager string) string {
	before := entries(sent.Live)
	for _, e := range ownership.Lacking(ownership.Lacking(before, entries(sent.Final)), entries(is)) {
		name, _ := e["manager"].(string)
		if name == manager || e["subresource"] != nil {
			continue
		}
		if !slices.ContainsFunc(before, func(b map[string]any) bool {
			return b["manager"] == e["manager"] && b["operation"] == e["operation"] && b["apiVersion"] == e["apiVersion"] && b["time"] == e["time"]
		}) {
			return name
		}
	}
	return ""
}

// ErrUnknown reports that it cannot be determined whether a write was executed. It is
// reported for each object by name.
var ErrUnknown = errors.New("whether it was written cannot be known: merge again to find out")

// lostTries is how often a write is sent if its response is lost.
const lostTries = 3

// obey pauses as long as an answer asks for. The error names the object.
func (c *applying) obey(ctx context.Context, answer error) (asked bool, err error) {
	c.pauses.Most = c.API.Patience()
	if asked, err = c.pauses.Obey(ctx, answer); err != nil {
		err = fmt.Errorf("%s: %w", c.Target, err)
	}
	return asked, err
}

// settle handles a write of which cause leaves open whether it was executed: it reads the object
// and merges again. If nothing is left to do, the write is reported. Otherwise the write may be
// sent again. Since every write is bound to the state that was merged, a request still in transit
// cannot be applied on top of it. A server that asks to wait is obeyed, up to API.Patience in
// total. The error names the object.
//
// Unlike kubectl: which reports the lost answer, and leaves it to the user to find
// out whether the object was written.
func (c *applying) settle(ctx context.Context, cause error) error {
	asked, err := c.obey(ctx, cause)
	switch {
	case err != nil:
		return err
	case !asked:
		c.lost++
	}
	again := asked || cluster.Unanswered(cause) && !cluster.TooSlow(cause)
	if c.Write.DryRun {
		if (asked || cluster.Unanswered(cause)) && c.lost < lostTries {
			return nil
		}
		return fmt.Errorf("%s: %w", c.Target, c.refused(ctx, cause))
	}
	doubt := "the server's answer to the write was lost"
	if cluster.IsRefusal(cause) {
		doubt = "the server answered the write with an error (" + cause.Error() + ")"
	}
	c.remember(c.out.Planned, doubt)
	if err := c.reread(ctx, c.lost); err != nil {
		if errors.Is(cause, context.Canceled) { // the write itself was interrupted, not only the run
			cause = errors.New("interrupted while it was being written")
		}
		return fmt.Errorf("%s: %w: %w", c.Target, cause, ErrUnknown)
	}
	switch {
	case c.out.Planned.Action == apply.Nothing, again && c.lost < lostTries:
		return nil
	case !cluster.Unanswered(cause):
		return fmt.Errorf("%s: %w", c.Target, c.refused(ctx, cause))
	}
	return fmt.Errorf("%s: %w: when it was read again it was not written: merge again", c.Target, cause)
}
