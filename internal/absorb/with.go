package absorb

import (
	"encoding/base64"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// configured finds values of a live object without what the server has filled in.
type configured struct{ stated, live *merge.Finder }

func configuration(live map[string]any, typ *merge.Type) configured {
	all := func(string) bool { return true }
	stated := ownership.Original(live, ownership.Holders{Has: func(string, string) bool { return true }, Scaled: all}, typ)
	return configured{merge.NewFinder(stated, typ), merge.NewFinder(live, typ)}
}

// value returns what a file has to state for a row, and the whole of live's value.
func (c configured) value(row drift.Row) (stated merge.Opt, whole any) {
	v, there := c.live.Lookup(row.Path)
	whole = v
	switch v.(type) {
	case map[string]any, []any:
		if stated, has := c.stated.Lookup(row.Path); has {
			v = stated
		}
	}
	return merge.Opt{Value: v, Set: there}, whole
}

// With returns an object of a file with the chosen values. It does not modify obj. The error names
// the field.
func (o *Object) With(obj map[string]any) (map[string]any, error) {
	return o.with(obj, func(v *Value) bool { return v.Left == "" })
}

// with is With, with some values.
func (o *Object) with(obj map[string]any, some func(*Value) bool) (map[string]any, error) {
	added := map[string][]merge.Path{} // new entries, by their lists
	var lists []merge.Path
	for _, v := range o.Values {
		if !some(&v) {
			continue
		}
		p, live := spelled(obj, v.Path, v.live)
		_, had := merge.Lookup(obj, p, o.typ)
		var err error
		if obj, err = o.put(obj, v, p, live); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Path, err)
		}
		list := p[:len(p)-1]
		if _, is := merge.Lookup(obj, p, o.typ); is && !had && p[len(p)-1].Kind != merge.FieldStep {
			if added[list.String()] == nil {
				lists = append(lists, list)
			}
			added[list.String()] = append(added[list.String()], p)
		}
	}
	for _, list := range lists {
		var err error
		if obj, err = o.arrange(obj, list, added[list.String()]); err != nil {
			return nil, fmt.Errorf("%s: %w", list, err)
		}
	}
	return obj, nil
}

// put gives an object one value of live.
func (o *Object) put(obj map[string]any, v Value, p merge.Path, live merge.Opt) (map[string]any, error) {
	var out any
	var err error
	switch {
	case v.Order != nil:
		out, err = merge.Replay(obj, []merge.Change{{Op: merge.OpOrder, Path: p, NewOrder: v.Order}})
	case live.Set:
		return merge.Put(obj, p, live.Value)
	default:
		out, err = merge.Replay(obj, []merge.Change{{Op: merge.OpRemove, Path: p}})
	}
	if err != nil {
		return nil, err
	}
	obj, _ = out.(map[string]any)
	for len(p) > 1 && v.Order == nil { // what is empty now is left out where live has nothing either
		p = p[:len(p)-1]
		left, _ := merge.Lookup(obj, p, o.typ)
		if is, _ := merge.Lookup(o.live, p, o.typ); !empty(left) || is != nil || p[len(p)-1].Kind != merge.FieldStep {
			break
		}
		if out, err = merge.Replay(obj, []merge.Change{{Op: merge.OpRemove, Path: p}}); err != nil {
			return nil, err
		}
		obj, _ = out.(map[string]any)
	}
	return obj, nil
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil
}

// arrange moves new entries of a list to where their neighbours in live are.
func (o *Object) arrange(obj map[string]any, list merge.Path, added []merge.Path) (map[string]any, error) {
	now, _ := merge.Lookup(obj, list, o.typ)
	entries, _ := now.([]any)
	is, _ := merge.Lookup(o.live, list, o.typ)
	live, _ := is.([]any)
	typ := o.typ.At(list)
	places := make([]int, len(entries)) // in live; -1: only in the file
	for i, e := range entries {
		places[i] = merge.EntryAt(live, merge.StepOf(typ, e, 0), typ)
	}
	isNew := func(i int) bool {
		return slices.ContainsFunc(added, func(p merge.Path) bool { return merge.EntryAt(entries, p[len(p)-1], typ) == i })
	}
	var order, rest []int
	for i := range entries {
		if isNew(i) {
			rest = append(rest, i)
			continue
		}
		order = append(order, i)
	}
	slices.SortFunc(rest, func(a, b int) int { return places[a] - places[b] })
	for _, i := range rest {
		order = slices.Insert(order, between(order, places, places[i]), i)
	}
	out := make([]any, len(order))
	for n, i := range order {
		out[n] = entries[i]
	}
	return merge.Put(obj, list, out)
}

// between returns where in the order an entry stands that live has at a place: behind the one
// that precedes it there, otherwise before the one that follows.
func between(order, places []int, place int) int {
	at, near := len(order), -1
	for n, i := range order {
		if p := places[i]; p >= 0 && p < place && p > near {
			at, near = n+1, p
		}
	}
	if near >= 0 {
		return at
	}
	for n, i := range order {
		if places[i] > place {
			return n
		}
	}
	return at
}

// spelled returns a value of a Secret where the file states it: as text in stringData, or in data.
func spelled(obj map[string]any, p merge.Path, live merge.Opt) (merge.Path, merge.Opt) {
	if !redact.IsSecret(obj) || len(p) != 2 || p[0].Name != "data" {
		return p, live
	}
	text := merge.Path{merge.Named("stringData"), p[1]}
	if _, there := merge.Lookup(obj, text, nil); !there {
		return p, live
	}
	if !live.Set {
		return text, live
	}
	encoded, _ := live.Value.(string)
	plain, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !utf8.Valid(plain) {
		return p, live
	}
	return text, merge.Some(string(plain))
}
