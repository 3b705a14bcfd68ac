package apply_test

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"group":"example.com","names":{"kind":"Widget","plural":"widgets"},
	"scope":"Namespaced","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`

// TestSixteenGoroutines: all use one Planner, one registry of types and the objects of one cache,
// while definitions are added. Every plan is the same as without the others. go test -race finds races.
func TestSixteenGoroutines(t *testing.T) {
	t.Parallel()
	kinds := &apply.Types{}
	rules := []byte("- path: metadata.labels\n  winner: live\n")
	p := made(t, apply.Options{Types: kinds, Scheme: scheme.Scheme, Rules: rules})
	bare, live, custom, there := deployment(3, "web:2"), scaled(p), widget(int64(2)), widget(int64(1))
	bare.TypeMeta = metav1.TypeMeta{}
	there.SetResourceVersion("1")
	all := func(i int) (string, error) {
		owned := p.OwnedBy(metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "o", UID: types.UID(fmt.Sprint(i % 2))})
		if err := kinds.Add([]byte(widgets)); err != nil {
			return "", err
		}
		if i%5 == 0 {
			kinds.Forget()
		}
		var texts string
		for _, planned := range []func() (*apply.Plan, error){
			func() (*apply.Plan, error) { return owned.Plan(t.Context(), bare, live) },
			func() (*apply.Plan, error) { return p.Plan(t.Context(), custom, there) },
			func() (*apply.Plan, error) { return p.Since([]byte(`{}`)).Plan(t.Context(), custom, there) },
		} {
			plan, err := planned()
			if err != nil {
				return "", err
			}
			request, err := plan.Request()
			if err != nil {
				return "", err
			}
			texts += plan.String() + string(request.Body) + fmt.Sprint(plan.Warnings())
		}
		return texts, nil
	}
	want := map[int]string{}
	for i := range 2 {
		var err error
		if want[i], err = all(i); err != nil {
			t.Fatal(err)
		}
	}
	var running sync.WaitGroup
	for i := range 16 {
		running.Go(func() {
			for range 20 {
				if got, err := all(i); err != nil || got != want[i%2] {
					t.Errorf("got %s, %v, want %s", got, err, want[i%2])
				}
			}
		})
	}
	running.Wait()
}

// FuzzPlan: no input makes the library panic, whatever it is taken for.
func FuzzPlan(f *testing.F) {
	for _, seed := range [][3]string{
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}`, `{"metadata":{"name":"c","resourceVersion":"1"},"data":{"a":"2"}}`, `{"kind":"ConfigMap","metadata":{"name":"c"},"data":{"b":"1"}}`},
		{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":null},"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"a"},{}]}}}}`,
			`{"metadata":{"name":"d","resourceVersion":"1","ownerReferences":[{"controller":true,"uid":"1"},3],"managedFields":[{"manager":"m","operation":"Apply","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},"spec":{"replicas":"3"}}`, `{`},
		{`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"a":"1"},"data":3}`, `{"metadata":{"name":"s","annotations":[]},"data":{"a":"!"}}`, `[]`},
		{`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","ownerReferences":{}},"spec":{"size":1e999}}`, `{"metadata":{"name":"w"},"spec":[]}`, ``},
		{widgets, `null`, `""`},
	} {
		for mode := range uint8(4) {
			f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]), mode)
		}
	}
	f.Fuzz(func(t *testing.T, desired, live, applied []byte, mode uint8) {
		var kinds apply.Types
		_ = kinds.Add(applied) // nearly always none
		o := apply.Options{Manager: "m", Types: &kinds, Labels: map[string]string{"a": "b"}, Rules: applied}
		switch mode % 4 {
		case 1:
			o.ServerSide = true
		case 2:
			o.Annotation = "own"
		case 3:
			o.Policy = "strict"
		}
		p, err := apply.New(o)
		if err != nil {
			o.Rules = nil
			p = made(t, o)
		}
		if mode%2 == 1 {
			controls := true
			p = p.OwnedBy(metav1.OwnerReference{UID: "2", Controller: &controls})
		}
		if mode > 127 {
			p = p.Since(applied)
		}
		plan, err := p.Plan(t.Context(), desired, live)
		if err != nil {
			return
		}
		_, _ = plan.Request()
		_, _ = plan.Object()
		if plan.Changed() != (len(plan.Changes()) > 0) || len(plan.String()) > 1000 {
			t.Errorf("changed: %t, %d rows, %s", plan.Changed(), len(plan.Changes()), plan)
		}
		_, _ = plan.Applied(), plan.Warnings()
	})
}
