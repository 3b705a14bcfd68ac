package schema

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema/internal/typename"
)

func TestEveryBuiltinKindIsRead(t *testing.T) {
	kinds := BuiltinKinds()
	if len(kinds) < 150 {
		t.Fatalf("the table has %d kinds: it was not read", len(kinds))
	}
	for _, k := range kinds {
		typ, ok := Builtin(k.Group, k.Version, k.Kind)
		if !ok || typ.Kind != merge.Object || len(typ.Fields) < 3 {
			t.Errorf("%s/%s %s: not read: %+v", k.Group, k.Version, k.Kind, typ)
		}
	}
	if _, ok := Builtin("apps", "v1", "Deploymen"); ok {
		t.Error("a prefix of a kind was taken for the kind")
	}
}

// TestFieldOverridesItsType: a field may say that its type is split otherwise there, in
// the table as in the server's document.
func TestFieldOverridesItsType(t *testing.T) {
	volume, _ := Builtin("", "v1", "PersistentVolume")
	event, _ := Builtin("", "v1", "Event")
	if volume.Fields["spec"].Type.Fields["claimRef"].Type.Atomic || !event.Fields["involvedObject"].Type.Atomic {
		t.Error("the table: claimRef is merged field by field, any other ObjectReference is one value")
	}
	doc, err := FromOpenAPI([]byte(`{"components":{"schemas":{
		"Ref": {"type":"object","x-kubernetes-map-type":"atomic","properties":{"name":{"type":"string"}}},
		"Kind": {"type":"object","x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"Kind"}],"properties":{
			"whole": {"allOf":[{"$ref":"#/components/schemas/Ref"}]},
			"parts": {"allOf":[{"$ref":"#/components/schemas/Ref"}],"x-kubernetes-map-type":"granular"}}}}}}`), merge.SourceServer)
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := doc.Type("g", "v1", "Kind")
	if !kind.Fields["whole"].Type.Atomic || kind.Fields["parts"].Type.Atomic {
		t.Error("the server's document: granular on the field overrides the atomic type")
	}
}

// TestEveryShapeIsComplete walks all that is reachable: a shape that the reader
// does not understand would come out as an object without fields.
func TestEveryShapeIsComplete(t *testing.T) {
	seen := map[*merge.Type]bool{}
	var walk func(path string, typ *merge.Type)
	walk = func(path string, typ *merge.Type) {
		if typ == nil {
			t.Errorf("%s: no type", path)
			return
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		switch typ.Kind {
		case merge.Keyed:
			if len(typ.Keys) == 0 {
				t.Errorf("%s: keyed without keys", path)
			}
			for _, k := range typ.Keys {
				if _, ok := typ.Elem.Fields[k.Name]; !ok {
					t.Errorf("%s: the key %s is no field of its entries", path, k.Name)
				}
			}
		case merge.Object:
			if typ.Name == "" || len(typ.Fields) == 0 && !emptyInTable(typ.Name) {
				t.Errorf("%s: %q has no fields", path, typ.Name)
			}
		}
		for name, f := range typ.Fields {
			walk(path+"."+name, f.Type)
		}
		if typ.Kind == merge.Map || typ.Kind == merge.List || typ.Kind == merge.Keyed || typ.Kind == merge.Set {
			walk(path+"[]", typ.Elem)
		}
	}
	for _, k := range BuiltinKinds() {
		typ, _ := Builtin(k.Group, k.Version, k.Kind)
		walk(k.Kind, typ)
	}
	t.Logf("%d types", len(seen))
}

// emptyInTable: the Go type has no fields either.
func emptyInTable(name string) bool {
	rows, ok := builtins.find(typename.Short(name))
	return ok && !strings.Contains(rows, "\t")
}

func TestBuiltinConcurrently(t *testing.T) {
	tab := &table{text: builtinText}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, k := range BuiltinKinds() {
				typ, ok := tab.kind(k.Group, k.Version, k.Kind)
				if !ok || typ.Fields["metadata"].Type.Fields["labels"].Type.Kind != merge.Map {
					t.Errorf("%s: incomplete", k.Kind)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkBuiltinFirst(b *testing.B) {
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				(&table{text: builtinText}).kind("apps", "v1", kind)
			}
		})
	}
}

func BenchmarkBuiltinAgain(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Builtin("apps", "v1", "Deployment")
	}
}

// TestKindsAgreeWithDiscovery compares scope, resource and status subresource with
// what kube-apiserver 1.36.3, all APIs on, says in its discovery documents.
func TestKindsAgreeWithDiscovery(t *testing.T) {
	text, err := os.ReadFile("testdata/discovery.txt")
	if err != nil {
		t.Fatal(err)
	}
	newer := map[string]bool{"CSINode": true} // got a status in 1.37
	for line := range strings.Lines(string(text)) {
		w := strings.Fields(line)
		group, version, _ := strings.Cut(w[0], "/")
		k, ok := BuiltinKind(group, version, w[1])
		if !ok {
			t.Errorf("%s: not in the table", line)
			continue
		}
		if k.Resource == "" || newer[k.Kind] {
			continue
		}
		if k.Resource != w[2] || k.Namespaced != (w[3] == "namespaced") || k.HasStatus != (w[4] == "status") {
			t.Errorf("%s: the table has %+v", line, k)
		}
	}
	if _, known := BuiltinKind("example.com", "v1", "Deployment"); known {
		t.Error("the table knows no custom resource")
	}
}

func TestJSONOfAnyFormIsKept(t *testing.T) {
	typ, ok := Builtin("apps", "v1", "ControllerRevision")
	if !ok {
		t.Fatal("no ControllerRevision")
	}
	if typ.Fields["data"].ZeroIsAbsent {
		t.Error("ControllerRevision.data holds JSON of any form: {} and false are stored as they are")
	}
	if !typ.Fields["metadata"].ZeroIsAbsent {
		t.Error("an empty metadata is stored like its absence")
	}
}
