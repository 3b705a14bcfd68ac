package strategy

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

//go:embed tags.table
var tagsText string

// tagged is a field of a type, by the type's OpenAPI name.
type tagged struct{ typ, field string }

// patchTags are the tags of a field, as apimachinery's library takes them from Go types.
type patchTags struct {
	strategies []string
	key        string
}

var tags = sync.OnceValue(func() map[tagged]patchTags {
	all := map[tagged]patchTags{}
	for line := range strings.Lines(tagsText) {
		w := strings.Fields(line)
		if len(w) != 4 || w[0] == "#" {
			continue
		}
		for i := range w[2:] {
			if w[2+i] == "-" {
				w[2+i] = ""
			}
		}
		all[tagged{w[0], w[1]}] = patchTags{strings.Split(w[2], ","), w[3]}
	}
	return all
})

// patchMeta gives apimachinery's strategic merge the tags of a built-in type, which it would
// else read from the Go type: those cost the program more than all else to start.
type patchMeta struct{ *merge.Type }

var _ strategicpatch.LookupPatchMeta = patchMeta{}

// patchMetaOf is that of a kind that client-go has; ok is false for others, which kubectl
// merges as JSON.
func patchMetaOf(group, version, kind string) (patchMeta, bool) {
	t, ok := schema.Builtin(group, version, kind)
	return patchMeta{t}, ok && strings.HasPrefix(t.Name, "io.k8s.api.")
}

// Name is the kind of the Go type, as errors name it.
func (p patchMeta) Name() string {
	switch {
	case p.Type == nil:
		return "interface"
	case p.Kind == merge.Object:
		return "struct"
	case p.Kind == merge.Map:
		return "map"
	case p.Kind == merge.List, p.Kind == merge.Keyed, p.Kind == merge.Set:
		return "slice"
	}
	return "string"
}

// LookupPatchMetadataForStruct is the type and the tags of a field.
func (p patchMeta) LookupPatchMetadataForStruct(key string) (strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	var meta strategicpatch.PatchMeta
	if p.Name() != "struct" {
		return nil, meta, fmt.Errorf("merging an object in json but data type is not struct, instead is: %s", p.Name())
	}
	name, ok := key, false
	if _, ok = p.Fields[key]; !ok {
		for other := range p.Fields { // as encoding/json finds fields
			if strings.EqualFold(other, key) {
				name, ok = other, true
			}
		}
	}
	if !ok {
		return nil, meta, fmt.Errorf("unable to find api field in struct %s for the json field %q", p.Type.Name[strings.LastIndexByte(p.Type.Name, '.')+1:], key)
	}
	t := tags()[tagged{p.Type.Name, name}]
	meta.SetPatchStrategies(t.strategies)
	meta.SetPatchMergeKey(t.key)
	return patchMeta{p.Fields[name].Type}, meta, nil
}

// LookupPatchMetadataForSlice is the type of the entries of a field, and the field's tags.
func (p patchMeta) LookupPatchMetadataForSlice(key string) (strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	field, meta, err := p.LookupPatchMetadataForStruct(key)
	if err != nil {
		return nil, meta, err
	}
	list, _ := field.(patchMeta)
	if list.Name() != "slice" {
		return nil, strategicpatch.PatchMeta{}, fmt.Errorf("expected slice or array type, but got: %s", list.Name())
	}
	if elem := (patchMeta{list.Elem}); elem.Name() != "slice" {
		return elem, meta, nil
	}
	return nil, strategicpatch.PatchMeta{}, errors.New("unexpected slice of slice")
}
