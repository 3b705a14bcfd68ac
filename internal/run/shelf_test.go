package run

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// onShelf merges three objects with their live forms: one that a change overwrites,
// one that is to be made, one that is as it should be.
func onShelf(t *testing.T, p *Plan) []*Item {
	t.Helper()
	p.Job = &Job{Planner: &apply.Planner{Policy: merge.Policies[0], Manager: "kubectl-client-side-apply"}}
	live := func(n int, value string) map[string]any {
		return parsed(t, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: prod, resourceVersion: "7",
  managedFields: [{manager: other, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}],
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c%d","namespace":"prod"}}
'}}, data: {a: "%s"}}`, n, n, value))
	}
	all := items(3, "", "ConfigMap", "prod")
	for i, item := range all {
		item.Target.Name = fmt.Sprint("c", i)
		item.Object = object.Object{Value: parsed(t, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: prod}, data: {a: "1"}}`, i))}.Packed()
	}
	p.merge(t.Context(), all[0], live(0, "2"))
	p.merge(t.Context(), all[1], nil)
	p.merge(t.Context(), all[2], live(2, "1"))
	p.Items = all
	return all
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	docs, err := source.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return docs[0].Value.(map[string]any)
}

// TestShow: what was put away comes back as it was when it is shown, and goes again.
func TestShow(t *testing.T) {
	kept := onShelf(t, &Plan{})
	p := &Plan{shelf: true}
	all := onShelf(t, p)
	for i, item := range all {
		if item.Err != nil || kept[i].Err != nil {
			t.Fatal(item.Err, kept[i].Err)
		}
		if item.Planned.Live != nil || item.Planned.Final != nil || item.Planned.Action != kept[i].Planned.Action {
			t.Errorf("item %d is kept whole, or without its action: %+v", i, item.Planned)
		}
	}
	next := 0
	p.Show(t.Context(), func(item *Item) {
		if item != all[next] {
			t.Errorf("shown out of order at %d", next)
		}
		if !reflect.DeepEqual(kept[next].Planned, item.Planned) {
			t.Errorf("item %d comes back otherwise: %+v, was %+v", next, item.Planned, kept[next].Planned)
		}
		next++
	})
	if next != len(all) {
		t.Errorf("%d shown, want %d", next, len(all))
	}
	if len(kept[0].Planned.Settled) == 0 {
		t.Error("the first item has nothing to tell: the test shows less than it should")
	}
	for i, item := range all {
		if item.Planned.Live != nil || item.Planned.Final != nil {
			t.Errorf("item %d was shown, and is kept whole", i)
		}
	}
}

// TestShowStops: what is not shown any more is not taken for shown.
func TestShowStops(t *testing.T) {
	p := &Plan{shelf: true}
	all := onShelf(t, p)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p.Show(ctx, func(*Item) { t.Error("shown") })
	for i, item := range all {
		if !errors.Is(item.Err, ErrNotMerged) {
			t.Errorf("item %d: %v", i, item.Err)
		}
	}
}
