package write

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// apply sends a server-side apply. After a write of owners, the plan is tried first: that was
// impossible before.
func (c *applying) apply(ctx context.Context, r apply.Request, w cluster.Write) (map[string]any, error) {
	w.Force = r.Force
	if c.first != nil && !w.DryRun {
		trial := w
		trial.DryRun = true
		obj, err := c.API.Send(ctx, c.Target, r.Type, r.Body, trial)
		if err == nil {
			err = verify(c.out.Planned, obj)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.API.Send(ctx, c.Target, r.Type, r.Body, w)
}

// handOver writes only the owners that a plan needs, without a value, and merges again. The write
// is bound to the object that was merged. The error names the object.
func (c *applying) handOver(ctx context.Context, try int) error {
	p := c.out.Planned
	if try >= boundTries+pinnedTries {
		return fmt.Errorf("%s: its managedFields could not be written in %d tries: nothing was written: merge again", c.Target, try)
	}
	obj, err := c.own(ctx, version(p.Live), p.Applying.Owners)
	switch {
	case err == nil:
	case cluster.Uncertain(err), c.overtaken(err):
		lost := cluster.Uncertain(err)
		if _, err = c.obey(ctx, err); err == nil {
			err = c.reread(ctx, try)
		}
		if err == nil && lost && c.first == nil && c.out.Planned.Applying != nil && c.out.Planned.Applying.Owners == nil {
			c.first, c.handed = &p, c.read // it was executed
		}
		return err
	default:
		return fmt.Errorf("%s: %w", c.Target, c.refused(ctx, err))
	}
	c.read = version(obj)
	if c.first == nil {
		c.first, c.handed = &p, c.read
	}
	c.out.Planned, err = c.Replan(ctx, obj)
	return err
}

// own writes the managedFields of the object, if it still has the version.
func (c *applying) own(ctx context.Context, version string, owners []any) (map[string]any, error) {
	return c.API.Send(ctx, c.Target, cluster.JSONPatch, []patch.Op{
		{Op: "test", Path: "/metadata/resourceVersion", Value: version},
		{Op: "add", Path: "/metadata/managedFields", Value: owners},
	}, c.Write)
}

// handBack puts back the owners that were handed over for a plan that is not written: because of err, or of
// conflicts. An interruption does not end it. If the object was written since, the error says what is left.
func (c *applying) handBack(ctx context.Context, err error) error {
	owners := merge.At[[]any](c.first.Live, "metadata", "managedFields")
	if len(owners) == 0 {
		owners = []any{map[string]any{}} // an empty list would change nothing
	}
	if _, failed := c.own(context.WithoutCancel(ctx), c.handed, owners); failed != nil {
		err = errors.Join(err, fmt.Errorf("%s: %s owns fields that it did not own before, and its managedFields could not be put back (%v): the next merge removes those that the file does not state", c.Target, c.Write.FieldManager, failed))
	}
	return err
}

// give has others hold the values that were written for them, so that the next run does not take them for its own. An
// interruption does not end it.
func (c *applying) give(ctx context.Context, out Result) Result {
	ctx = context.WithoutCancel(ctx)
	for try := 0; ; try++ {
		rewrite, live := ownership.RewriteOf(out.Object, c.Write.FieldManager), out.Object
		err := rewrite.Give(out.Planned.Theirs, out.Planned.Unowned)
		entries := rewrite.Entries()
		if err == nil && entries != nil {
			live, err = c.own(ctx, version(out.Object), entries)
		}
		switch {
		case err == nil:
			if out.Object = live; c.end != nil && (entries != nil || try > 0) {
				c.end(live, nil)
			}
			return out
		case try < boundTries+pinnedTries && (cluster.Uncertain(err) || c.overtaken(err)):
			if _, err = c.obey(ctx, err); err != nil {
				break
			}
			live, err = c.API.Get(ctx, c.Target)
		}
		if err != nil {
			c.out = out
			c.note(fmt.Sprintf("%s owns the values of others that were written, as its managedFields could not be (%v): the next merge may take them for its own", c.Write.FieldManager, err))
			return c.out
		}
		out.Object = live
	}
}

// Different is the error of a plan whose trial result on the server differs from it.
type Different struct {
	Differences []string // a path and both values each, masked
}

// Error lists the differences.
func (e *Different) Error() string {
	return "the server's result is not the planned one: " + apply.Few(e.Differences) +
		": nothing was written: look for an admission webhook or another owner of the field, or write without this check (--preflight=false)"
}

// verify returns a *Different if obj, the server's dry-run result of a server-side apply, loses or changes a
// value of live that the plan keeps. Values that the server adds, or stores otherwise than they were sent, are
// accepted as in any write, and reported (Result.Restored, reportUnstored). nil: neither.
func verify(p apply.Planned, obj map[string]any) error {
	if p.Applying == nil || p.Live == nil || p.Final == nil {
		return nil
	}
	is := p.Configuration(obj)
	kept, err := apply.Unchanged(p.Configuration(p.Live), merge.Diff(p.Configuration(p.Live), p.Configuration(p.Final), p.Type))
	if err != nil {
		return err
	}
	owners, local := ownership.Of(p.Live), merge.NewFinder(p.Value, p.Type)
	var changes []merge.Change
	for _, c := range merge.Three(merge.Triple{Local: kept, Live: is}, p.Type, merge.Policies[0], false).Changes {
		_, stated := local.Lookup(c.Path)
		servers := !stated && owners != nil && len(owners.At(c.Path)) == 0 // without an owner, for example allocated with a type that changes
		if c.Op == merge.OpSet && !servers && !emptied(p, obj, c.Path) {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	r := diff.Report{Object: p.Subject.Name, Local: p.Value, Live: p.Live, Plan: p.Plan, Sensitive: p.Sensitive}.Looked()
	return &Different{Differences: object.Each(changes, r.Stored)}
}

// emptied reports whether live has a value at the path, and the plan and obj, what the server has made of it, only empty
// maps and lists: it may store none of them, since no manager owns a map or list of which the last part is removed.
func emptied(p apply.Planned, obj map[string]any, at merge.Path) bool {
	filled := func(obj map[string]any) bool {
		v, _ := merge.Lookup(obj, at, p.Type)
		return merge.Any(v, func(v any) bool { return v != nil && merge.IsScalar(v) })
	}
	return filled(p.Live) && !filled(p.Final) && !filled(obj)
}

// reportUnstored notes the sent values that the server's answer lacks, or has changed.
func (c *applying) reportUnstored(obj map[string]any) {
	v, _ := merge.ReadJSON(c.last.Body)
	sent, _ := v.(map[string]any) // nil: a JSON patch, which is bound to values
	annotation := func(of any) string { return merge.At[string](of, "metadata", "annotations", lastapplied.Annotation) }
	if annotation(sent) != "" && annotation(obj) == "" {
		c.note("the server does not store the last-applied annotation, as an admission policy drops it: what leaves the file stays in live: merge with --server-side, or always with --original=managed-fields")
	}
	known := map[string]bool{}
	for _, p := range slices.Concat(c.out.Restored, c.out.Planned.Unstored) { // reported with what was to be overwritten, or by the run that sent it first
		known[p.String()] = true
	}
	for _, d := range c.out.Planned.Doubtful {
		known[d.Path.String()] = !d.Edited
	}
	for _, change := range unstored(c.out.Planned, sent, obj) {
		at := change.Path.String()
		switch {
		case known[at], emptied(c.out.Planned, obj, change.Path):
			continue
		case change.Old.Set:
			c.note("the server does not store " + at + " as it was sent: a feature gate, an admission policy or the kind changes it")
		default:
			c.note("the server does not store " + at + ": a feature gate, an admission policy or the kind drops it")
		}
		known[at], c.out.Unstored = true, append(c.out.Unstored, change.Path)
	}
}

// unstored returns the changes from obj, the server's answer, to the object that was sent, and to what
// of it is in the file and in live, and so was not sent again.
func unstored(p apply.Planned, sent, obj map[string]any) []merge.Change {
	if sent == nil {
		return nil
	}
	var dropped []merge.Change
	changesTo := func(want map[string]any) []merge.Change {
		changes := merge.Three(merge.Triple{Local: p.Configuration(want), Live: p.Configuration(obj)}, p.Type, merge.Policies[0], false).Changes
		return slices.DeleteFunc(changes, func(c merge.Change) bool { return c.Op != merge.OpSet })
	}
	if p.Applying == nil && p.Action == apply.Change { // a merge patch, which has a part of a map that is replaced as a whole
		sent = merge.At[map[string]any](patch.ApplyMerge(obj, sent))
		final := merge.NewFinder(p.Final, p.Type)
		dropped = slices.DeleteFunc(changesTo(p.Value), func(c merge.Change) bool {
			planned, ok := final.Lookup(c.Path)
			return c.Old.Set || !ok || !merge.Equal(planned, c.New.Value, p.Type.At(c.Path))
		})
	}
	return append(changesTo(sent), dropped...)
}
