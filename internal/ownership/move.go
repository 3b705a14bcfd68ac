package ownership

import (
	"cmp"
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Adopt gives the applier those fields, as FieldsV1 spells them, that neither it nor the
// named managers have applied. It ends what those managers hold, in any version. What they
// hold by updates, and is not among the fields, then has no owner unless others hold it,
// too. Entries of subresources stay.
//
// Unlike kubectl: it gives the applier all that those managers hold, the server's defaults
// and the leftovers of old files too. It also drops what they hold in other versions
// (k8s.io/client-go/util/csaupgrade).
func (r *Rewrite) Adopt(fields map[string]any, names []string) error {
	all := r.of(fields)
	rest := r.without(func(e map[string]any) bool {
		return isApplier(e, r.Manager) || slices.ContainsFunc(names, func(name string) bool { return isApplier(e, name) })
	}, all)
	rest = slices.DeleteFunc(rest, func(e map[string]any) bool {
		return slices.ContainsFunc(names, func(name string) bool { return isBy(e, name, "Update") })
	})
	return r.put(rest, all, map[string]any{"manager": r.Manager, "operation": "Apply"})
}

// Release undoes the move to server-side apply: what the applier has applied is held by
// updates of the named manager, with the last-applied annotation, and AnnotationManager
// holds nothing.
func (r *Rewrite) Release(to string) error {
	all := fieldpath.NewSet(annotationPath)
	rest := r.without(func(e map[string]any) bool {
		return isApplier(e, r.Manager) || isApplier(e, AnnotationManager) || isBy(e, to, "Update") && merge.At[string](e, "apiVersion") == r.version
	}, all)
	return r.put(rest, all, map[string]any{"manager": to, "operation": "Update"})
}

// without returns the entries that do not match, and inserts the sets of the others into a set.
func (r *Rewrite) without(match func(e map[string]any) bool, into *fieldpath.Set) (rest []map[string]any) {
	for _, e := range r.entries {
		if !match(e) {
			rest = append(rest, e)
			continue
		}
		*into = *into.Union(r.held(e))
	}
	return rest
}

// put sets the entries to rest and, where the set is not empty, adds another one with it, in live's version unless it
// has one.
func (r *Rewrite) put(rest []map[string]any, s *fieldpath.Set, entry map[string]any) error {
	if !s.Empty() {
		entry["apiVersion"] = cmp.Or(merge.At[string](entry, "apiVersion"), r.version)
		rest = append(rest, r.with(entry, s))
	}
	r.changed = r.changed || len(rest) != len(r.entries) || len(Lacking(rest, r.entries)) > 0
	r.entries = rest
	return r.err
}

// Lacking returns those of the wanted entries of managedFields that are not there, whenever they were written.
func Lacking(there, wanted []map[string]any) []map[string]any {
	return slices.DeleteFunc(slices.Clone(wanted), func(x map[string]any) bool {
		return slices.ContainsFunc(there, func(y map[string]any) bool { return merge.Identical(timeless(x), timeless(y)) })
	})
}

func timeless(e map[string]any) map[string]any {
	out := maps.Clone(e)
	delete(out, "time")
	return out
}

// Drop removes every hold on the last-applied annotation, which is removed from the
// object.
func (r *Rewrite) Drop() error {
	out := r.each(func(_ map[string]any, all *fieldpath.Set) *fieldpath.Set {
		return all.Difference(fieldpath.NewSet(annotationPath))
	})
	return r.put(out, &fieldpath.Set{}, nil)
}

// Disown removes all that the named managers hold, by updates or applied, and all that the
// applier has applied. Entries of subresources stay.
func (r *Rewrite) Disown(names []string) {
	rest := slices.DeleteFunc(slices.Clone(r.entries), func(e map[string]any) bool {
		name := merge.At[string](e, "manager")
		return isApplier(e, r.Manager) || slices.Contains(names, name) && (isBy(e, name, "Update") || isApplier(e, name))
	})
	r.changed = r.changed || len(rest) != len(r.entries)
	r.entries = rest
}

// Convert rewrites entries to live's version, with the fields that live has in it. These are those
// in versions that the server no longer has, and what the applier has applied in any other version, with its annotation.
// Otherwise the server refuses every apply because of such an entry, or drops it with the next
// write. Entries of subresources stay. It returns the managers whose entries it has rewritten.
func (r *Rewrite) Convert(live map[string]any, typ *merge.Type, served func(apiVersion string) bool) (names []string) {
	out := slices.Clone(r.entries)
	for i, e := range out {
		version := merge.At[string](e, "apiVersion")
		if version == r.version || merge.At[string](e, "subresource") != "" || !isApplier(e, r.Manager) && !isApplier(e, AnnotationManager) && served(version) {
			continue
		}
		out[i] = maps.Clone(e)
		out[i]["apiVersion"], out[i]["fieldsV1"] = r.version, Present(merge.At[map[string]any](e, "fieldsV1"), live, typ)
		names = append(names, merge.At[string](e, "manager"))
	}
	if len(names) > 0 {
		r.entries, r.changed = out, true
	}
	return names
}
