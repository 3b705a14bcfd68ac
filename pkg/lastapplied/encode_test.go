package lastapplied_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

var read, show = values.Read, values.Show

// kubectls returns the annotation that kubectl apply writes: its own steps (SetNamespace of
// cli-runtime, GetModifiedConfiguration of k8s.io/kubectl/pkg/util/apply.go) on
// its own type and codec.
func kubectls(t *testing.T, local, namespace string) string {
	t.Helper()
	u := &unstructured.Unstructured{}
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode([]byte(local), nil, u); err != nil {
		t.Fatal(err)
	}
	if namespace != "" && u.GetNamespace() == "" {
		u.SetNamespace(namespace)
	}
	notes := u.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	delete(notes, lastapplied.Annotation)
	u.SetAnnotations(notes)
	var b bytes.Buffer
	if err := unstructured.UnstructuredJSONScheme.Encode(u, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEncodeIsKubectls(t *testing.T) {
	for _, c := range []struct{ reason, local string }{
		{"the plain case", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"1","a":"2"}}`},
		{"own annotation goes, others stay", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","x":"y"}}}`},
		{"annotations of null become {}", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":null}}`},
		{"a null annotation is read as a string", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"x":null}}}`},
		{"a namespace that is stated stays", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"mine"}}`},
		{"an empty namespace is filled in", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":""}}`},
		{"HTML and line separators are escaped", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"<a href=\"x\">&</a>\u2028\u2029 ü \u0000 \u001b[31m"}}`},
		{"nulls stay", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","creationTimestamp":null,"labels":null},"spec":{"replicas":null,"x":[null]},"status":{}}`},
		{"server-owned fields stay", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"5","uid":"u","generation":7}}`},
		{"integers", `{"apiVersion":"a/v1","kind":"N","metadata":{"name":"a"},"spec":{"a":[0,-0,-1,9007199254740993,9223372036854775807,-9223372036854775808]}}`},
		{"floats that stay what they are", `{"apiVersion":"a/v1","kind":"N","metadata":{"name":"a"},"spec":{"a":[1.0,1e3,1.10,0.1,-0.0,1E-7,1e21,1e20,123456789.25,2.50e-10,0.000001]}}`},
		{"empty key, long key order", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"":"e","B":"1","a":"2","é":"3","_":"4","10":"5","9":"6"}}`},
		{"a Secret without values is as any object", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"type":"Opaque"}`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			for _, ns := range []string{"", "default"} {
				got, err := lastapplied.Encode(read(t, c.local), lastapplied.Options{Namespace: ns})
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(kubectls(t, c.local, ns), got); d != "" {
					t.Errorf("namespace %q: -kubectl +ours\n%s", ns, d)
				}
			}
		})
	}
}

func TestEncodeKeepsNumbers(t *testing.T) {
	for _, c := range []struct{ reason, in, want string }{
		{"beyond int64, where kubectl writes 18446744073709552000", "18446744073709551615", "18446744073709551615"},
		{"a whole number that float64 would change", "9007199254740993.0", "9007199254740993.0"},
		{"a fraction with more digits than a float64 has", "0.12345678901234567890", "0.12345678901234568"},
		{"beyond float64", "1e400", "1e400"},
		{"an exponent that must not be spelled out", "1e999999999", "1e999999999"},
		{"too small for float64", "1e-400", "0"},
		{"one that float64 only respells", "100e-2", "1"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			in := `{"apiVersion":"a/v1","kind":"N","metadata":{"annotations":{},"name":"a"},"spec":[{"n":NUM}]}`
			got, err := lastapplied.Encode(read(t, strings.Replace(in, "NUM", c.in, 1)), lastapplied.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Replace(in, "NUM", c.want, 1) + "\n"; got != want {
				t.Errorf("got %s want %s", got, want)
			}
		})
	}
}

func TestEncodeSecret(t *testing.T) {
	for _, c := range []struct{ reason, local, want string }{
		{
			"values go, keys and all else stay",
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","labels":{"a":"b"}},"type":"Opaque","immutable":true,"data":{"a":"aHVudGVyMg=="},"stringData":{"b":"hunter2"}}`,
			`{"apiVersion":"v1","data":{"a":""},"immutable":true,"kind":"Secret","metadata":{"annotations":{"merge.kubectl/blanked":"secret"},"labels":{"a":"b"},"name":"s"},"stringData":{"b":""},"type":"Opaque"}`,
		},
		{
			"a null in data says that the key is not there, which a blank would not",
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"a":"eA==","gone":null}}`,
			`{"apiVersion":"v1","data":{"a":""},"kind":"Secret","metadata":{"annotations":{"merge.kubectl/blanked":"secret"},"name":"s"}}`,
		},
		{
			"data that is no map may hold a value all the same",
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":"hunter2","stringData":["hunter2"]}`,
			`{"apiVersion":"v1","data":{},"kind":"Secret","metadata":{"annotations":{"merge.kubectl/blanked":"secret"},"name":"s"},"stringData":{}}`,
		},
		{
			"a value that is no string is a value",
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"a":{"b":"hunter2"},"n":12345}}`,
			`{"apiVersion":"v1","kind":"Secret","metadata":{"annotations":{"merge.kubectl/blanked":"secret"},"name":"s"},"stringData":{"a":"","n":""}}`,
		},
		{
			"a misspelt field may hold values too",
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringdata":{"a":"hunter2"},"password":"hunter2"}`,
			`{"apiVersion":"v1","kind":"Secret","metadata":{"annotations":{"merge.kubectl/blanked":"secret"},"name":"s"},"password":{},"stringdata":{"a":""}}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, err := lastapplied.Encode(read(t, c.local), lastapplied.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want+"\n", got); d != "" {
				t.Error(d)
			}
		})
	}
}

// pod is a type of every kind that shortening treats differently.
var pod = &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{
	"metadata": {Type: &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{
		"finalizers": {Type: &merge.Type{Kind: merge.Set}},
	}}},
	"spec": {Type: &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{
		"ports": {Type: &merge.Type{
			Kind: merge.Keyed, Keys: []merge.Key{{Name: "port"}, {Name: "protocol", Default: "TCP"}},
			Elem: &merge.Type{Kind: merge.Object},
		}},
		"args":     {Type: &merge.Type{Kind: merge.List}},
		"selector": {Type: &merge.Type{Kind: merge.Map, Atomic: true}},
	}}},
}}

func TestEncodeShortens(t *testing.T) {
	local := read(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"l":"v"},"annotations":{"n":"v"},"finalizers":["a/b"]},`+
		`"spec":{"ports":[{"port":53,"protocol":"UDP","name":"dns"},{"port":80,"protocol":null}],"args":["x"],"selector":{"s":"v"},"empty":{},"no":null,"num":3,"big":"`+
		strings.Repeat("x", lastapplied.Limit)+`"}}`)
	leaves := `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"merge.kubectl/blanked":"values","n":""},"finalizers":["a/b"],"labels":{"l":""},"name":"p","namespace":"d"},` +
		`"spec":{"args":"","big":"","empty":{},"num":"","ports":[{"name":"","port":53,"protocol":"UDP"},{"port":80}],"selector":{"s":""}}}` + "\n"
	all := `{"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"merge.kubectl/blanked":"all"},"name":"p","namespace":"d"}}` + "\n"
	room := func(n int) any {
		return map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			"k":                    strings.Repeat("y", lastapplied.Limit-len(lastapplied.Annotation)-len("k")-n),
			lastapplied.Annotation: strings.Repeat("z", 1000), // replaced, so it does not count
		}}}
	}
	for _, c := range []struct {
		reason string
		o      lastapplied.Options
		want   string
	}{
		{"structure, merge keys and set members are kept", lastapplied.Options{}, leaves},
		{"to the byte", lastapplied.Options{On: room(len(leaves))}, leaves},
		{"one byte less leaves the identity", lastapplied.Options{On: room(len(leaves) - 1)}, all},
		{"identity, to the byte", lastapplied.Options{On: room(len(all))}, all},
		{"an edited blanked configuration is marked again", lastapplied.Options{Blanked: lastapplied.BlankLeaves}, leaves},
		{"identity stays identity", lastapplied.Options{Blanked: lastapplied.BlankAll}, all},
	} {
		t.Run(c.reason, func(t *testing.T) {
			c.o.Namespace, c.o.Type = "d", pod
			got, err := lastapplied.Encode(local, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("without room for the identity it is an error that says whose bytes they are", func(t *testing.T) {
		_, err := lastapplied.Encode(local, lastapplied.Options{Namespace: "d", On: room(len(all) - 1)})
		if err == nil || !strings.Contains(err.Error(), "metadata.annotations: too large") {
			t.Errorf("got %v", err)
		}
	})
}

func TestEncodeRefuses(t *testing.T) {
	for _, c := range []struct {
		reason string
		local  any
		want   string
	}{
		{"a list is no object", []any{}, "not a JSON object"},
		{"nothing is no object", nil, "not a JSON object"},
		{
			"a blanked configuration that is applied would empty the object",
			read(t, `{"kind":"Secret","metadata":{"annotations":{"merge.kubectl/blanked":"secret"}}}`), "values were blanked",
		},
		{"a number that is none", map[string]any{"a": json.Number("hunter2")}, "not a JSON number"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := lastapplied.Encode(c.local, lastapplied.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
