package ownership

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Creator is the manager that created live, "" where nobody is known for it, or where it is
// a part of the control plane; typ is live's type. That an
// entry has the time of the creation is not enough, since times are in seconds: whoever
// wrote in the same second is taken for the creator once the creator writes again. So the
// creator has to hold something that was there from the start, if anybody does.
func Creator(live any, typ *merge.Type) string {
	obj, _ := live.(map[string]any)
	o := parse(obj["metadata"])
	name := o.byTime()
	if name == "" || schema.ControlPlane(name) {
		return ""
	}
	if first := fromTheStart(live, typ, o); len(first) > 0 && !slices.Contains(first, name) {
		return ""
	}
	return name
}

// fromTheStart are the managers that hold what an object has as soon as it is made: the
// defaults that the server gives any of its kind, and what its contents are in (data, spec).
// An Apply entry holds no defaults, so that nobody may.
func fromTheStart(live any, typ *merge.Type, o *owners) []string {
	obj, _ := live.(map[string]any)
	var holders []merge.Owner
	for name := range obj {
		if name != "metadata" && name != "status" {
			holders = append(holders, o.made(name)...)
		}
	}
	bare := map[string]any{"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": map[string]any{}}
	for _, c := range merge.Diff(bare, merge.Complete(bare, typ, true), typ) {
		for _, p := range leavesOf(c.New.Value, c.Path) {
			holders = append(holders, o.At(p)...)
		}
	}
	var names []string
	for _, owner := range holders {
		if owner.Operation == "Update" && owner.Subresource == "" {
			names = append(names, owner.Manager)
		}
	}
	return names
}

// leavesOf are the paths of the values in v, which stands at p, that have no fields.
func leavesOf(v any, p merge.Path) []merge.Path {
	m, ok := v.(map[string]any)
	if !ok {
		return []merge.Path{p}
	}
	var out []merge.Path
	for name, e := range m {
		out = append(out, leavesOf(e, p.Child(merge.Named(name)))...)
	}
	return out
}

// byTime is the manager that created the object: the one whose entry for the object
// itself still has the time of the object's creation. An entry's time is that of its
// last write, so a creator that has written again is not found, and an older entry than
// all others proves nothing. "" where nobody is known, or where several have written in
// the second in which the object was made: a guess would take one's values for
// another's. Of several, one whose only trade is to make objects has made this one.
func (o *owners) byTime() string {
	if o == nil || o.created.IsZero() {
		return ""
	}
	name, several := "", false
	for _, entry := range o.entries {
		e := entry.owner
		switch {
		case e.Subresource != "" || e.Manager == merge.Unrecorded || !e.Time.Equal(o.created) || e.Manager == name:
		case makers[e.Manager]:
			return e.Manager
		case name != "":
			several = true
		default:
			name = e.Manager
		}
	}
	if several {
		return ""
	}
	return name
}

// makers are the managers as which kubectl makes objects, and does nothing else.
var makers = map[string]bool{"kubectl-create": true, "kubectl-run": true, "kubectl-expose": true, "kubectl-autoscale": true}
