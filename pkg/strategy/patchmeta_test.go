package strategy

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	kinds "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// TestPatchMeta: every field of every built-in type has the tags that its Go type has, and
// leads to the type that the Go field has.
func TestPatchMeta(t *testing.T) {
	n, fields := 0, map[tagged]bool{}
	for _, k := range schema.BuiltinKinds() {
		meta, ok := patchMetaOf(k.Group, k.Version, k.Kind)
		obj, err := scheme.Scheme.New(kinds.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind})
		if ok != (err == nil) {
			t.Errorf("%s/%s %s: known here: %t, to client-go: %v", k.Group, k.Version, k.Kind, ok, err)
		}
		if !ok || err != nil {
			continue
		}
		n++
		want, err := strategicpatch.NewPatchMetaFromStruct(obj)
		if err != nil {
			t.Fatal(err)
		}
		comparison{t, fields}.fields(meta, want.T)
	}
	if n < 100 || len(fields) < 2000 {
		t.Errorf("%d kinds and %d fields were compared", n, len(fields))
	}
}

// comparison compares each field of a type once.
type comparison struct {
	*testing.T
	seen map[tagged]bool
}

func (c comparison) fields(meta patchMeta, of reflect.Type) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			c.fields(meta, f.Type)
		default:
			c.field(meta, of, name)
		}
	}
}

func (c comparison) field(meta patchMeta, of reflect.Type, name string) {
	at := tagged{meta.Type.Name, name}
	if c.seen[at] {
		return
	}
	c.seen[at] = true
	own, ownTags, err := meta.LookupPatchMetadataForStruct(name)
	theirs, tags, wrong := strategicpatch.PatchMetaFromStruct{T: of}.LookupPatchMetadataForStruct(name)
	if err != nil || wrong != nil {
		c.Errorf("%s: %v, in Go: %v", at, err, wrong)
		return
	}
	if !slices.Equal(ownTags.GetPatchStrategies(), tags.GetPatchStrategies()) && strings.Join(tags.GetPatchStrategies(), "") != "" || ownTags.GetPatchMergeKey() != tags.GetPatchMergeKey() {
		c.Errorf("%s: %q by %q, in Go: %q by %q", at, ownTags.GetPatchStrategies(), ownTags.GetPatchMergeKey(), tags.GetPatchStrategies(), tags.GetPatchMergeKey())
	}
	to := theirs.(strategicpatch.PatchMetaFromStruct).T
	for to.Kind() == reflect.Pointer {
		to = to.Elem()
	}
	if to.Kind() == reflect.Slice && to.Elem().Kind() != reflect.Uint8 {
		elem, _, err := meta.LookupPatchMetadataForSlice(name)
		if err != nil {
			c.Errorf("%s: %v", at, err)
			return
		}
		own, to = elem, to.Elem()
	}
	if to.Kind() == reflect.Struct && !reflect.PointerTo(to).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		if own.Name() != "struct" {
			c.Errorf("%s is a %s, in Go: %s", at, own.Name(), to)
			return
		}
		c.fields(own.(patchMeta), to)
	}
}
