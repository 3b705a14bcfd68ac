package replacements

import (
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// typed converts values that replacements have put into fields of another type to the field's type.
// A number becomes text in a text field, and text that spells a number or a boolean becomes that.
// Values of a wrong type before are left alone. The error names the fields without a conversion,
// and no value.
//
// Unlike kustomize: which copies the source's type, and writes objects that no server takes.
func typed(before, after any, name string) (any, error) {
	m, _ := after.(map[string]any)
	o := object.Object{Value: m}
	t, ok := schema.Builtin(o.Group(), o.Version(), o.Kind())
	if !ok {
		return after, nil
	}
	was := map[string]bool{}
	for _, m := range schema.MistypedIn(t, before) {
		was[m.Path.String()] = true
	}
	var changes []merge.Change
	var errs []error
	for _, m := range schema.MistypedIn(t, after) {
		if was[m.Path.String()] {
			continue
		}
		fixed, err := merge.ReadJSON([]byte(m.Fix))
		if m.Fix == "" || err != nil {
			there, _ := merge.Lookup(after, m.Path, t)
			errs = append(errs, fmt.Errorf("%s: %s takes %s, and the replacement put %s there", name, m.Path, m.Want, typeName(there)))
			continue
		}
		changes = append(changes, merge.Change{Op: merge.OpSet, Path: m.Path, New: merge.Some(fixed)})
	}
	if err := errors.Join(errs...); err != nil || len(changes) == 0 {
		return after, err
	}
	return merge.Replay(after, changes)
}

// typeName names the type of a value, for messages.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a text that is none"
	case bool:
		return "a boolean"
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	}
	return "a number"
}
