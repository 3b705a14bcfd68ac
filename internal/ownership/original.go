package ownership

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Holders selects managers, whose values are then collected.
type Holders struct {
	// Has reports whether an entry of managedFields is one of theirs; it is not called for
	// subresources.
	Has func(manager, operation string) bool

	// Scaled reports the same of entries of the subresource scale, which sets replicas;
	// nil: none.
	Scaled func(manager string) bool

	// Alone leaves out what other managers hold as well, as the removal of a field in
	// server-side apply does: entries of lists as a whole, other values unchanged.
	Alone bool

	// Inside takes of an entry that others hold as well what the holders alone have in it.
	Inside bool

	// Local is the object as a file states it, nil: by none. Into a map that it states the server fills nothing.
	Local any
}

// Named selects holders by their names.
func Named(names ...string) Holders {
	return Holders{Has: func(manager, _ string) bool { return slices.Contains(names, manager) }}
}

// Managers are field managers that a user has named. It records which of them live objects have, and may
// be used by several goroutines.
type Managers struct {
	Names        []string
	Subresources bool // a name may have a subresource: kubectl/scale

	mu    sync.Mutex
	found map[string]bool
}

// Look records the managers of an object's fields; nil has none.
func (m *Managers) Look(live map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, entry := range list(live) {
		if m.found == nil {
			m.found = map[string]bool{}
		}
		if merge.At[string](entry, "subresource") != "status" {
			m.found[merge.At[string](entry, "manager")] = true
			if of := merge.At[string](entry, "subresource"); m.Subresources && of != "" {
				m.found[merge.At[string](entry, "manager")+"/"+of] = true
			}
		}
	}
}

// Missing passes on each name that no object has, a text about it that names those found, and whether one
// of them is nearly that name: it is then probably misspelt, else perhaps taken over before. Where no object
// has been looked at, none is missing.
func (m *Managers) Missing(report func(name, text string, near bool)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := slices.Sorted(maps.Keys(m.found))
	for _, name := range m.Names {
		if m.found != nil && !m.found[name] {
			hint := suggest.Hint(name, found)
			report(name, "no object of the input has fields of this manager; there are: "+strings.Join(found, ", ")+hint, hint != "")
		}
	}
}

// Original computes what the holders applied last, where no annotation has it: the values
// of live that are theirs by metadata.managedFields (KEP-555). Of an Apply entry that is
// every field. An Update entry (kubectl create, edit, replace) also holds what the server
// filled in. So only its entries of maps, sets and keyed lists count, and fields whose
// value is not the default. What the server allocates does not. Entries of subresources are
// not configuration, except scale's where Scaled selects it. typ is the type of live; nil
// knows no defaults and no lists.
//
// The result names live (apiVersion, kind, name, namespace). It is nil where the holders
// own nothing.
func Original(live any, of Holders, typ *merge.Type) any {
	obj, ok := live.(map[string]any)
	if !ok {
		return nil
	}
	in := holding{merge.NewFinder(obj, typ), merge.NewFinder(of.Local, typ), of.Inside}
	v, ok := in.heldBy(spot{nil, obj, typ}, of.entries(obj))
	if !ok {
		return nil
	}
	return identified(v, obj)
}

// entries returns the entries of managedFields that concern what the holders own.
func (h Holders) entries(obj map[string]any) (sets []owned) {
	for _, entry := range list(obj) {
		fields := merge.At[map[string]any](entry, "fieldsV1")
		set := owned{fields: fields, update: merge.At[string](entry, "operation") != "Apply"}
		set.other = !h.hold(entry)
		if len(fields) > 0 && (h.Alone || !set.other) {
			sets = append(sets, set)
		}
	}
	return sets
}

func (h Holders) hold(entry map[string]any) bool {
	switch merge.At[string](entry, "subresource") {
	case "":
		return h.Has(merge.At[string](entry, "manager"), merge.At[string](entry, "operation"))
	case "scale":
		return h.Scaled != nil && h.Scaled(merge.At[string](entry, "manager"))
	}
	return false
}

// Annotators returns the managers that own the last-applied annotation: what they applied
// is the applier's. An annotation from before managers were recorded has none. kubectl hands it to any manager
// that applies on the server's side, beside values that the annotation does not have: of those, kubectl alone counts.
// kubectl replace and edit are others, too: writers.
func Annotators(o merge.Owners) (names, writers []string) {
	for _, owner := range At(o, lastapplied.AnnotationPath) {
		switch name := owner.Manager; {
		case name == "kubectl-replace", name == "kubectl-edit":
			writers = append(writers, name)
		case name != merge.Unrecorded && (owner.Operation != "Apply" || name == "kubectl"):
			names = append(names, name)
		}
	}
	return names, writers
}

// owned is one manager's hold on a value, as FieldsV1 has it below that value.
type owned struct {
	fields map[string]any
	update bool // of an Update entry
	other  bool // of a manager that is not among the holders
}

// below returns the holds on what a key of FieldsV1 leads to.
func below(sets []owned, key string) (out []owned) {
	for _, s := range sets {
		if f, ok := s.fields[key].(map[string]any); ok {
			out = append(out, owned{f, s.update, s.other})
		}
	}
	return out
}

// holding reads the parts of one live object.
type holding struct {
	live, local *merge.Finder
	inside      bool
}

// spot is a value of live, where it is, and its type.
type spot struct {
	at  merge.Path
	v   any
	typ *merge.Type
}

// heldBy returns the part of a value that the holders' sets hold; false if there is none.
func (h holding) heldBy(s spot, sets []owned) (any, bool) {
	if !slices.ContainsFunc(sets, holder) {
		return nil, false
	}
	alone := !slices.ContainsFunc(sets, stranger)
	if whole(s.v, s.typ, sets) {
		return s.v, alone
	}
	switch v := s.v.(type) {
	case map[string]any:
		return h.inMap(s, v, sets)
	case []any:
		return h.inList(s, v, sets)
	}
	return s.v, alone
}

func stranger(s owned) bool { return s.other }

func holder(s owned) bool { return !s.other }

// shared reports whether another manager holds a list's entry, not only something in it.
func shared(sets []owned) bool {
	return slices.ContainsFunc(sets, func(s owned) bool { return s.other && s.itself() })
}

// whole reports whether v is one value to the server. A hold on it then has nothing below.
func whole(v any, typ *merge.Type, sets []owned) bool {
	if slices.ContainsFunc(sets, func(s owned) bool { return len(s.fields) > 1 || !s.itself() }) {
		return false
	}
	switch v.(type) {
	case map[string]any:
		return typ == nil || typ.Atomic || typ.Kind != merge.Object && typ.Kind != merge.Map
	case []any:
		return typ == nil || typ.Kind != merge.Keyed && typ.Kind != merge.Set
	}
	return true
}

// inMap returns the held entries of a map, or fields of an object, save those of Update entries
// that the server allocates, or that it makes of the rest of live.
func (h holding) inMap(s spot, m map[string]any, sets []owned) (any, bool) {
	out := map[string]any{}
	for name, v := range m {
		at, f, hold := s.at.Child(merge.Named(name)), s.typ.Field(name), below(sets, "f:"+name)
		if len(hold) > 0 {
			given, _ := h.local.Lookup(at)
			if f.Allocated || merge.At[map[string]any](given) == nil && h.live.Refilled(at) {
				hold = slices.DeleteFunc(slices.Clone(hold), func(s owned) bool { return s.update }) // Apply entries hold only what was stated
			}
		}
		if part, ok := h.heldBy(spot{at, v, f.Type}, hold); ok {
			out[name] = part
		}
	}
	return out, len(out) > 0 || stated(sets)
}

// stated reports whether an object, map or list of which nothing is left counts. It does if it is held, or
// something in it that is not stored (""), by an Apply entry, or itself as an empty value that was written. In an
// Update entry it may be the shell of the server's defaults.
func stated(sets []owned) bool {
	return slices.ContainsFunc(sets, func(s owned) bool {
		return !s.other && (!s.update || s.itself() && len(s.fields) <= 1)
	})
}

// inList returns the entries that the sets hold, in live's order.
func (h holding) inList(s spot, list []any, sets []owned) (any, bool) {
	parts, entries := map[int]any{}, merge.EntriesOf(list, s.typ)
	for _, key := range keysOf(sets) {
		step, ok := stepOf(key)
		i := entries.At(step)
		if !ok || i < 0 {
			continue
		}
		hold := below(sets, key)
		part, _ := h.heldBy(spot{s.at.Child(step), list[i], s.typ.EntryType()}, hold)
		if m, _ := part.(map[string]any); slices.ContainsFunc(hold, holder) && (h.inside && len(m) > 0 || !shared(hold)) {
			parts[i] = keyed(merge.Some(part), list[i], step)
		}
	}
	out := inOrder(parts)
	return out.Value, out.Set || stated(sets)
}

// withKeys adds an entry's merge keys, default or not: they state which entry it is.
func withKeys(part map[string]any, entry any, step merge.Step) any {
	out := map[string]any{}
	maps.Copy(out, part)
	for _, k := range step.Keys {
		if v, ok := merge.At[map[string]any](entry)[k.Name]; ok {
			out[k.Name] = v
		}
	}
	return out
}

func keysOf(sets []owned) []string {
	keys := map[string]any{}
	for _, s := range sets {
		maps.Copy(keys, s.fields)
	}
	return slices.Sorted(maps.Keys(keys))
}

func meta(obj map[string]any) map[string]any {
	return merge.At[map[string]any](obj, "metadata")
}
