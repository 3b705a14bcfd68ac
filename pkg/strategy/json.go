package strategy

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// jsonWay is RFC 7386 three ways, as kubectl merges custom resources: maps key by
// key, everything else whole, and what original had and local has not goes, with
// all that is in it.
func jsonWay(in Input) (merge.Plan, error) {
	t := in.Triple
	return planOf(in, three(t.Original, t.Local, t.Live)), nil
}

func three(o, l, v any) any {
	lm, ok := l.(map[string]any)
	if !ok {
		return l
	}
	om, _ := o.(map[string]any)
	vm, _ := v.(map[string]any)
	out := copied(vm)
	for k := range om {
		if _, stated := lm[k]; !stated {
			delete(out, k)
		}
	}
	for k, lv := range lm {
		if lv == nil {
			delete(out, k)
			continue
		}
		out[k] = three(om[k], lv, vm[k])
	}
	return out
}

// strategic is what kubectl apply does to built-in types, by its own library. For
// a kind without a compiled-in type kubectl falls back to a JSON merge, and so do
// we. Errors of the library are passed on without what they quote.
func strategic(in Input) (merge.Plan, error) {
	if in.Struct == nil {
		return jsonWay(in)
	}
	t := in.Triple
	if t.Live == nil {
		return planOf(in, three(nil, t.Local, nil)), nil
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(in.Struct)
	if err != nil {
		return merge.Plan{}, fmt.Errorf("strategic merge: %w", err)
	}
	original, local, live, err := texts(t)
	if err != nil {
		return merge.Plan{}, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, local, live, meta, true)
	if err != nil {
		return merge.Plan{}, refused(err)
	}
	text, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(live, patch, meta)
	if err != nil {
		return merge.Plan{}, refused(err)
	}
	result, err := merge.ReadJSON(text)
	if err != nil {
		return merge.Plan{}, fmt.Errorf("strategic merge: %w", err)
	}
	return planOf(in, result), nil
}

// refused keeps the library's reason and leaves out the documents it quotes.
func refused(err error) error {
	text := err.Error()
	if i := strings.IndexAny(text, "{[\n"); i > 0 {
		text = strings.TrimRight(text[:i], ": ")
	}
	return fmt.Errorf("strategic merge: %s; --strategy=auto can merge it", text)
}

func texts(t merge.Triple) (original, local, live []byte, err error) {
	sides := [3]any{t.Original, t.Local, t.Live}
	var out [3][]byte
	for i, s := range sides {
		if s == nil {
			continue
		}
		if out[i], err = json.Marshal(s); err != nil {
			return nil, nil, nil, fmt.Errorf("strategic merge: %w", err)
		}
	}
	return out[0], out[1], out[2], nil
}

// planOf makes a plan of a result that was worked out elsewhere: what changed and
// what is gone, no disagreements.
func planOf(in Input, result any) merge.Plan {
	p := merge.Plan{Result: result, Changes: merge.Diff(in.Triple.Live, result, in.Schema)}
	for _, c := range p.Changes {
		if c.Op == merge.OpRemove {
			p.Removed = append(p.Removed, merge.Removal{Path: c.Path, Value: c.Old.Value, Cause: merge.CauseDropped})
		}
	}
	return p
}
