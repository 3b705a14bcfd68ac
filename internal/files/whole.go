package files

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// wholes hands values that are not split (lists without keys, atomic objects) to
// the engine as scalars, and takes them back. The engine, made for a cluster, lets
// such a value of dest stand that says more than updated's does, since a server
// may have filled it in; in a file the seeds' rule is literal: what changed
// upstream is taken as it is.
type wholes struct {
	values map[string]any  // by their stand-in
	shown  map[uintptr]any // what a copy with stand-ins was made of
}

// mark begins every stand-in. A text of the files that begins so gets one too.
const mark = "\x00"

func newWholes() *wholes {
	return &wholes{values: map[string]any{}, shown: map[uintptr]any{}}
}

// hide gives v with stand-ins; v itself if there is nothing to hide.
func (w *wholes) hide(v any, t *merge.Type) any {
	switch v := v.(type) {
	case map[string]any:
		if t != nil && t.Atomic {
			return w.standIn(v)
		}
		return w.hideMap(v, t)
	case []any:
		if t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set) {
			return w.hideList(v, t)
		}
		return w.standIn(v)
	case string:
		if strings.HasPrefix(v, mark) {
			return w.standIn(v)
		}
	}
	return v
}

func (w *wholes) standIn(v any) any {
	text, err := json.Marshal(v)
	if err != nil { // not a value that a file can hold
		return v
	}
	s := mark + string(text)
	if _, ok := w.values[s]; !ok {
		w.values[s] = v
	}
	return s
}

func (w *wholes) hideMap(m map[string]any, t *merge.Type) any {
	var out map[string]any
	for k, v := range m {
		h := w.hide(v, field(t, k))
		if out == nil && !shares(h, v) {
			out = make(map[string]any, len(m))
			for k, v := range m {
				out[k] = v
			}
		}
		if out != nil {
			out[k] = h
		}
	}
	if out == nil {
		return m
	}
	w.shown[reflect.ValueOf(out).Pointer()] = m
	return out
}

func (w *wholes) hideList(l []any, t *merge.Type) any {
	var out []any
	for i, v := range l {
		h := w.hide(v, t.Elem)
		if out == nil && !shares(h, v) {
			out = append([]any(nil), l...)
		}
		if out != nil {
			out[i] = h
		}
	}
	if out == nil {
		return l
	}
	w.shown[reflect.ValueOf(out).Pointer()] = l
	return out
}

// show is the reverse of hide. What the engine has left alone comes back as the
// very value it was.
func (w *wholes) show(v any) any {
	switch v := v.(type) {
	case string:
		if whole, ok := w.values[v]; ok && strings.HasPrefix(v, mark) {
			return whole
		}
	case map[string]any:
		if was, ok := w.shown[reflect.ValueOf(v).Pointer()]; ok {
			return was
		}
		return w.showMap(v)
	case []any:
		if was, ok := w.shown[reflect.ValueOf(v).Pointer()].([]any); ok && len(was) == len(v) && len(v) > 0 {
			return was
		}
		return w.showList(v)
	}
	return v
}

func (w *wholes) showMap(m map[string]any) any {
	var out map[string]any
	for k, v := range m {
		s := w.show(v)
		if out == nil && !shares(s, v) {
			out = make(map[string]any, len(m))
			for k, v := range m {
				out[k] = v
			}
		}
		if out != nil {
			out[k] = s
		}
	}
	if out == nil {
		return m
	}
	return out
}

func (w *wholes) showList(l []any) any {
	var out []any
	for i, v := range l {
		s := w.show(v)
		if out == nil && !shares(s, v) {
			out = append([]any(nil), l...)
		}
		if out != nil {
			out[i] = s
		}
	}
	if out == nil {
		return l
	}
	return out
}

// shares: the very same value.
func shares(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
	case []any:
		b, ok := b.([]any)
		return ok && len(a) == len(b) && reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

// scalars is the type that stand-ins are merged by: what is not split is a scalar.
func scalars(t *merge.Type) *merge.Type {
	switch {
	case t == nil:
		return nil
	case t.Atomic || t.Kind == merge.List:
		return &merge.Type{Kind: merge.Scalar, Source: t.Source}
	case t.Kind == merge.Object:
		out := *t
		out.Fields = make(map[string]merge.Field, len(t.Fields))
		for name, f := range t.Fields {
			f.Type = scalars(f.Type)
			out.Fields[name] = f
		}
		return &out
	case t.Elem != nil:
		out := *t
		out.Elem = scalars(t.Elem)
		return &out
	}
	return t
}

// plan gives a plan with its values shown.
func (w *wholes) plan(p merge.Plan) merge.Plan {
	p.Result = w.show(p.Result)
	p.Conflicts = w.disagreements(p.Conflicts)
	p.Settled = w.disagreements(p.Settled)
	removed := make([]merge.Removal, len(p.Removed))
	for i, r := range p.Removed {
		r.Value = w.show(r.Value)
		removed[i] = r
	}
	p.Removed = removed
	return p
}

func (w *wholes) disagreements(list []merge.Disagreement) []merge.Disagreement {
	out := make([]merge.Disagreement, len(list))
	for i, d := range list {
		d.Original.Value = w.show(d.Original.Value)
		d.Local.Value = w.show(d.Local.Value)
		d.Live.Value = w.show(d.Live.Value)
		out[i] = d
	}
	return out
}
