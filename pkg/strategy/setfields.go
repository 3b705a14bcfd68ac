package strategy

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// set is one search for fields that were set.
type set struct {
	Input
	result *merge.Finder
	around map[string]bool // what holds entries that are reported already
	found  []merge.Removal
}

// set begins a search for what differs from the result of a merge.
func (in Input) set(result any, reported []merge.Removal) set {
	s := set{Input: in, result: merge.NewFinder(result, in.Schema), around: map[string]bool{}}
	for _, r := range reported {
		for n := range r.Path {
			s.around[r.Path[:n].String()] = true
		}
	}
	return s
}

// look visits the changes between what was set and local. typ is the type of the value at
// base.
func (s *set) look(typ *merge.Type, base merge.Path, changes []merge.Change) {
	for _, c := range changes {
		p := append(base[:len(base):len(base)], c.Path...)
		isEntry, t := entry(typ, c.Path)
		switch {
		case isServers(p) || isKey(p) || s.filledIn(p, c.Old.Value):
		case c.Op != merge.OpRemove || isEntry || hasEntries(t):
		case t != nil && t.Kind == merge.Object && !t.Atomic && s.around[p.String()]:
			s.look(t, p, merge.Diff(c.Old.Value, map[string]any{}, t))
		default:
			s.add(p, c.Old.Value)
		}
	}
}

// filledIn reports whether the server would store the value for local alone, or again once it is
// removed from live. (A Job's completions are filled in only where parallelism is missing too.)
func (s *set) filledIn(p merge.Path, v any) bool {
	own, ok := s.stored().Lookup(p)
	return ok && merge.Equal(own, v, s.Schema.At(p)) || s.live.Refilled(p)
}

// isKey reports whether the value is a key of the list entry that contains it.
func isKey(p merge.Path) bool {
	return len(p) > 1 && slices.ContainsFunc(p[len(p)-2].Keys, func(k merge.KeyPart) bool { return k.Name == p[len(p)-1].Name })
}

func hasEntries(t *merge.Type) bool {
	return t != nil && !t.Atomic && (t.Kind == merge.Map || t.Kind == merge.Keyed || t.Kind == merge.Set)
}

// add reports a value that stays.
func (s *set) add(p merge.Path, v any) {
	if now, ok := s.result.Lookup(p); !ok || now == nil {
		return // it is removed: another variant displaces it
	}
	owner := addedBy(s.Triple.Owners, p, isPerson)
	s.found = append(s.found, merge.Removal{Path: p, Value: v, Cause: merge.CauseLive, Owner: owner})
}

// defaulted lists the fields that local sets to null, that may be null, and that have a
// default. The write cannot express null (RFC 7386), so the server fills the default in.
// Fields that are null in live are left out.
func defaulted(local, live any, typ *merge.Type, at merge.Path) (out []merge.Path) {
	m, ok := local.(map[string]any)
	if !ok || typ == nil || typ.Atomic {
		return nil
	}
	for name, l := range m {
		f, p := typ.Field(name), at.Child(merge.Named(name))
		is, there := merge.At[map[string]any](live)[name]
		if l == nil && f.Nullable && f.Default != nil && !(there && is == nil) {
			out = append(out, p)
		}
		out = append(out, defaulted(l, is, f.Type, p)...)
	}
	merge.SortByPath(out, func(p merge.Path) merge.Path { return p })
	return out
}
