package strategy

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// entriesOf lists the entries that the changes remove, also those inside a map or
// list that is removed as a whole. typ is the type of the value at base.
func entriesOf(typ *merge.Type, base merge.Path, changes []merge.Change) (out []merge.Removal) {
	for _, c := range changes {
		p := append(base[:len(base):len(base)], c.Path...)
		isEntry, t := entry(typ, c.Path)
		if c.Op == merge.OpSet { // a list in which keys repeat is reported whole
			is, ok := c.New.Value.([]any)
			if ok && t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set) {
				steps, entries := merge.Spare(t, merge.At[[]any](c.Old.Value), is)
				for i, s := range steps {
					out = append(out, merge.Removal{Path: p.Child(s), Value: entries[i], Cause: merge.CauseLive})
				}
			}
		}
		if c.Op != merge.OpRemove {
			continue
		}
		if isEntry {
			out = append(out, merge.Removal{Path: p, Value: c.Old.Value, Cause: merge.CauseLive})
			continue
		}
		var empty any
		switch c.Old.Value.(type) {
		case map[string]any:
			empty = map[string]any{}
		case []any:
			empty = []any{}
		default:
			continue
		}
		out = append(out, entriesOf(t, p, merge.Diff(c.Old.Value, empty, t))...)
	}
	return out
}

// isServers reports whether the path is server-owned metadata, the label of a set, or
// status, which no user removes.
func isServers(p merge.Path) bool {
	return p[0].Name == "status" || p[0].Name == "metadata" &&
		(len(p) < 3 || p[1].Name == "managedFields" || p[1].Name == "labels" && p[2].Name == lastapplied.PartOf)
}

// serverMade reports whether the server itself creates the entry with the object.
func serverMade(in Input, r merge.Removal) bool {
	return in.live.Refilled(r.Path) || in.Schema.Makes(r.Path)
}

// entry reports whether the path leads to an entry of a map, set or keyed list, and
// what type the value there has.
func entry(t *merge.Type, p merge.Path) (bool, *merge.Type) {
	isEntry := false
	for _, s := range p {
		switch {
		case t == nil:
			isEntry = true
		case s.Kind == merge.FieldStep && t.Kind == merge.Object:
			f, declared := t.Fields[s.Name]
			isEntry, t = !declared, f.Type
		default:
			isEntry, t = true, t.Elem
		}
	}
	return isEntry, t
}

// isPerson reports whether an owner is not part of the control plane.
func isPerson(o merge.Owner) bool { return o.Subresource == "" && !schema.ControlPlane(o.Manager) }
