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
// creator has to hold something that was there from the start, if anybody does; and where
// somebody else has applied the object, nobody but the creator may.
func Creator(live any, typ *merge.Type) string {
	obj, _ := live.(map[string]any)
	o := parse(obj["metadata"])
	name := o.byTime()
	if name == "" || schema.ControlPlane(name) {
		return ""
	}
	first := fromTheStart(live, typ, o)
	others := slices.ContainsFunc(first, func(manager string) bool { return manager != name })
	switch held := slices.Contains(first, name); {
	case others && !held, (others || !held) && o.appliedByOthers(name):
		return ""
	}
	return name
}

// appliedByOthers reports whether others alone have applied the object, by the last-applied
// annotation or on the server's side, so that they may have made it as well as name, whose entry
// does not prove it.
func (o *owners) appliedByOthers(name string) bool {
	annotators := Annotators(o)
	applied := len(annotators) > 0
	for _, e := range o.entries {
		if e.owner.Operation == "Apply" && e.owner.Subresource == "" {
			applied = true
			annotators = append(annotators, e.owner.Manager)
		}
	}
	return applied && !slices.Contains(annotators, name) && !makers[name]
}

// fromTheStart are the managers that hold what an object has as soon as it is made: the
// defaults that the server gives any of its kind, and what its contents are in (data, spec).
// A default that has been changed since proves nothing. An Apply entry holds no defaults, so that nobody may.
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
		for _, l := range leavesOf(c.New.Value, c.Path) {
			if is, has := merge.Lookup(live, l.path, typ); !has || merge.Equal(is, l.value, typ.At(l.path)) {
				holders = append(holders, o.At(l.path)...)
			}
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

// leaf is a value that has no fields, and where it is.
type leaf struct {
	path  merge.Path
	value any
}

// leavesOf are the values in v, which stands at p, that have no fields.
func leavesOf(v any, p merge.Path) []leaf {
	m, ok := v.(map[string]any)
	if !ok {
		return []leaf{{p, v}}
	}
	var out []leaf
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
