// Package absorb takes values of live objects into the files that state them: which differences
// are chosen, what the objects of the files become, and the texts of the files. It refuses to
// merge, to ask, to print, and to write to a cluster.
package absorb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Choice selects differences.
type Choice struct {
	Applier  string       // manager of the files
	Managers []string     // whose values are chosen; none: those that kubectl's commands set
	Fields   []merge.Path // only these, and what is below them, of any owner; none: all
	Secrets  bool         // values of Secrets, too
	File     string       // takes the members of a set that are in no file; "" is none
}

// Value is one difference. Its Reason states why the file stays as it is; "" for a chosen value.
type Value struct {
	drift.Row

	Unplaced bool // it was chosen, and no file can take it

	of    *Object
	live  merge.Opt // live's value, without what the server has filled in; not set: the file loses its value
	whole any       // with it
	file  string    // that takes it; "": the object's
	why   string    // the reason that no file of a kustomization has taken it for yet
	along bool      // what the server would fill in differently beside another chosen value
}

// Object is an object of a file, with its differences.
type Object struct {
	object.Object
	Values []*Value

	typ  *merge.Type
	live map[string]any // for the order of new entries, and for empty values

	unrecorded bool // what was applied was read from managedFields

	// compare compares another form of the object with live; nil for a new one.
	compare func(context.Context, object.Object) ([]drift.Row, error)
}

// Chosen returns the values that the object's file takes.
func (o *Object) Chosen() []*Value {
	return slices.DeleteFunc(slices.Clone(o.Values), func(v *Value) bool { return v.Reason != "" })
}

// atOnce returns a value with those that a text can take only together with it: for an entry that gets another key,
// its other new keys, and what comes along in it.
func (v *Value) atOnce() []*Value {
	return append([]*Value{v}, slices.DeleteFunc(v.of.Chosen(), func(w *Value) bool {
		return w == v || w.file != "" || !v.rekeys() || !w.along && !w.rekeys() || !v.Path[:len(v.Path)-1].Leads(w.Path)
	})...)
}

// rekeys reports whether the value is a key that an entry of the file does not have.
func (v *Value) rekeys() bool {
	n := len(v.Path) - 1
	return v.Stated != nil && slices.ContainsFunc(v.Path[n-1].Keys, func(k merge.KeyPart) bool { return k.Name == v.Path[n].Name })
}

// Take lists the differences of an item that was compared (see drift.Of), the chosen ones among
// them. The item is merged once more with those. A value that would still differ then is left. A
// member of a set that is in no file is one value. The error names the object.
func (c Choice) Take(ctx context.Context, p *run.Plan, item *run.Item) (*Object, error) {
	if item.Surplus != nil {
		return c.member(ctx, p, item)
	}
	whole, err := item.Object.Whole()
	if err != nil {
		return nil, err
	}
	o := &Object{Object: whole, typ: item.Planned.Type, live: item.Planned.Live, unrecorded: item.Planned.FromOwners}
	o.compare = func(ctx context.Context, with object.Object) ([]drift.Row, error) {
		item.Object = with
		p.Replan(ctx, item)
		return drift.Of(item, c.Applier), item.Err
	}
	everyone := ownership.Holders{Has: func(string, string) bool { return true }, Scaled: func(string) bool { return true }}
	all, stated := merge.NewFinder(o.live, o.typ), merge.NewFinder(ownership.Original(o.live, everyone, o.typ), o.typ)
	for _, row := range drift.Of(item, c.Applier) {
		v := &Value{Row: row, of: o}
		v.Reason, o.Values = c.left(row, o), append(o.Values, v)
		v.whole, v.live.Set = all.Lookup(row.Path)
		v.live.Value = v.whole
		if is, has := stated.Lookup(row.Path); has && o.within(is, v) {
			v.live.Value = is
		}
	}
	want, err := o.with(whole.Value, o.Chosen())
	if err != nil {
		return nil, err
	}
	was, will := merge.NewFinder(whole.Value, o.typ), merge.NewFinder(want, o.typ)
	for _, v := range o.Values {
		if v.Reason != "" && v.Drift == drift.Removed && (o.displaced(v.Path) || will.Obsolete(v.Path) && !was.Obsolete(v.Path)) {
			v.Reason = ""
		}
	}
	for _, v := range o.Chosen() {
		if former := o.former(v); former != nil && len(c.Fields) == 0 {
			v.Reason = fmt.Sprintf("takes the place of %s, which is left: %s", former.Path, former.Reason)
		}
	}
	for again := len(o.Chosen()) > 0; again; {
		want, err := o.with(whole.Value, o.Chosen())
		if err != nil {
			return nil, err
		}
		rows, err := o.compare(ctx, object.Object{Value: want, Origin: whole.Origin})
		if err != nil {
			return nil, err
		}
		again = (c.depend(o, rows) || o.refuse(rows) || o.unfilled(whole.Value, want)) && len(o.Chosen()) > 0
	}
	return o, nil
}

// former returns the entry that is left in the file and that a new one has become by another key; nil for none.
func (o *Object) former(v *Value) *Value {
	n := len(v.Path) - 1
	for _, old := range o.Values {
		if v.Drift != drift.Added || old.Drift != drift.Removed || old.Reason == "" || old.Moved == 0 || len(old.Path) != len(v.Path) || !v.Path[:n].Leads(old.Path) {
			continue
		}
		was, _ := merge.Lookup(o.Value, old.Path, o.typ)
		if t := o.typ.At(v.Path[:n]); t != nil && t.Kind == merge.Keyed && merge.Rekeyed(t, was, v.whole) {
			return old
		}
	}
	return nil
}

// depend judges the values that were left anew which the rows, of the object with the chosen values, show in another
// light: a field that the server has only beside one of those. It reports whether one is chosen now.
func (c Choice) depend(o *Object, rows []drift.Row) (any bool) {
	for _, row := range rows {
		for _, v := range o.Values {
			if v.Reason != "" && v.Moved != row.Moved && v.Path.String() == row.Path.String() {
				v.Row, v.Reason = row, c.left(row, o)
				any = any || v.Reason == ""
			}
		}
	}
	return any
}

// within reports whether live's value only adds to what is stated of it. The record of managers does not tell
// apart entries of a list that have the same keys.
func (o *Object) within(stated any, v *Value) bool {
	for n, step := range v.Path {
		list, _ := merge.Lookup(o.live, v.Path[:n], o.typ)
		if entries, isList := list.([]any); isList && len(merge.EntriesOf(entries, o.typ.At(v.Path[:n])).All(step)) > 1 {
			return false
		}
	}
	return !slices.ContainsFunc(merge.Diff(stated, v.whole, o.typ.At(v.Path)), func(c merge.Change) bool { return c.Old.Set && c.New.Set })
}

// unfilled chooses what the server fills in beside the file as it was, and would not, or differently, beside the
// chosen values: a default of the map that one of them is added to. It reports whether there is any. Of a Secret
// there is none: stringData is another form of what it states.
func (o *Object) unfilled(was, want map[string]any) (any bool) {
	before, after, stated := merge.Complete(was, o.typ, true), merge.Complete(want, o.typ, true), merge.NewFinder(want, o.typ)
	for _, c := range merge.Diff(before, after, o.typ) {
		n := stated.Reach(c.Path)
		if n == len(c.Path) || redact.IsSecret(was) {
			continue
		}
		p := c.Path[:n+1] // to the first that the file does not state
		is, there := merge.Lookup(o.live, p, o.typ)
		old, _ := merge.Lookup(before, p, o.typ)
		known := slices.ContainsFunc(o.Values, func(v *Value) bool { return v.Path.Leads(p) || p.Leads(v.Path) })
		if there && !known && merge.Equal(is, old, o.typ.At(p)) {
			row := drift.Row{Object: o.Values[0].Row.Object, Drift: drift.Added, Path: p, Live: merge.Some(is)}
			o.Values, any = append(o.Values, &Value{Row: row, of: o, live: row.Live, whole: is, along: true}), true
		}
	}
	return any
}

// displaced reports whether a chosen value excludes a field: another variant of a one-of.
func (o *Object) displaced(p merge.Path) bool {
	n := len(p) - 1
	in := o.typ.At(p[:n])
	return in != nil && slices.ContainsFunc(in.OneOf, func(group merge.OneOf) bool {
		return slices.Contains(group.Fields, p[n].Name) && slices.ContainsFunc(o.Chosen(), func(v *Value) bool {
			return v.Drift == drift.Added && len(v.Path) > n && p[:n].Leads(v.Path) && slices.Contains(group.Fields, v.Path[n].Name)
		})
	})
}

// refuse leaves the chosen values that the rows still name, or that have caused one of them, unless
// they can be taken with what the server has filled in. It reports whether there are any.
func (o *Object) refuse(rows []drift.Row) (any bool) {
	for _, row := range rows {
		if slices.ContainsFunc(o.Values, func(v *Value) bool { return v.Reason != "" && v.Path.Leads(row.Path) }) {
			continue
		}
		if o.beside(row) {
			any = true
			continue
		}
		found := false
		for n := len(row.Path); !found && n >= 0; n-- { // a cause that is not there is a neighbor: another variant of a one-of
			for _, v := range o.Chosen() {
				if at := row.Path[:n]; !v.Path.Leads(at) && !at.Leads(v.Path) {
					continue
				}
				if any, found = true, true; merge.Identical(v.live.Value, v.whole) {
					v.Reason = "a file cannot state it so that live stays as it is"
				}
				v.live.Value = v.whole
			}
		}
	}
	return any
}

// beside chooses what live has in an entry with an edited key, and what the server would fill in
// differently for that key, such as the target of a Service's port. It reports whether the row is that.
func (o *Object) beside(row drift.Row) bool {
	is := row.Drift == drift.Added && slices.ContainsFunc(o.Chosen(), func(v *Value) bool {
		return v.Stated != nil && v.Path[:len(v.Path)-1].Leads(row.Path)
	})
	if is {
		o.Values = append(o.Values, &Value{Row: row, of: o, live: row.Live, whole: row.Live.Value, along: true})
	}
	return is
}

// left returns the reason for which a value is not chosen; "" if it is.
func (c Choice) left(row drift.Row, o *Object) string {
	named := slices.ContainsFunc(c.Fields, row.Below)
	switch {
	case row.Path == nil:
		return cmp.Or(row.Reason, "not in the cluster: merge it first, or check the namespace")
	case redact.IsSecretKind(row.Group, row.Object.Kind) && !c.Secrets:
		return "in a Secret: --secrets takes it"
	case len(c.Fields) > 0 && !named:
		return "not named"
	case c.Managers != nil && row.Owner != nil && c.of(*row.Owner), c.Managers == nil && named:
		return ""
	case row.Order != nil:
		return "only the order differs: name the list to take it"
	case row.Moved == 0 && o.unrecorded && row.Drift == drift.Removed:
		return "not in live, and nothing records whether it was removed there: name it"
	case row.Moved == 0:
		return "changed only in the file since it was applied"
	case c.Managers != nil: // another one's
	case row.Moved == merge.Dropped:
		return "removed from the file, and changed by " + diff.OwnerName(row.Owner)
	case row.Moved != merge.Drift:
		return "changed in the file, too: name it to take it"
	case row.Drift == drift.Removed:
		return c.removed(o.live)
	case row.Path[len(row.Path)-1].Name == "kubectl.kubernetes.io/restartedAt":
		return "restarts pods, and is not configuration"
	case row.Owner != nil && c.byHand(*row.Owner):
		return ""
	}
	switch {
	case row.Owner == nil && row.Drift == drift.Removed:
		return "removed by a manager that is not recorded: name it"
	case row.Owner == nil:
		return "set by a manager that is not recorded"
	}
	return "set by " + diff.OwnerName(row.Owner)
}

// of reports whether an owner is one of the managers, which may be named with a subresource, as reports have it.
func (c Choice) of(o merge.Owner) bool {
	return slices.Contains(c.Managers, o.Manager) || slices.Contains(c.Managers, diff.OwnerName(&o))
}

// byHand reports whether values of a manager were set by a command of kubectl's. What others have
// applied has files of its own.
func (c Choice) byHand(o merge.Owner) bool {
	if o.Operation != "Update" || o.Subresource != "scale" && o.Manager == c.Applier {
		return false
	}
	return o.Manager == "kubectl" || strings.HasPrefix(o.Manager, "kubectl-") && !slices.Contains(notByHand, o.Manager)
}

// notByHand are managers of kubectl's that write what files state.
var notByHand = []string{"kubectl-client-side-apply", ownership.AnnotationManager, ownership.SetManager}

// removed returns the reason for which a value that live has lost stays in the file. The record of
// managers does not have who has removed a value. So every program that writes the object may have.
func (c Choice) removed(live map[string]any) string {
	entries := merge.MapsAt(live, "metadata", "managedFields")
	if len(entries) == 0 {
		return "removed by a manager that is not recorded"
	}
	for _, e := range entries {
		o := merge.Owner{Manager: merge.At[string](e, "manager"), Operation: "Update", Subresource: merge.At[string](e, "subresource")}
		if o.Subresource == "" && o.Manager != c.Applier && !c.byHand(o) && !slices.Contains(notByHand, o.Manager) && !schema.ControlPlane(o.Manager) {
			return "removed, perhaps by " + diff.OwnerName(&o)
		}
	}
	return ""
}

// Place is the field of a value, as messages name it.
func (v *Value) Place() string {
	if v.Path == nil {
		return "the object"
	}
	return v.Path.String()
}

// Report returns all values as JSON. Those of Secrets are masked.
func Report(objects []*Object) map[string]any {
	rows := []any{}
	for _, o := range objects {
		for _, v := range o.Values {
			row := v.JSON()
			row["absorbed"], row["file"] = v.Reason == "", cmp.Or(v.file, o.Origin.File)
			rows = append(rows, row)
		}
	}
	return map[string]any{"kind": "AbsorbReport", "values": rows}
}

// Unused returns those of the named fields that no object differs in.
func (c Choice) Unused(objects []*Object) []merge.Path {
	return slices.DeleteFunc(slices.Clone(c.Fields), func(p merge.Path) bool {
		return slices.ContainsFunc(objects, func(o *Object) bool {
			return slices.ContainsFunc(o.Values, func(v *Value) bool { return v.Below(p) })
		})
	})
}

// Summary returns in one line what the files take, and how much is left, by reason. Unless what is
// left was named before, it says how to have it named.
func Summary(objects []*Object, files int, written, named bool) string {
	of, left, why := 0, 0, map[string]int{}
	for _, o := range objects {
		if len(o.Chosen()) > 0 {
			of++
		}
		for _, v := range o.Values {
			reason := v.Reason
			if v.Unplaced { // the reason has all places
				reason, _, _ = strings.Cut(reason, ": ")
			}
			why[reason]++
		}
		left += len(o.Values) - len(o.Chosen())
	}
	text := diff.Count(len(objects), "object", "objects") + " compared: no drift"
	switch taken := why[""]; {
	case taken > 0:
		verb, hint := "written", ""
		if !written {
			verb, hint = "would be written", ": -w writes them"
		}
		text = fmt.Sprintf("%s of %s %s into %s%s", diff.Count(taken, "value", "values"), diff.Count(of, "object", "objects"), verb, diff.Count(files, "file", "files"), hint)
	case left > 0:
		text = diff.Count(len(objects), "object", "objects") + " compared: nothing to take"
	}
	if left == 0 {
		return text
	}
	delete(why, "")
	order := slices.SortedFunc(maps.Keys(why), func(a, b string) int { return cmp.Or(why[a]-why[b], cmp.Compare(a, b)) })
	text += fmt.Sprintf("; %d left: %s", left, diff.Counts(why, order))
	if !named {
		text += "; -v=1 names them"
	}
	return text
}
