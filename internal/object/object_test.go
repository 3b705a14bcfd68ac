package object

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := v.(map[string]any)
	return m
}

func TestIdentity(t *testing.T) {
	for _, tt := range []struct {
		text, name, group, version, rv string
		labels                         int
	}{
		{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","resourceVersion":"7","labels":{"a":"b","n":1}}}`, "deployment.apps/web", "apps", "v1", "7", 1},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`, "pod/p", "", "v1", "", 0},
		{`{}`, "/", "", "", "", 0},
	} {
		o := Object{Value: read(t, tt.text)}
		if o.String() != tt.name || o.Group() != tt.group || o.Version() != tt.version || o.ResourceVersion() != tt.rv || len(o.Labels()) != tt.labels {
			t.Errorf("%s: %s, %q, %q, %q, %v", tt.text, o, o.Group(), o.Version(), o.ResourceVersion(), o.Labels())
		}
	}
}

func TestInNamespace(t *testing.T) {
	o := Object{Value: read(t, `{"kind":"Pod"}`)}
	moved := o.InNamespace("a")
	if moved.Namespace() != "a" || o.Namespace() != "" || o.Value["metadata"] != nil {
		t.Errorf("%v became %v", o, moved)
	}
	if back := moved.InNamespace(""); back.Namespace() != "" || moved.Namespace() != "a" {
		t.Errorf("%v became %v", moved, back)
	}
}

func TestOrigin(t *testing.T) {
	for _, tt := range []struct {
		at   Origin
		want string
	}{
		{Origin{File: "a.yaml"}, "a.yaml"},
		{Origin{File: "a.yaml", Line: 3}, "a.yaml: line 3"},
		{Origin{File: "a.yaml", Document: 2, Many: true}, "a.yaml: document 2"},
		{Origin{File: "a.yaml", Document: 2, Many: true, Line: 14}, "a.yaml: document 2, line 14"},
	} {
		if got := tt.at.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{}`, "a.yaml: apiVersion: is not set"},
		{`{"apiVersion":1}`, "apiVersion: is the number 1, not a string"},
		{`{"apiVersion":"v1","kind":""}`, "kind: is empty"},
		{`{"apiVersion":"a/b/c","kind":"Pod"}`, `apiVersion: "a/b/c" is not group/version`},
		{`{"apiVersion":"v1","kind":"Pod"}`, "metadata.name: is not set"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":[]}`, "metadata: is a list, not a mapping"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"true":1}}}`, `metadata.labels["true"]: is the number 1, not a string; quote it`},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":true}}`, "metadata.name: is the boolean true, not a string; quote it"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{}}`, "metadata.name: is not set"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"p-"}}`, "metadata.generateName: cannot use generate name"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":"x"}}`, "a.yaml: pod/p: metadata.labels: is a string, not a mapping"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":{"a":{}}}}`, `metadata.annotations["a"]: is a mapping, not a string`},
	} {
		o := Object{Value: read(t, tt.text), Origin: Origin{File: "a.yaml"}}
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.text, err, tt.want)
		}
	}
	good := Object{Value: read(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":null}}`)}
	if err := good.Check(); err != nil || good.Place() != "pod/p" {
		t.Errorf("%s, %v", good.Place(), err)
	}
}

func TestEncode(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{map[string]any{"b": "<&>", "a": json.Number("9007199254740993")}, `{"a":9007199254740993,"b":"<&>"}` + "\n"},
		{json.RawMessage(`{"a": 1}`), `{"a": 1}`},
	} {
		if got, err := Encode(tt.v); err != nil || string(got) != tt.want {
			t.Errorf("got %q, %v, want %q", got, err, tt.want)
		}
	}
	if _, err := Encode(func() {}); err == nil {
		t.Error("a function is no JSON")
	}
}

func TestUnstructured(t *testing.T) {
	o := Object{Value: read(t, `{"a":9223372036854775807,"b":0.1,"c":[1,null,"x",true,{"d":1e3}]}`)}
	u, err := o.Unstructured()
	want := map[string]any{"a": int64(9223372036854775807), "b": 0.1, "c": []any{int64(1), nil, "x", true, map[string]any{"d": 1000.0}}}
	if err != nil || !reflect.DeepEqual(u.Object, want) {
		t.Fatalf("got %v, %v", u, err)
	}
	back, err := FromUnstructured(u)
	if err != nil || !merge.Equal(back.Value, o.Value, nil) {
		t.Errorf("came back as %v, %v", back.Value, err)
	}
	for _, tt := range []struct{ text, want string }{
		{`{"kind":"Pod","metadata":{"name":"p"},"a":{"b":[18446744073709551617]}}`, "pod/p: a.b[0]: number: float64 rounds it"},
		{`{"a":12345678901234567.25}`, "a: number: float64 rounds it"},
		{`{"a":1e999}`, "a: number: is out of the API's range"},
	} {
		if _, err := (Object{Value: read(t, tt.text)}).Unstructured(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.text, err, tt.want)
		}
	}
	for _, none := range []*unstructured.Unstructured{nil, {}} {
		if o, err := FromUnstructured(none); err != nil || o.Value != nil {
			t.Errorf("nothing is nothing: %v, %v", o, err)
		}
	}
}

func TestWholeReportsWhatCannotBeRead(t *testing.T) {
	for _, text := range []string{"{", "[]"} {
		o := Object{packed: &packed{kind: "Pod", text: []byte(text)}, Origin: Origin{File: "a.yaml"}}
		if _, err := o.Whole(); err == nil || errors.Unwrap(err) == nil && text == "{" {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if o := (Object{Value: map[string]any{"a": func() {}}}); o.Packed().packed != nil {
		t.Error("what JSON cannot hold is not packed")
	}
}
