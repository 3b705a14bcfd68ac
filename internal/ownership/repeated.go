package ownership

import (
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// WithRepeated returns what was applied last, with every entry of live added that has the
// same key as another one in its list, where local states that key. To server-side apply
// they are one entry, which becomes what local states. Nothing is modified; nil stays nil
// where there are no such entries. typ is the type of all of them.
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
	was, is := merge.EntriesOf(applied, typ), merge.EntriesOf(live, typ)
	out, more, replaced := slices.Clone(applied), []any(nil), map[int]bool{}
	for i, step := range schema.EntrySteps(typ, local) {
		if step.Nth > 1 { // server-side apply refuses it
			continue
		}
		all, at := is.All(step), was.At(step)
		switch {
		case len(all) > 1:
			for _, i := range was.All(step) {
				replaced[i] = true
			}
			for _, i := range all {
				more = append(more, live[i])
			}
		case len(all) == 1 && typ.Kind == merge.Keyed && at >= 0:
			out[at] = WithRepeated(out[at], local[i], live[all[0]], typ.Elem)
		case len(all) == 1 && typ.Kind == merge.Keyed:
			if with, isMap := WithRepeated(nil, local[i], live[all[0]], typ.Elem).(map[string]any); isMap {
				more = append(more, withKeys(with, live[all[0]], step))
			}
		}
	}
	left := make([]any, 0, len(out)+len(more))
	for i, e := range out {
		if !replaced[i] {
			left = append(left, e)
		}
	}
	if out == nil && more == nil {
		return nil
	}
	return append(left, more...)
}
