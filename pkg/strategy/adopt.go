package strategy

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Kubectls are the managers under which kubectl's commands record fields that state a whole
// object: they belong to the same user.
var Kubectls = []string{"kubectl", "kubectl-client-side-apply", "kubectl-create", "kubectl-replace", "kubectl-run", "kubectl-expose"}

// Adoption says how undecided values can be adopted: by --original=managed-fields.
//
// Rules: docs/semantics.md#where-original-comes-from.
type Adoption struct {
	Owners []string // the managers that own values which can be adopted, in order
	Named  []string // those of Owners that the user has to name
	Rest   bool     // some values have no owner that could be named
}

// adoption returns how the values can be adopted.
func (in Input) adoption(undecided []merge.Removal) (out Adoption) {
	for _, u := range undecided {
		owners := ownership.At(in.Triple.Owners, u.Path)
		if len(owners) == 0 || slices.ContainsFunc(owners, unnameable) {
			out.Rest = true
			continue
		}
		for _, o := range owners {
			out.Owners = append(out.Owners, o.Manager)
		}
	}
	slices.Sort(out.Owners)
	out.Owners = slices.Compact(out.Owners)
	out.Named = slices.DeleteFunc(slices.Clone(out.Owners), func(name string) bool {
		return slices.Contains(Kubectls, name) || slices.Contains(in.Triple.Appliers, name)
	})
	return out
}

// unnameable reports whether the owner cannot be named, so that what it holds stays.
func unnameable(o merge.Owner) bool {
	return o.Subresource != "" || o.Manager == "" || strings.Contains(o.Manager, ",") || o.Manager == merge.Unrecorded || keepsItself(o.Manager)
}

// adoptable lists what only kubectl's own managers hold and what stays, though neither
// local nor original has it.
func adoptable(in Input, result any) []merge.Removal {
	t := in.Triple
	has := func(manager, _ string) bool {
		return slices.Contains(Kubectls, manager) && !slices.Contains(t.Appliers, manager)
	}
	if !slices.ContainsFunc(ownership.At(t.Owners, nil), func(o merge.Owner) bool { return has(o.Manager, "") }) {
		return nil
	}
	conf := ownership.Original(t.Live, ownership.Holders{Has: has, Alone: true, Inside: true, Local: t.Local}, in.Schema)
	if conf == nil {
		return nil
	}
	changes := merge.Diff(conf, t.Local, in.Schema)
	out := entriesOf(in.Schema, nil, changes)
	s, original := in.set(result, out), merge.NewFinder(t.Original, in.Schema)
	s.look(in.Schema, nil, changes)
	out = slices.DeleteFunc(append(out, s.found...), func(r merge.Removal) bool {
		_, had := original.Lookup(r.Path)
		is, stays := s.result.Lookup(r.Path)
		return isServers(r.Path) || serverMade(in, r) || had || !stays || is == nil
	})
	for i := range out {
		out[i].Owner = addedBy(t.Owners, out[i].Path, isPerson)
	}
	merge.SortByPath(out, func(r merge.Removal) merge.Path { return r.Path })
	return out
}

// extras lists what managers other than the applier, the control plane and the server have
// added to live: values that local lacks and that stay. Entries of maps, sets and keyed
// lists are never a default; other fields count only where managedFields name an owner.
// Without managedFields, an entry counts that original does not have either. Values that
// the rules give to live do not count.
//
// in.Policy.Rules are complete; result is the merge's.
func extras(in Input, result any) []merge.Removal {
	t := in.Triple
	foreign := func(o merge.Owner) bool {
		apart := o.Subresource == "scale" // no apply writes there: even under the applier's name it was another command
		return !keepsItself(o.Manager) && (apart || o.Subresource == "" && !slices.Contains(t.Appliers, o.Manager))
	}
	return slices.DeleteFunc(in.added(result, result, foreign), func(r merge.Removal) bool {
		rule, ok := merge.RuleAt(in.Policy.Rules, r.Path)
		return ok && rule.Choice == merge.TakeLive
	})
}

// added lists what such an owner has added to an object and local lacks, and what it has set that is in the result.
func (in Input) added(to, result any, by func(merge.Owner) bool) (out []merge.Removal) {
	is := merge.NewFinder(result, in.Schema)
	for _, r := range entriesOf(in.Schema, nil, merge.Diff(to, in.Triple.Local, in.Schema)) {
		if _, stays := is.Lookup(r.Path); !stays || isServers(r.Path) || serverMade(in, r) {
			continue
		}
		if r.Owner = addedBy(in.Triple.Owners, r.Path, by); in.Triple.Owners == nil || r.Owner != nil {
			out = append(out, r)
		}
	}
	out = append(out, in.foreignFields(result, out, by)...)
	merge.SortByPath(out, func(r merge.Removal) merge.Path { return r.Path })
	return out
}

// foreignFields returns the fields that foreign managers have set and local lacks, except
// for the entries reported already. The parts of an object that the server fills in are
// named field by field.
func (in Input) foreignFields(result any, reported []merge.Removal, foreign func(merge.Owner) bool) []merge.Removal {
	conf := ownership.Original(in.Triple.Live, ownership.Holders{
		Has:    func(manager, _ string) bool { return foreign(merge.Owner{Manager: manager}) },
		Scaled: func(manager string) bool { return foreign(merge.Owner{Manager: manager, Subresource: "scale"}) },
		Local:  in.Triple.Local,
	}, in.Schema)
	if conf == nil {
		return nil
	}
	s := in.set(result, reported)
	s.look(in.Schema, nil, merge.Diff(conf, in.Triple.Local, in.Schema))
	var out []merge.Removal
	for _, r := range s.found {
		for _, part := range s.apart(r.Path, r.Value) {
			part.Owner = addedBy(in.Triple.Owners, part.Path, foreign)
			out = append(out, part)
		}
	}
	return out
}

// apart splits an object that local, completed by the server, has too.
func (s *set) apart(p merge.Path, v any) (out []merge.Removal) {
	t := s.Schema.At(p)
	m, isMap := v.(map[string]any)
	if there, _ := s.stored().Lookup(p); !isMap || there == nil || t == nil || t.Kind != merge.Object || t.Atomic {
		return []merge.Removal{{Path: p, Value: v, Cause: merge.CauseLive}}
	}
	for name, e := range m {
		out = append(out, s.apart(p.Child(merge.Named(name)), e)...)
	}
	return out
}

// addedBy returns the newest such owner of the path; nil where there is none.
func addedBy(o merge.Owners, p merge.Path, foreign func(merge.Owner) bool) *merge.Owner {
	for _, owner := range ownership.At(o, p) {
		if foreign(owner) {
			return &owner
		}
	}
	return nil
}

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
			if now, ok := s.result.Lookup(p); ok && now != nil { // otherwise it is removed: another variant displaces it
				s.found = append(s.found, merge.Removal{Path: p, Value: c.Old.Value, Cause: merge.CauseLive})
			}
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
func isPerson(o merge.Owner) bool { return o.Subresource == "" && !keepsItself(o.Manager) }

// keepsItself reports whether a manager's values are for no file: those of the control plane, and the marks of a set's parent.
func keepsItself(manager string) bool {
	return schema.ControlPlane(manager) || manager == ownership.SetManager
}
