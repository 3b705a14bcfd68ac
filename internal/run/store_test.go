package run

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// merged merges three objects with their live forms: one that a change overwrites,
// one that is to be made, one that is as it should be.
func merged(t *testing.T, p *Plan) []*Item {
	t.Helper()
	p.Job = &Job{Planner: &apply.Planner{Policy: merge.Policies[0], Manager: "kubectl-client-side-apply"}}
	live := func(n int, value string) map[string]any {
		return parsed(t, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: prod, resourceVersion: "7",
  managedFields: [{manager: other, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}],
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c%d","namespace":"prod"}}
'}}, data: {a: "%s"}}`, n, n, value))
	}
	all := items(4, "", "ConfigMap", "prod")
	for i, item := range all {
		item.Target.Name = fmt.Sprint("c", i)
		item.Object = object.Object{Value: parsed(t, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, namespace: prod}, data: {a: "1"}}`, i))}.Packed()
	}
	p.merge(t.Context(), all[0], live(0, "2"))
	p.merge(t.Context(), all[1], nil)
	p.merge(t.Context(), all[2], live(2, "1"))
	all[3].Object = object.Object{Value: parsed(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c3, namespace: prod, labels: {a: b}}, data: {a: "3", b: "4"}}`)}.Packed()
	p.merge(t.Context(), all[3], parsed(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c3, namespace: prod, resourceVersion: "7",
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"c3","namespace":"prod"}}
'}}, data: {a: "1"}}`))
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

// TestShow: what was compressed comes back as it was when it is shown, and goes again.
func TestShow(t *testing.T) {
	plain := merged(t, &Plan{})
	p := &Plan{large: true}
	all := merged(t, p)
	for i, item := range all {
		if item.Err != nil || plain[i].Err != nil {
			t.Fatal(item.Err, plain[i].Err)
		}
		if item.Planned.Live != nil || item.Planned.Final != nil || item.Planned.Action != plain[i].Planned.Action {
			t.Errorf("item %d is stored whole, or without its action: %+v", i, item.Planned)
		}
	}
	if all[0].stored.kept != nil || all[3].stored.kept == nil {
		t.Error("a plan is merged anew where only values change, or is not where there is more to report")
	}
	next := 0
	p.Show(t.Context(), func(item *Item) {
		if item != all[next] {
			t.Errorf("shown out of order at %d", next)
		}
		if !reflect.DeepEqual(plain[next].Planned, item.Planned) {
			t.Errorf("item %d comes back otherwise: %+v, was %+v", next, item.Planned, plain[next].Planned)
		}
		next++
	})
	if next != len(all) {
		t.Errorf("%d shown, want %d", next, len(all))
	}
	if len(plain[0].Planned.Settled) == 0 {
		t.Error("the first item has nothing to tell: the test shows less than it should")
	}
	for i, item := range all {
		if item.Planned.Live != nil || item.Planned.Final != nil {
			t.Errorf("item %d was shown, and is stored whole", i)
		}
	}
}

// TestShowStops: what is not shown any more is not taken for shown.
func TestShowStops(t *testing.T) {
	p := &Plan{large: true}
	all := merged(t, p)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p.Show(ctx, func(*Item) { t.Error("shown") })
	for i, item := range all {
		if !errors.Is(item.Err, ErrNotMerged) {
			t.Errorf("item %d: %v", i, item.Err)
		}
	}
}

// TestPrepared: where only outcomes are reported, an item waits as the request that it
// comes to. One that is overtaken is merged again, and waits as the new request.
func TestPrepared(t *testing.T) {
	p, m := setup(t, conf("a", "2")+conf("b", "2")+conf("same", "1"), applied(t, "a", "1", "1")+applied(t, "b", "1", "1")+applied(t, "same", "1", "1"))
	p.Needs, p.Shown = Outcomes, true
	p.Merge(t.Context())
	for _, item := range p.Items {
		if item.Planned.Live != nil || item.Planned.Final != nil || item.stored.form != prepared {
			t.Errorf("%s: the sides are stored", item.Target)
		}
	}
	overtaken := false
	m.refuse = func(verb string, t cluster.Target, trial bool) error {
		if verb != "patch" || !trial || t.Name != "b" || overtaken {
			return nil
		}
		overtaken = true
		m.mu.Lock()
		defer m.mu.Unlock()
		m.objects[t.String()] = patched(m.objects[t.String()], map[string]any{"data": map[string]any{"more": "x"}, "metadata": map[string]any{"resourceVersion": "99"}})
		return conflict()
	}
	equal(t, "reported", reported(func(report func(*Item)) { p.Send(t.Context(), report) }), []string{"a configured", "b configured", "same unchanged"})
	equal(t, "requests", m.writes(), []string{"try patch configmap/a", "try patch configmap/b", "try patch configmap/b", "patch configmap/a", "patch configmap/b"})
	if got := m.objects["configmap/b"]["data"].(map[string]any); got["a"] != "2" || got["more"] != "x" {
		t.Errorf("b holds %v", got)
	}
	for _, item := range p.Items {
		if item.stored.request != nil || item.Result.Object != nil || item.Result.Planned.Live != nil {
			t.Errorf("%s is reported, and more of it is stored than what became of it", item.Target)
		}
	}
}

// largeRun has one object more than a run that is stored whole, each of them changed.
func largeRun(t *testing.T) (*Plan, *memory) {
	var local, liveObjects strings.Builder
	for i := range largeFrom + 1 {
		local.WriteString(conf(fmt.Sprint("c", i), "2"))
		liveObjects.WriteString(applied(t, fmt.Sprint("c", i), "1", "1"))
	}
	return setup(t, local.String(), liveObjects.String())
}

// TestCompressed: of a large run whose objects are printed, few plans are whole at once,
// and what is printed is the same.
func TestCompressed(t *testing.T) {
	p, m := largeRun(t)
	p.Shown, p.Preflight = true, false
	p.Merge(t.Context())
	for _, item := range p.Items {
		if item.stored.form != compressed || item.Planned.Live != nil {
			t.Fatalf("%s waits whole", item.Target)
		}
	}
	shown := 0
	p.Send(t.Context(), func(item *Item) {
		shown++
		if data, _ := item.Result.Object["data"].(map[string]any); item.Err != nil || data["a"] != "2" || item.Result.Planned.Live == nil {
			t.Errorf("%s is reported without what is printed: %v", item.Target, item.Err)
		}
	})
	if shown != largeFrom+1 || len(m.writes()) != largeFrom+1 {
		t.Errorf("%d reported, %d written", shown, len(m.writes()))
	}
	if p.Items[0].Result.Object != nil {
		t.Error("an object that was reported is still stored")
	}
}

// TestApartIsWhole: a large run of objects that depend on no others can be tried first, and written after that.
func TestApartIsWhole(t *testing.T) {
	p, m := largeRun(t)
	p.Shown, p.Apart, p.Preflight = true, true, false
	p.Merge(t.Context())
	p.Write.DryRun = true
	p.Preview(t.Context(), func(*Item) {})
	p.Write.DryRun = false
	p.Send(t.Context(), func(*Item) {})
	if err := p.Failed(); err != nil || len(m.writes()) != 2*(largeFrom+1) {
		t.Errorf("%d requests, %v", len(m.writes()), err)
	}
}
