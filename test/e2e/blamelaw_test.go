package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// blamed holds the law of explain -o blame: the owners before each value are those in whose field
// sets structured-merge-diff finds it, or the list or mapping that it is a part of.
func (r *owners) blamed(objects []*sweptObject) {
	r.t.Helper()
	kinds, lines := map[string]bool{}, 0
	for o, live := range r.read(objects) {
		v := merge.Without(lastapplied.Without(live).(map[string]any), "status")
		var want []string
		holdersOf(r.t, v).in(merge.Without(v, "metadata", "managedFields"), nil, nil, o.kind.typ, &want)
		out, err := diff.Blame(diff.Report{Object: o.String(), Live: v, Type: o.kind.typ, Owners: ownership.Of(live), ShowSecrets: true}, diff.BlameOptions{})
		var got []string
		for i, l := range strings.Split(out, "\n") {
			if who, _, ok := strings.Cut(l, "  "); ok && who != "" && i > 1 {
				names := strings.Split(who, ", ")
				slices.Sort(names)
				got = append(got, strings.Join(names, ", "))
			}
		}
		if err != nil || !slices.Equal(got, want) {
			r.t.Errorf("%s: blame: %v\n%s\nwant %q", o, err, out, want)
		}
		kinds[o.kind.String()], lines = true, lines+len(want)
	}
	if r.t.Logf("blame: %d values with owners, in %d kinds", lines, len(kinds)); lines < len(objects) {
		r.t.Errorf("blame: %d objects have %d values with owners", len(objects), lines)
	}
}

// holders are the field sets of managedFields.
type holders []holder

type holder struct {
	name string
	set  *fieldpath.Set
}

func holdersOf(t testing.TB, live map[string]any) (out holders) {
	for _, e := range merge.MapsAt(live, "metadata", "managedFields") {
		if e["subresource"] != nil {
			continue
		}
		raw, err := json.Marshal(e["fieldsV1"])
		set := fieldpath.NewSet()
		if err = errors.Join(err, set.FromJSON(bytes.NewReader(raw))); err != nil {
			t.Fatal(err)
		}
		out = append(out, holder{fmt.Sprint(e["manager"]), set})
	}
	return out
}

// in appends who has each value below v that has nothing below it, in the order of its lines. owned is
// the path of the value whose owners count: at, or the list or mapping around it that has owners as a
// whole.
func (h holders) in(v any, at, owned fieldpath.Path, t *merge.Type, who *[]string) {
	whole := len(owned) < len(at) || t != nil && (t.Atomic || t.Kind == merge.List)
	child := func(e any, step fieldpath.PathElement, t *merge.Type) {
		next := append(at[:len(at):len(at)], step)
		if whole {
			h.in(e, next, owned, t, who)
		} else {
			h.in(e, next, next, t, who)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			child(v[name], fieldpath.PathElement{FieldName: &name}, t.Field(name).Type)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, e := range v {
			child(e, entryOf(e, i, t), t.EntryType())
		}
		if len(v) > 0 {
			return
		}
	}
	var names []string
	for _, one := range h {
		inside := one.set
		for _, step := range owned {
			inside = inside.WithPrefix(step)
		}
		if one.set.Has(owned) || !inside.Empty() { // an empty mapping is of who has what the server dropped from it
			names = append(names, one.name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		*who = append(*who, strings.Join(names, ", "))
	}
}

func entryOf(e any, i int, t *merge.Type) fieldpath.PathElement {
	plain := func(v any) value.Value {
		if n, ok := v.(json.Number); ok {
			whole, _ := n.Int64()
			v = whole
		}
		return value.NewValueInterface(v)
	}
	switch {
	case t != nil && t.Kind == merge.Set:
		is := plain(e)
		return fieldpath.PathElement{Value: &is}
	case t != nil && t.Kind == merge.Keyed:
		var fields value.FieldList
		for _, k := range t.Keys {
			is, ok := e.(map[string]any)[k.Name]
			if !ok {
				is = k.Default
			}
			if is != nil {
				fields = append(fields, value.Field{Name: k.Name, Value: plain(is)})
			}
		}
		fields.Sort()
		return fieldpath.PathElement{Key: &fields}
	}
	return fieldpath.PathElement{Index: &i}
}
