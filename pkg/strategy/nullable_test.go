package strategy

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestDefaulted: a null that no write can say is reported, and no other null is.
func TestDefaulted(t *testing.T) {
	text := &merge.Type{Kind: merge.Scalar}
	spec := &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{
		"colour": {Type: text, Nullable: true, Default: "white"},
		"shade":  {Type: text, Nullable: true, Default: "none"},
		"note":   {Type: text, Nullable: true},
		"size":   {Type: text, Default: "3"},
	}}
	typ := &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{"spec": {Type: spec}}}
	null := func(names ...string) any {
		m := map[string]any{}
		for _, n := range names {
			m[n] = nil
		}
		return map[string]any{"spec": m}
	}
	got := defaulted(null("colour", "shade", "note", "size"), null("shade"), typ, nil)
	if len(got) != 1 || got[0].String() != "spec.colour" {
		t.Errorf("got %v, want spec.colour: shade is null in live, note has no default, size cannot be null", got)
	}
}
