package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// applied is an object that was applied from the client's side with a, b and d; bob has changed d since, and e is
// left over from before.
const applied = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n","resourceVersion":"7",
 "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"v1\",\"data\":{\"a\":\"1\",\"b\":\"2\",\"d\":\"4\"},\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"c\",\"namespace\":\"n\"}}\n"},
 "managedFields":[
  {"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{},"f:b":{},"f:e":{}},"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}},
  {"manager":"bob","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:d":{}}}}]},
 "data":{"a":"1","b":"2","d":"9","e":"5"}}`

func plan(t *testing.T, p Planner, file string, obj map[string]any) (Move, error) {
	t.Helper()
	s := Subject{Subject: apply.Subject{Object: object.Object{Value: read(t, file)}, Name: "configmap/c"}, In: func(string) (map[string]any, error) { return obj, nil }}
	return p.Plan(context.Background(), s, obj)
}

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

func rows(m Move) []string {
	var out []string
	for _, r := range m.Rows {
		out = append(out, string(r.What)+" "+r.Path.String()+" "+strings.Join(r.By, ","))
	}
	return out
}

func TestThereAndBack(t *testing.T) {
	const file = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"a":"1","d":"4"}}`
	to := Planner{To: ToServerSide, Manager: "kubectl"}
	m, err := plan(t, to, file, read(t, applied))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"moves data.a kubectl-client-side-apply", "moves data.b kubectl-client-side-apply", "removed data.b ", "conflict data.d bob", "unstated data.e kubectl-client-side-apply"}
	if d := cmp.Diff(want, rows(m)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]any{"a": "1", "b": "2"}, m.Trial["data"]); d != "" {
		t.Error(d)
	}
	if at, changed := m.changed(m.Final); changed {
		t.Errorf("values change: %v", at)
	}
	again, err := plan(t, to, file, m.Final)
	if err != nil || again.Action != apply.Nothing {
		t.Errorf("again: %v, %v", again.Action, err)
	}
	back, err := plan(t, Planner{To: ToClientSide, Manager: "kubectl"}, file, m.Final)
	if err != nil || back.Action != apply.Change {
		t.Fatalf("back: %v, %v", back.Action, err)
	}
	if d := cmp.Diff(m.Final["data"], back.Final["data"]); d != "" {
		t.Error(d)
	}
}

func TestNobodyKnown(t *testing.T) {
	_, err := plan(t, Planner{To: ToServerSide, Manager: "kubectl"}, applied, read(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c",
 "managedFields":[{"manager":"helm","operation":"Update","apiVersion":"v1","fieldsV1":{"f:data":{"f:a":{}}}}]},"data":{"a":"1"}}`))
	if err == nil || !strings.Contains(err.Error(), "set by helm): name the managers") {
		t.Errorf("got %v", err)
	}
	if _, err = plan(t, Planner{To: ToServerSide}, applied, nil); err == nil {
		t.Error("no object is no error")
	}
}

// TestEmpties: fields that the file states as empty are the applier's on the server's side, though live does not have
// them, and are in last-applied again after the way back.
func TestEmpties(t *testing.T) {
	const last = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"labels":{},"name":"c","namespace":"n"},"spec":{"template":{"spec":{"containers":[{"env":[],"image":"i","name":"a"}],"hostNetwork":false}}}}`
	text, err := json.Marshal(last + "\n")
	if err != nil {
		t.Fatal(err)
	}
	live := read(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"c","namespace":"n","annotations":{"kubectl.kubernetes.io/last-applied-configuration":`+string(text)+`},"managedFields":[
 {"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},
  "f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}}}}}}}]},
 "spec":{"template":{"spec":{"containers":[{"image":"i","name":"a"}]}}}}`)
	file := strings.Replace(last, `"annotations":{},`, "", 1)
	there, err := plan(t, Planner{To: ToServerSide, Manager: "kubectl"}, file, live)
	if err != nil || !strings.Contains(strings.Join(rows(there), "\n"), "moves spec.template.spec.hostNetwork") {
		t.Fatalf("%v, %v", rows(there), err)
	}
	back, err := plan(t, Planner{To: ToClientSide, Manager: "kubectl"}, file, there.Final)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(last+"\n", lastapplied.Read(back.Final).Text); d != "" {
		t.Error(d)
	}
}

// TestStatesNothing: an object of which nothing but its name was applied keeps an owner of the annotation, so that
// the server does not begin managedFields anew; the way back records the object.
func TestStatesNothing(t *testing.T) {
	const last = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"annotations":{},"name":"c","namespace":"n"}}`
	text, err := json.Marshal(last + "\n")
	if err != nil {
		t.Fatal(err)
	}
	live := read(t, `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"c","namespace":"n","labels":{"x":"y"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":`+string(text)+`},"managedFields":[
 {"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}}]}}`)
	const file = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"c","namespace":"n"}}`
	there, err := plan(t, Planner{To: ToServerSide, Manager: "kubectl"}, file, live)
	if err != nil {
		t.Fatal(err)
	}
	if owners := ownership.At(ownership.Of(there.Final), lastapplied.AnnotationPath); len(owners) != 1 || owners[0].Operation != "Apply" {
		t.Errorf("the annotation is owned by %v", owners)
	}
	for name, obj := range map[string]map[string]any{"there": there.Final, "never recorded": read(t, `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"c","namespace":"n"}}`)} {
		back, err := plan(t, Planner{To: ToClientSide, Manager: "kubectl"}, file, obj)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(last+"\n", lastapplied.Read(back.Final).Text); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestStatedBesides: what the annotation states, and the applier has not applied, stays stated: in the lists' order, and
// blanked where the annotation is. What the applier has applied is stated as it is in live.
func TestStatedBesides(t *testing.T) {
	const obj = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"c","namespace":"n","annotations":{"kubectl.kubernetes.io/last-applied-configuration":%s},"managedFields":[
 {"manager":"kubectl","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}}}}}}}]},
 "spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"i","name":"s"},{"image":"i","name":"a"}]}}}}`
	for annotated, want := range map[string]string{
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"labels":{"x":"y"},"name":"c","namespace":"n"},"spec":{"replicas":2,"template":{"spec":{"containers":[{"image":"i","name":"s"}]}}}}`: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"labels":{"x":"y"},"name":"c","namespace":"n"},"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"i","name":"s"},{"image":"i","name":"a"}]}}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"merge.kubectl/blanked":"values"},"labels":{"x":""},"name":"c","namespace":"n"}}`:                                                      `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"merge.kubectl/blanked":"values"},"labels":{"x":""},"name":"c","namespace":"n"},"spec":{"replicas":"","template":{"spec":{"containers":[{"image":"","name":"a"}]}}}}`,
		`{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{"annotations":{},"labels":{"x":"y"},"name":"c","namespace":"n"}}`:                                                                                `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"c","namespace":"n"},"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"i","name":"a"}]}}}}`,
	} {
		text, err := json.Marshal(annotated + "\n")
		if err != nil {
			t.Fatal(err)
		}
		back, err := plan(t, Planner{To: ToClientSide, Manager: "kubectl"}, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"c"}}`, read(t, fmt.Sprintf(obj, text)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want+"\n", lastapplied.Read(back.Final).Text); d != "" {
			t.Error(d)
		}
	}
}
