package ownership

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Applied returns what the manager has applied to live by server-side apply, as FieldsV1
// spells it; nil where it has applied nothing.
func Applied(live map[string]any, manager string) map[string]any {
	for _, e := range list(live) {
		if isApplier(e, manager) {
			return merge.At[map[string]any](e, "fieldsV1")
		}
	}
	return nil
}

func isApplier(e map[string]any, manager string) bool { return isBy(e, manager, "Apply") }

func isBy(e map[string]any, manager, operation string) bool {
	return merge.At[string](e, "manager") == manager && merge.At[string](e, "operation") == operation && merge.At[string](e, "subresource") == ""
}

// list returns the entries of managedFields, as the server should have them; see asStored.
func list(live map[string]any) []map[string]any {
	all, _ := asStored(live)
	return all
}

// asStored returns the entries of managedFields, and whether that changes some: what those of a Secret hold as
// stringData is in data, and the server does not remove it with them.
func asStored(live map[string]any) (all []map[string]any, changed bool) {
	all = merge.MapsAt(live, "metadata", "managedFields")
	for i := 0; i < len(all) && live["kind"] == "Secret" && live["apiVersion"] == "v1"; i++ {
		if texts := merge.At[map[string]any](all[i], "fieldsV1", "f:stringData"); texts != nil {
			held := maps.Clone(texts)
			maps.Copy(held, merge.At[map[string]any](all[i], "fieldsV1", "f:data"))
			all[i], changed = merge.With(merge.Without(all[i], "fieldsV1", "f:stringData"), held, "fieldsV1", "f:data"), true
		}
	}
	return all, changed
}

// Recorded reports whether live has managedFields; an empty list, as WithEntries may leave
// it, counts.
func Recorded(live map[string]any) bool {
	_, recorded := meta(live)["managedFields"]
	return recorded
}

// SameFields reports whether two sets of fields are equal, however they are spelled, ignoring what is
// below the fields of save. All are as FieldsV1 spells them; it is an error if one is not.
func SameFields(a, b, save map[string]any) (bool, error) {
	if merge.Equal(a, b, nil) { // as nearly always: sets take much longer to build
		return true, nil
	}
	var in sets
	x, y, but := in.of(a), in.of(b), in.of(save)
	return in.err == nil && x.RecursiveDifference(but).Equals(y.RecursiveDifference(but)), in.err
}

// sets reads and writes sets of fields. err is the first error of them all: that of fields that are not as FieldsV1
// spells them.
type sets struct{ err error }

// of returns the set of some fields.
func (in *sets) of(fields map[string]any) *fieldpath.Set {
	s := &fieldpath.Set{}
	in.check(s.FromJSON(strings.NewReader(compact(fields))))
	return s
}

// held returns the set of an entry of managedFields.
func (in *sets) held(e map[string]any) *fieldpath.Set {
	return in.of(merge.At[map[string]any](e, "fieldsV1"))
}

// at returns the set that holds only fields, as FieldsV1 spells them, at the path.
func (in *sets) at(p merge.Path, fields map[string]any) *fieldpath.Set {
	for _, step := range slices.Backward(p) {
		fields = map[string]any{keyOf(step, nil): fields}
	}
	return in.of(fields)
}

// with returns a copy of e with another set of fields; e is not modified.
func (in *sets) with(e map[string]any, s *fieldpath.Set) map[string]any {
	text, err := s.ToJSON()
	v, failed := merge.ReadJSON(text)
	in.check(cmp.Or(err, failed))
	out := maps.Clone(e)
	out["fieldsV1"], out["fieldsType"] = v, "FieldsV1"
	return out
}

func (in *sets) check(err error) {
	if err != nil {
		in.err = cmp.Or(in.err, fmt.Errorf("managedFields: %w", err))
	}
}

// ClientSide returns the managers that have applied live from the client's side: those of
// an update that owns the last-applied annotation (k8s.io/client-go/util/csaupgrade). nil
// where there are none.
func ClientSide(live map[string]any) (names []string) {
	for _, e := range list(live) {
		var in sets
		if s := in.held(e); in.err == nil && merge.At[string](e, "operation") == "Update" && s.Has(annotationPath) && !slices.Contains(names, merge.At[string](e, "manager")) {
			names = append(names, merge.At[string](e, "manager"))
		}
	}
	return names
}

// Present returns those of the fields, as FieldsV1 spells them, that v has. typ is the type
// of v; nil knows no lists. fields is not modified.
func Present(fields map[string]any, v any, typ *merge.Type) map[string]any {
	return present(fields, nil, v, typ)
}

// Stored returns the fields that conf states and v has, and those whose value the server stores like
// their absence (false, []): a manager that applies conf owns them, too. typ is the type of both.
func Stored(conf map[string]any, v any, typ *merge.Type) map[string]any {
	return present(Fields(conf, typ), conf, v, typ)
}

func present(fields map[string]any, conf, v any, typ *merge.Type) map[string]any {
	out := map[string]any{}
	is, states := merge.NewFinder(v, typ), merge.NewFinder(conf, typ)
	for key, sub := range fields {
		step, ok := stepOf(key)
		if !ok {
			if key == "." {
				out[key] = sub
			}
			continue
		}
		at := merge.Path{step}
		e, there := is.Lookup(at)
		stated, _ := states.Lookup(at)
		below, _ := sub.(map[string]any)
		if !there && !likeAbsence(step, stated, typ) {
			continue
		}
		kept := present(below, stated, e, typ.At(at))
		if len(kept) > 0 || len(below) == 0 {
			out[key] = kept
		}
	}
	return out
}

// likeAbsence reports whether the server stores that value of a field of typ like its absence.
func likeAbsence(step merge.Step, v any, typ *merge.Type) bool {
	return v != nil && typ != nil && typ.Kind == merge.Object && step.Kind == merge.FieldStep &&
		merge.Equal(map[string]any{step.Name: v}, map[string]any{}, typ)
}

// Leaves lists the paths of the fields that have no others below them, sorted.
func Leaves(fields map[string]any) (out []merge.Path) {
	leaves(fields, nil, &out)
	merge.SortByPath(out, func(p merge.Path) merge.Path { return p })
	return out
}

func leaves(fields map[string]any, at merge.Path, out *[]merge.Path) {
	below := 0
	for key, sub := range fields {
		step, ok := stepOf(key)
		if !ok {
			continue
		}
		below++
		leaves(merge.At[map[string]any](sub), at.Child(step), out)
	}
	if below == 0 && len(at) > 0 {
		*out = append(*out, at)
	}
}

// Minus returns the fields without those of another set, and what is below those that end there; both as FieldsV1
// spells them. nil where nothing is left; it is an error if one of them is not of that form.
func Minus(fields, other map[string]any) (map[string]any, error) {
	var in sets
	a, b := in.of(fields), in.of(other)
	e := in.with(map[string]any{}, a.Difference(b).RecursiveDifference(b.Leaves()))
	return merge.At[map[string]any](e, "fieldsV1"), in.err
}
