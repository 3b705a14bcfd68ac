package ownership

import (
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// AnnotationManager is the manager that kubectl apply --server-side gives the last-applied
// annotation to, so that the annotation outlives the change to server-side apply.
const AnnotationManager = "kubectl-last-applied"

// SetManager is the manager of what makes an object the parent of a set (KEP-3659), kubectl's own.
const SetManager = "kubectl-applyset"

// annotationPath is the last-applied annotation in a set of fields.
var annotationPath = fieldpath.MakePathOrDie("metadata", "annotations", lastapplied.Annotation)

// Rewrite holds managedFields that are being rewritten; see RewriteOf. All methods that change it return an error once
// fields, or an entry, were not as FieldsV1 spells them: its entries are then of no use.
type Rewrite struct {
	sets
	entries []map[string]any
	Manager string // the applier
	version string // apiVersion of live
	changed bool
}

// RewriteOf begins to rewrite live's managedFields for an applier. live is not modified.
func RewriteOf(live map[string]any, manager string) *Rewrite {
	entries, changed := asStored(live)
	return &Rewrite{entries: entries, Manager: manager, version: merge.At[string](live, "apiVersion"), changed: changed}
}

// Entries returns the managedFields, nil where nothing has changed.
func (r *Rewrite) Entries() []any {
	if !r.changed {
		return nil
	}
	out := make([]any, len(r.entries))
	for i, e := range r.entries {
		out[i] = e
	}
	return out
}

// WithEntries returns a new object with other managedFields. nil entries, as Entries
// returns them where nothing has changed, return the object itself.
func WithEntries(obj map[string]any, entries []any) map[string]any {
	if entries == nil {
		return obj
	}
	return merge.With(obj, entries, "metadata", "managedFields")
}

// WithApplied returns the object with an entry more, as if server-side apply had set what the last-applied annotation
// has: such an entry holds allocated values, too. The object is the same if it has no annotation.
func WithApplied(obj map[string]any, typ *merge.Type) map[string]any {
	applied, _ := lastapplied.Read(obj).Value.(map[string]any)
	if applied == nil {
		return obj
	}
	entry := map[string]any{"manager": "last-applied", "operation": "Apply", "fieldsV1": Fields(applied, typ)}
	return WithEntries(obj, append(slices.Clone(merge.At[[]any](obj, "metadata", "managedFields")), entry))
}

// Keep gives the last-applied annotation to a separate manager, as kubectl does, unless
// that has it already.
//
// Unlike kubectl: also where the applier owns nothing, so that no entry would be left.
//
// Rules: saveLastApplyAnnotationIfNecessary of k8s.io/kubectl/pkg/cmd/apply.
func (r *Rewrite) Keep() error {
	if slices.ContainsFunc(r.entries, func(e map[string]any) bool { return isApplier(e, AnnotationManager) }) {
		return r.err
	}
	entry := map[string]any{"operation": "Apply", "apiVersion": r.version}
	if i := slices.IndexFunc(r.entries, func(e map[string]any) bool { return isApplier(e, r.Manager) }); i >= 0 {
		entry = r.entries[i]
	}
	kept := r.with(entry, fieldpath.NewSet(annotationPath))
	kept["manager"] = AnnotationManager
	r.entries, r.changed = append(r.entries[:len(r.entries):len(r.entries)], kept), true
	return r.err
}

// Alone reports whether the applier holds the value at the path, or parts of it, and no
// other manager does. The server then removes it once it is no longer applied.
func (r *Rewrite) Alone(p merge.Path) bool {
	return r.holds(p, func(mine, held, _ bool) bool { return mine && held }) && !r.holds(p, func(mine, held, _ bool) bool { return !mine && held })
}

// Others reports whether a manager besides the applier holds the value at the path, parts of it, or the list
// around it as one value.
func (r *Rewrite) Others(p merge.Path) bool {
	return r.holds(p, func(mine, held, around bool) bool { return !mine && (held || around) })
}

// Entire reports whether the applier holds a list around the path as one value, and nothing in it: its type was
// that when it was applied.
func (r *Rewrite) Entire(p merge.Path) bool {
	return r.holds(p, func(mine, _, around bool) bool { return mine && around })
}

// holds reports whether it is so for an entry: mine is the applier's, for held and around see descend.
func (r *Rewrite) holds(p merge.Path, is func(mine, held, around bool) bool) bool {
	return slices.ContainsFunc(r.entries, func(e map[string]any) bool {
		_, held, around := descend(merge.At[map[string]any](e, "fieldsV1"), p)
		return is(isApplier(e, r.Manager), held, around)
	})
}

// Itemize has the applier hold each value of what it has applied, and so each entry of a list that it holds as
// one value. typ is as of Take.
func (r *Rewrite) Itemize(applied map[string]any, typ *merge.Type) error {
	return r.transfer(r.of(Fields(applied, typ)), &fieldpath.Set{})
}

// Take gives the value v at the path to the applier alone, whichever managers hold parts of it.
// typ is the object's type; nil: unknown.
func (r *Rewrite) Take(p merge.Path, v any, typ *merge.Type) error {
	taken, _ := fieldsOf(v, typ.At(p))
	if len(taken) > 0 {
		taken["."] = map[string]any{}
	}
	return r.transfer(r.at(p, taken), r.at(p, map[string]any{}))
}

// Give has those of the entries hold again, of what they held, what the applier holds by updates: it has written that
// for them. Of the unowned, it holds no more than in the entries. Where no field had an owner, the server tracks no
// updates, and the entries hold all that they held.
func (r *Rewrite) Give(entries []any, unowned []merge.Change) error {
	writes := func(e map[string]any) bool { return isBy(e, r.Manager, "Update") && e["apiVersion"] == r.version }
	i, entry, all, mine := slices.IndexFunc(r.entries, writes), map[string]any{}, &fieldpath.Set{}, &fieldpath.Set{}
	r.without(writes, all)
	switch {
	case i >= 0:
		entry = maps.Clone(r.entries[i])
	case len(r.entries) > 0:
		return r.err
	}
	gone, around := reach(unowned)
	left := all.RecursiveDifference(gone).Difference(around)
	for _, e := range list(WithEntries(nil, entries)) {
		held := r.held(e)
		if i >= 0 {
			held = all.Intersection(held)
		}
		if writes(e) {
			mine = mine.Union(held)
			continue
		}
		if held.Empty() {
			continue
		}
		left = left.Difference(held)
		rest := r.without(func(other map[string]any) bool { // the entry of the same writes
			return !slices.ContainsFunc([]string{"manager", "operation", "apiVersion", "subresource"}, func(name string) bool { return e[name] != other[name] })
		}, held)
		r.put(rest, held, maps.Clone(e))
	}
	return r.put(r.without(writes, &fieldpath.Set{}), left.Union(mine), entry)
}

// Others returns the entries of live's managedFields that are neither the manager's updates ("": any), nor through status: who
// writes by updates owns what is restored for it. nil: there is no object.
func Others(live map[string]any, manager string) (out []any) {
	if live != nil {
		out = []any{}
	}
	for _, e := range list(live) {
		if !isBy(e, manager, "Update") && e["subresource"] != "status" {
			out = append(out, e)
		}
	}
	return out
}

// Divide returns the entries with what they hold of the values that are changed, below them, and of lists around them as
// one value, and with what else they hold. Either is nil if there is none, or if one cannot be read.
func Divide(entries []any, changed []merge.Change) (within, besides []any) {
	if len(entries) == 0 {
		return nil, nil
	}
	r := RewriteOf(WithEntries(nil, entries), "")
	gone, around := reach(changed)
	divided := func(keep func(all, rest *fieldpath.Set) *fieldpath.Set) []any {
		out := r.each(func(_ map[string]any, all *fieldpath.Set) *fieldpath.Set {
			return keep(all, all.RecursiveDifference(gone).Difference(around))
		})
		return (&Rewrite{entries: out, changed: r.err == nil && len(out) > 0}).Entries()
	}
	return divided((*fieldpath.Set).Difference), divided(func(_, rest *fieldpath.Set) *fieldpath.Set { return rest })
}

// reach returns the set of the values that are changed, and that of what is around them.
func reach(changed []merge.Change) (gone, around *fieldpath.Set) {
	gone, around = &fieldpath.Set{}, &fieldpath.Set{}
	for _, c := range changed {
		for n := range c.Path {
			var in sets
			s := in.at(c.Path[:n+1], map[string]any{})
			if in.err != nil {
				break // managedFields do not know such keys: its owner holds the list
			}
			if s.Iterate(around.Insert); n == len(c.Path)-1 && c.Op != merge.OpOrder {
				s.Iterate(gone.Insert)
			}
		}
	}
	return gone, around
}

// transfer adds a set to the applier's entry and removes another, with all below it, from
// all other entries.
func (r *Rewrite) transfer(mine, theirs *fieldpath.Set) error {
	found := false
	out := r.each(func(e map[string]any, all *fieldpath.Set) *fieldpath.Set {
		if isApplier(e, r.Manager) {
			found = true
			return all.Union(mine)
		}
		return all.RecursiveDifference(theirs)
	})
	if r.changed = true; !found {
		return r.put(out, mine, map[string]any{"manager": r.Manager, "operation": "Apply"})
	}
	r.entries = out
	return r.err
}

// each returns the entries with the sets that keep returns for theirs. One with an empty set is left out.
func (r *Rewrite) each(keep func(e map[string]any, all *fieldpath.Set) *fieldpath.Set) (out []map[string]any) {
	for _, e := range r.entries {
		all := r.held(e)
		kept := keep(e, all)
		if !kept.Equals(all) {
			e = r.with(e, kept)
		}
		if !kept.Empty() {
			out = append(out, e)
		}
	}
	return out
}

// Limit ends what the named managers hold by updates and no configuration states, but for the last-applied
// annotation: it then has no owner unless others hold it, too. typ is the type of the configurations.
//
// Unlike kubectl: its migration gives the applier also what was never applied, and the next apply removes it.
func (r *Rewrite) Limit(names []string, typ *merge.Type, stated ...any) error {
	out := slices.Clone(r.entries)
	for i, e := range out {
		if !slices.ContainsFunc(names, func(name string) bool { return isBy(e, name, "Update") }) {
			continue
		}
		kept := r.held(e).Intersection(fieldpath.NewSet(annotationPath))
		for _, conf := range stated {
			kept = kept.Union(r.of(Present(merge.At[map[string]any](e, "fieldsV1"), conf, typ)))
		}
		out[i] = r.with(e, kept)
	}
	r.entries = out
	return r.err
}

// Merge gives the applier what the named managers own by updates, as
// k8s.io/client-go/util/csaupgrade does; with applied, also what they have applied. Entries
// of subresources are not changed. Fields that they own in another version than the
// applier's lose their owner.
func (r *Rewrite) Merge(names []string, applied bool) error {
	for _, name := range names {
		theirs := func(e map[string]any) bool {
			return isBy(e, name, "Update") || applied && name != r.Manager && isApplier(e, name)
		}
		at := slices.IndexFunc(r.entries, func(e map[string]any) bool { return isApplier(e, r.Manager) })
		if at < 0 {
			if at = slices.IndexFunc(r.entries, theirs); at < 0 {
				continue
			}
			first := maps.Clone(r.entries[at])
			first["manager"], first["operation"] = r.Manager, "Apply"
			r.entries, r.changed = slices.Concat(r.entries[:at], []map[string]any{first}, r.entries[at+1:]), true
		}
		r.take(at, theirs)
	}
	return r.err
}

// take merges entries into the applier's.
func (r *Rewrite) take(at int, theirs func(e map[string]any) bool) {
	if !slices.ContainsFunc(r.entries, theirs) {
		return
	}
	mine := r.entries[at]
	all := r.held(mine)
	rest := r.without(func(e map[string]any) bool {
		return theirs(e) && merge.At[string](e, "apiVersion") == merge.At[string](mine, "apiVersion")
	}, all)
	rest = slices.DeleteFunc(rest, theirs)
	rest[slices.IndexFunc(rest, func(e map[string]any) bool { return isApplier(e, r.Manager) })] = r.with(mine, all)
	r.entries, r.changed = rest, true
}

// Owners lists the managers that own fields of the object itself, other than by the
// applier's apply, in the order of their entries. nil where there are none.
func (r *Rewrite) Owners() (names []string) {
	for _, e := range r.entries {
		if name := merge.At[string](e, "manager"); merge.At[string](e, "subresource") == "" && !isApplier(e, r.Manager) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
