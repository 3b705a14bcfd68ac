package ownership

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// WithRepeated is what was applied last, with every entry of live that has the same key as
// another one in its list, where local states that key: to server-side apply they are one
// entry, which becomes what local states of it. Nothing is modified; nil stays nil where there
// are none. typ is the type of all of them.
//
// Rules: the merge of lists in structured-merge-diff/v6/typed, which puts what is applied in the
// place of all entries of its key.
func WithRepeated(applied, local, live any, typ *merge.Type) any {
	switch v := local.(type) {
	case map[string]any:
		of, isMap := live.(map[string]any)
		if was, ok := applied.(map[string]any); isMap && (ok || applied == nil) && (typ == nil || !typ.Atomic) {
			return fieldsRepeated(was, v, of, typ)
		}
	case []any:
		of, isList := live.([]any)
		if was, ok := applied.([]any); isList && (ok || applied == nil) && typ != nil && (typ.Kind == merge.Keyed || typ.Kind == merge.Set) {
			return entriesRepeated(was, v, of, typ)
		}
	}
	return applied
}

func fieldsRepeated(applied, local, live map[string]any, typ *merge.Type) any {
	out := maps.Clone(applied)
	for name, v := range local {
		with := WithRepeated(applied[name], v, live[name], typ.Field(name).Type)
		if with == nil {
			continue
		}
		if out == nil {
			out = map[string]any{}
		}
		out[name] = with
	}
	if out == nil {
		return nil
	}
	return out
}

func entriesRepeated(applied, local, live []any, typ *merge.Type) any {
	out := slices.Clone(applied)
	for i, v := range local {
		step := schema.EntryStep(typ, local, i)
		step.Nth = 0
		all, at := repeats(live, step, typ), merge.EntryAt(out, step, typ)
		switch {
		case len(all) > 1:
			out = slices.DeleteFunc(out, func(e any) bool { return merge.EntryAt([]any{e}, step, typ) == 0 })
			for _, i := range all {
				out = append(out, live[i])
			}
		case len(all) == 1 && typ.Kind == merge.Keyed && at >= 0:
			out[at] = WithRepeated(out[at], v, live[all[0]], typ.Elem)
		case len(all) == 1 && typ.Kind == merge.Keyed:
			if with, isMap := WithRepeated(nil, v, live[all[0]], typ.Elem).(map[string]any); isMap {
				out = append(out, withKeys(with, live[all[0]], step))
			}
		}
	}
	if out == nil {
		return nil
	}
	return out
}
