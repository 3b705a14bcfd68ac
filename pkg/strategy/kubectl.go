package strategy

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

var (
	_ = register(Strategy{Name: "strategic", Help: "the result of kubectl apply", NeedsStruct: true, merged: strategic})
	_ = register(Strategy{Name: "json", Help: "RFC 7386 three ways, lists whole, as kubectl apply merges custom resources", merged: threeWayJSON})
)

// threeWayJSON is RFC 7386 three ways, as kubectl apply merges custom resources. Maps are
// merged key by key, everything else as a whole. What original had and local does not have
// is removed with all that is in it (k8s.io/apimachinery/pkg/util/jsonmergepatch).
func threeWayJSON(in Input) (any, error) {
	t := in.Triple
	result := three(merge.Opt{Value: t.Original, Set: t.Original != nil}, lastapplied.Modified(t.Local), t.Live)
	return lastapplied.Without(result), nil
}

// three merges one value that local states.
func three(o merge.Opt, l, v any) any {
	lm, ok := l.(map[string]any)
	if !ok {
		if merge.Equal(l, v, nil) {
			return v
		}
		return lastapplied.WithoutNulls(l) // the library leaves no nulls in objects inside lists
	}
	om, _ := o.Value.(map[string]any)
	vm, ok := v.(map[string]any)
	if !ok && len(lm) > 0 && nothing(o, lm) {
		return v
	}
	out := make(map[string]any, len(vm))
	maps.Copy(out, vm)
	for k := range om {
		if _, stated := lm[k]; !stated {
			delete(out, k)
		}
	}
	for k, lv := range lm {
		ov, had := om[k]
		if lv == nil {
			if !had || ov != nil { // kubectl sends a null once: when it is not in last-applied yet
				delete(out, k)
			}
			continue
		}
		if r := three(merge.Opt{Value: ov, Set: had}, lv, vm[k]); r != nil {
			out[k] = r
		}
	}
	return out
}

// nothing reports whether l holds only nulls that original had too, so that nothing is sent.
func nothing(o merge.Opt, l map[string]any) bool {
	stated := func(v any) bool { return v != nil && len(merge.At[map[string]any](v)) == 0 }
	return merge.Identical(o.Value, l) && !merge.Any(l, stated)
}

// strategic merges built-in types as kubectl apply does, by its own library and with the
// sides that kubectl passes. For a kind without a compiled-in type kubectl uses a JSON
// merge, and so does this.
func strategic(in Input) (any, error) {
	t := in.Triple
	if in.Strategic == nil || t.Live == nil {
		return threeWayJSON(in)
	}
	var sides [3][]byte
	for i, side := range []any{t.Original, lastapplied.Modified(t.Local), t.Live} {
		if side == nil {
			continue
		}
		var err error
		if sides[i], err = json.Marshal(side); err != nil {
			return nil, fmt.Errorf("strategic merge: %w", err)
		}
	}
	text, err := in.Strategic(sides[0], sides[1], sides[2])
	if err != nil {
		return nil, fmt.Errorf("strategic merge: %w", err)
	}
	result, err := merge.ReadJSON(text)
	if err != nil {
		return nil, fmt.Errorf("strategic merge: %w", err)
	}
	return lastapplied.Without(result), nil
}
