package undo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// deletions is the run.Pruner that deletes the objects that the recorded run has created.
type deletions struct{ *Undo }

// Admit admits all.
func (d *deletions) Admit(*run.Item, map[string]any) error { return nil }

// Precedes: nothing has to be written first.
func (d *deletions) Precedes(*run.Item) bool { return false }

// Decide returns the objects that the run has created, and that no other writer has changed.
func (d *deletions) Decide(ctx context.Context, _ *run.Plan) ([]*run.Item, error) {
	items := slices.SortedFunc(maps.Keys(d.entries), func(a, b *run.Item) int { return d.entries[a].Line - d.entries[b].Line })
	items = slices.DeleteFunc(items, func(item *run.Item) bool { return d.entries[item].Action != apply.Create })
	var out []*run.Item
	var lost []string // of each, what others have changed
	for _, item := range items {
		obj, err := d.Live.Get(ctx, item.Target)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", item.Target, err)
		}
		reason, theirs, err := d.keep(ctx, item, obj)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", item.Target, err)
		case obj == nil:
		case apply.Deleting(obj) != nil:
			d.waits(item.Target, obj)
		case reason != "":
			d.leave(Left{Target: item.Target, Reason: reason})
		default:
			item.UID, item.Surplus = object.UID(obj), &run.Surplus{Reason: "was created by the run"}
			item.Own()
			item.Planned = apply.Planned{Subject: apply.Subject{Object: item.Object, Name: item.Target.String(), HasStatus: item.Target.Status}, Live: obj}
			out, lost = append(out, item), append(lost, theirs)
		}
	}
	return d.contain(ctx, out, lost), nil
}

// keep returns why an object is kept; "" if it is to be deleted, and then with what others have changed of it.
func (d *deletions) keep(ctx context.Context, item *run.Item, obj map[string]any) (reason, theirs string, err error) {
	e, o := d.entries[item], object.Object{Value: obj}
	switch {
	case obj == nil:
		return "", "", nil
	case e.Written.UID != "" && e.Written.UID != o.UID():
		return "was deleted, and another one of that name was made since", "", nil
	case e.Written.UID == "" && !d.marked(e, obj):
		return "may have been made by others: whether the run created it is not in the record", "", nil
	case !d.overrides() && slices.Contains(applyset.HoldsData, item.Target.GroupKind()):
		return "was created by the run, and may hold data by now: delete it with kubectl, or undo with --policy=apply", "", nil
	case e.Written.ResourceVersion != "" && e.Written.ResourceVersion == o.ResourceVersion():
		return "", "", nil
	}
	typ, err := d.Planner.TypeOf(ctx, apply.Subject{Object: item.Object, Name: item.Target.String(), HasStatus: item.Target.Status}, obj)
	if err != nil {
		return "", "", err
	}
	changed := d.changed(e, obj, typ, item.Target.Status)
	if theirs = suggest.Few(changed, 5); len(changed) > 0 && !d.overrides() {
		return "was created by the run, and changed by others since: " + theirs + ": --policy=apply deletes it all the same", "", nil
	}
	return "", theirs, nil
}

// takes notes what others have changed of an object that is deleted all the same.
func (d *deletions) takes(t cluster.Target, theirs string) {
	if theirs != "" {
		d.Note(t, "is deleted with what others have changed since: "+theirs)
	}
}

// marked reports whether the object has the last-applied configuration of the run, so that a write
// without a recorded outcome has been executed.
func (d *deletions) marked(e *plandoc.Item, obj map[string]any) bool {
	is := lastapplied.Read(obj)
	if e.LastApplied == nil || !e.LastApplied.After.Set || is.Text == "" {
		return false
	}
	return plandoc.Same(reverting{Undo: d.Undo, Item: e}.configuration(e.LastApplied.After, is), merge.Some(is.Text))
}

// changed returns the paths of values that differ from those that the run has written. Values that
// controllers have written are ignored, and values that the server fills in if the record has only
// the request.
func (d *deletions) changed(e *plandoc.Item, obj map[string]any, typ *merge.Type, status bool) (out []string) {
	var wrote any
	for _, c := range e.Changes {
		if c.Path == "." && c.After.Set {
			wrote = c.After.Value
		}
	}
	is, _ := lastapplied.Strip(lastapplied.Without(obj), status)
	wrote, known := d.Record.Reveal(e.Identity, nil, wrote, merge.Some(is))
	if !known {
		return []string{"a hidden value"}
	}
	owners := ownership.Of(obj)
	claims := ownership.Claims(d.ofRun(e))
	for _, c := range parts(merge.Change{Op: merge.OpSet, New: merge.Some(wrote)}, typ) {
		by := ownership.At(owners, c.Path)
		if i := slices.IndexFunc(by, claims); i >= 0 {
			out = append(out, c.Path.String()+" (applied by "+by[i].Manager+")")
		}
	}
	for _, c := range merge.Diff(wrote, is, typ) {
		all := parts(c, typ)
		by := slices.DeleteFunc(slices.Clone(all), func(c merge.Change) bool { return d.unowned(e, c, typ, owners) })
		if len(by) == len(all) {
			by = []merge.Change{c}
		}
		out = append(out, object.Each(by, func(c merge.Change) string { return c.Path.String() })...)
	}
	return out
}

// parts returns the fields of a map that was added as a whole, and whose fields may have several
// owners; any other change is its own only part. typ is the object's type.
func parts(c merge.Change, typ *merge.Type) (out []merge.Change) {
	m, isMap := c.New.Value.(map[string]any)
	at := typ.At(c.Path)
	if c.Op != merge.OpSet || c.Old.Set || !isMap || len(m) == 0 || at != nil && at.Atomic || len(c.Path) > 0 && c.Path[len(c.Path)-1].Kind != merge.FieldStep {
		return []merge.Change{c}
	}
	for _, part := range merge.Diff(map[string]any{}, m, at) {
		part.Path = slices.Concat(c.Path, part.Path)
		out = append(out, parts(part, typ)...)
	}
	return out
}

// unowned reports whether a change contains no user's work that would be lost with the object. It
// was written by the control plane, or through status, as controllers do; or the server allocated
// it, such as the node of a pod; or the write itself filled it in, and the record has no answer.
func (d *deletions) unowned(e *plandoc.Item, c merge.Change, typ *merge.Type, owners merge.Owners) bool {
	by := ownership.At(owners, c.Path)
	controllers := len(by) > 0 && !ownership.ByUsers(owners, c.Path)
	field, _ := schema.FieldAt(typ, c.Path)
	added := c.Op == merge.OpSet && !c.Old.Set
	filled := added && e.Outcome == plandoc.Begun && (len(by) == 0 || by[0].Manager == d.Planner.Manager)
	return controllers || filled || added && field.Allocated && len(by) == 0
}

// contain returns the items without Namespaces and CustomResourceDefinitions that hold objects of others,
// by the rules of --prune. What is lost with the others is noted.
func (d *deletions) contain(ctx context.Context, items []*run.Item, lost []string) (out []*run.Item) {
	all := make([]applyset.Decision, len(items))
	for i, item := range items {
		m := applyset.Member{GroupKind: item.Target.GroupKind(), Name: item.Target.Name, UID: item.UID}
		all[i] = applyset.Decision{Member: m, Action: applyset.Delete}
	}
	held := d.Contents(ctx, all)
	for uid, objects := range held.Objects { // the parent of the run's set cannot be older than the namespace, and leads to nothing elsewhere
		held.Objects[uid] = slices.DeleteFunc(objects, func(m applyset.Member) bool {
			return d.Record.Set != nil && m.Labels[applyset.IDLabel] == d.Record.Set.ID && m.Annotations[applyset.NamespacesAnnotation] == ""
		})
	}
	for i, decided := range (applyset.Run{}).Contain(all, held) {
		if decided.Action == applyset.Delete {
			d.takes(items[i].Target, lost[i])
			out = append(out, items[i])
		} else {
			d.leave(Left{Target: items[i].Target, Reason: "was created by the run, and stays: " + decided.Reason})
		}
	}
	return out
}

// Begin makes the parents of sets list the objects that become members again, so that the next run
// of the set finds them, whatever happens to this one. The error is that of a parent.
func (d *deletions) Begin(ctx context.Context, _ *run.Plan) error {
	for _, id := range slices.Sorted(maps.Keys(d.joining)) {
		if d.Cover == nil {
			continue
		}
		if err := d.Cover(ctx, id, d.joining[id]); err != nil {
			return err
		}
	}
	return nil
}

// End does what Begin does: a run beside this one may have taken kinds off a parent before their
// objects were there.
func (d *deletions) End(ctx context.Context, p *run.Plan) error { return d.Begin(ctx, p) }

// waits reports the finalizers of an object that is being deleted.
func (d *deletions) waits(t cluster.Target, obj map[string]any) {
	if m := applyset.ReadMember(t.GroupKind(), obj); len(m.Finalizers) > 0 {
		d.Note(t, "is being deleted, and waits for "+strings.Join(m.Finalizers, ", "))
	}
}

// Delete deletes an item as decided, or has the server try it. If it was changed since, it is
// decided about again.
func (d *deletions) Delete(ctx context.Context, item *run.Item, trial bool) error {
	r := run.Removal{Delete: d.API.Delete, Target: item.Target, Read: d.Live.Get, Recorded: item.Surplus.Recorded}
	r.How = cluster.Deletion{UID: item.UID, ResourceVersion: object.Object{Value: item.Planned.Live}.ResourceVersion(), Propagation: cluster.Background, DryRun: trial}
	r.Left = func(obj map[string]any) { d.waits(item.Target, obj) }
	r.Note = func(text string) { d.Note(item.Target, text) }
	r.Again = func(obj map[string]any) (bool, error) {
		if apply.Deleting(obj) != nil {
			return false, nil
		}
		item.Own()
		item.Planned.Live = obj
		reason, theirs, err := d.keep(ctx, item, obj)
		if d.takes(item.Target, theirs); reason != "" {
			d.leave(Left{Target: item.Target, Reason: reason})
			item.Surplus = &run.Surplus{Keep: true, Reason: reason}
		}
		return reason == "", err
	}
	if err := r.Do(ctx); err != nil {
		return fmt.Errorf("%s: was not deleted: %w", item.Target, err)
	}
	return nil
}

// generated lists values that the server makes for one object alone, from its UID, and refuses in
// another one. Each row is a kind, the field in which users state them instead, and their fields.
var generated = []struct {
	group, kind string
	unless      []string
	fields      [][]string
}{
	{"batch", "Job", []string{"spec", "manualSelector"}, [][]string{
		{"spec", "selector"},
		{"spec", "template", "metadata", "labels", "controller-uid"},
		{"spec", "template", "metadata", "labels", "batch.kubernetes.io/controller-uid"},
	}},
}

// anew returns an object as it can be created again: without the values that the server had
// generated for it. The argument is not modified.
func anew(obj map[string]any) map[string]any {
	o := object.Object{Value: obj}
	for _, row := range generated {
		if row.group != o.Group() || row.kind != o.Kind() || merge.At[bool](obj, row.unless...) {
			continue
		}
		for _, names := range row.fields {
			obj = merge.Without(obj, names...)
		}
	}
	return obj
}
