package schema

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestDistilKeepsTheTypes(t *testing.T) {
	text, err := os.ReadFile("testdata/openapi-crd.json")
	if err != nil {
		t.Fatal(err)
	}
	small, err := Distil(text)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(small, []byte(`"description":`)) || bytes.Contains(small, []byte(`"paths":`)) || len(small) >= len(text) {
		t.Errorf("%d of %d bytes are left: what says nothing about merging is to go", len(small), len(text))
	}
	was, err := FromOpenAPI(text, merge.SourceServer)
	if err != nil {
		t.Fatal(err)
	}
	is, err := FromOpenAPI(small, merge.SourceServer)
	if err != nil {
		t.Fatal(err)
	}
	if len(was.Kinds()) == 0 || !reflect.DeepEqual(was.Kinds(), is.Kinds()) {
		t.Errorf("kinds: %v, want %v", is.Kinds(), was.Kinds())
	}
	for _, k := range was.Kinds() {
		want, _ := was.Type(k.Group, k.Version, k.Kind)
		got, err := is.Type(k.Group, k.Version, k.Kind)
		if got == nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the type is another one: %v", k.Kind, err)
		}
	}
	again, err := Distil(small)
	if err != nil || !bytes.Equal(again, small) {
		t.Errorf("what is distilled already stays as it is: %v", err)
	}
}

func TestDistil(t *testing.T) {
	for _, tt := range []struct{ reason, doc, want string }{
		{"a property may have a keyword's name", `{"components":{"schemas":{"A":{"properties":{"description":{"type":"string","description":"d"}}}}}}`,
			`{"components":{"schemas":{"A":{"properties":{"description":{"type":"string"}}}}}}`},
		{"a default is data, whatever stands in it", `{"components":{"schemas":{"A":{"default":{"description":"d","n":9007199254740993}}}}}`,
			`{"components":{"schemas":{"A":{"default":{"description":"d","n":9007199254740993}}}}}`},
		{"additionalProperties may say yes", `{"components":{"schemas":{"A":{"additionalProperties":true,"title":"t"}}}}`,
			`{"components":{"schemas":{"A":{"additionalProperties":true}}}}`},
		{"or be a schema", `{"components":{"schemas":{"A":{"additionalProperties":{"title":"t","type":"string"}}}}}`,
			`{"components":{"schemas":{"A":{"additionalProperties":{"type":"string"}}}}}`},
		{"allOf and items", `{"components":{"schemas":{"A":{"allOf":[{"$ref":"#/b","title":"t"}],"items":{"example":1,"type":"string"}}}}}`,
			`{"components":{"schemas":{"A":{"allOf":[{"$ref":"#/b"}],"items":{"type":"string"}}}}}`},
		{"v2 becomes v3", `{"definitions":{"A":{"type":"string"}}}`, `{"components":{"schemas":{"A":{"type":"string"}}}}`},
	} {
		got, err := Distil([]byte(tt.doc))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.reason, got, err, tt.want)
		}
	}
	for _, doc := range []string{``, `{}`, `{"components":{"schemas":{"A":{]}}}`} {
		if got, err := Distil([]byte(doc)); err == nil {
			t.Errorf("%q is no document with schemas, but came out as %s", doc, got)
		}
	}
}
