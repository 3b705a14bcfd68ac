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

// list returns the entries of managedFields.
func list(live map[string]any) []map[string]any {
	return merge.MapsAt(live, "metadata", "managedFields")
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
	var sets [3]*fieldpath.Set
	for i, fields := range []map[string]any{a, b, save} {
		s, err := setOf(fields)
		if err != nil {
			return false, err
		}
		sets[i] = s
	}
	return sets[0].RecursiveDifference(sets[2]).Equals(sets[1].RecursiveDifference(sets[2])), nil
}

func setOf(fields map[string]any) (*fieldpath.Set, error) {
	s := &fieldpath.Set{}
	if err := s.FromJSON(strings.NewReader(compact(fields))); err != nil {
		return nil, fmt.Errorf("managedFields: %w", err)
	}
	return s, nil
}

// withSet returns a copy of e with another set of fields; e is not modified.
func withSet(e map[string]any, s *fieldpath.Set) (map[string]any, error) {
	text, err := s.ToJSON()
	v, failed := merge.ReadJSON(text)
	if err = cmp.Or(err, failed); err != nil {
		return nil, fmt.Errorf("managedFields: %w", err)
	}
	out := maps.Clone(e)
	out["fieldsV1"], out["fieldsType"] = v, "FieldsV1"
	return out, nil
}

// ClientSide returns the managers that have applied live from the client's side: those of
// an update that owns the last-applied annotation (k8s.io/client-go/util/csaupgrade). nil
// where there are none.
func ClientSide(live map[string]any) (names []string) {
	for _, e := range list(live) {
		if s, err := entrySet(e); err == nil && merge.At[string](e, "operation") == "Update" && s.Has(annotationPath) && !slices.Contains(names, merge.At[string](e, "manager")) {
			names = append(names, merge.At[string](e, "manager"))
		}
	}
	return names
}

func entrySet(e map[string]any) (*fieldpath.Set, error) {
	return setOf(merge.At[map[string]any](e, "fieldsV1"))
}
