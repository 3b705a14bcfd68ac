package files

import (
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// isKustomization: a document is a Kustomization or a Component, by its kind, whose apiVersion
// kustomize does not want stated, or, where it has none, by the file's name.
//
// Rules: https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/
func (r *resource) isKustomization() bool {
	if r.id.kind != "" {
		return (r.id.group == "kustomize.config.k8s.io" || r.id.group == "") && (r.id.kind == types.KustomizationKind || r.id.kind == types.ComponentKind)
	}
	return r.file.isKustomization()
}

func (f *File) isKustomization() bool {
	name := f.Name
	if f.Label != "" {
		name, _, _ = strings.Cut(f.Label, " (")
	}
	return slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, path.Base(name))
}

// KustomizationType is the type of a Kustomization, from kustomize's own Go type.
var KustomizationType = sync.OnceValue(func() *merge.Type {
	return goType(reflect.TypeFor[types.Kustomization](), map[reflect.Type]*merge.Type{})
})

// pathLists are lists of files and folders, which are sets: order alone changes nothing
// that is built of them. In other lists of text an entry can contradict another one
// (literals: A=1, A=2), so that each of them is one value.
var pathLists = []string{
	"resources", "components", "crds", "bases", "configurations", "generators", "transformers", "validators", "patchesStrategicMerge",
}

// goType is the type of what the JSON form of a Go type holds. known has those that are
// under way.
func goType(t reflect.Type, known map[reflect.Type]*merge.Type) *merge.Type {
	if known[t] != nil {
		return known[t]
	}
	switch t.Kind() {
	case reflect.Pointer:
		return goType(t.Elem(), known)
	case reflect.Struct:
		out := &merge.Type{Kind: merge.Object, Fields: map[string]merge.Field{}, Open: true, Source: merge.SourceBuiltin}
		known[t] = out
		goFields(t, out, known)
		return out
	case reflect.Map:
		return &merge.Type{Kind: merge.Map, Elem: goType(t.Elem(), known)}
	case reflect.Slice:
		return goList(goType(t.Elem(), known))
	case reflect.Interface:
		return nil
	}
	return &merge.Type{Kind: merge.Scalar}
}

// goList is a list whose entries are known by their name or path, where they have one.
func goList(elem *merge.Type) *merge.Type {
	if elem != nil {
		for _, key := range []string{"name", "path"} {
			if _, ok := elem.Fields[key]; ok {
				return &merge.Type{Kind: merge.Keyed, Elem: elem, Keys: []merge.Key{{Name: key}}}
			}
		}
	}
	return &merge.Type{Kind: merge.List, Elem: elem}
}

func goFields(t reflect.Type, out *merge.Type, known map[reflect.Type]*merge.Type) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				goFields(inner, out, known)
			}
		case name != "" && name != "-":
			typ := goType(f.Type, known)
			if slices.Contains(pathLists, name) {
				typ = &merge.Type{Kind: merge.Set, Elem: &merge.Type{Kind: merge.Scalar}}
			}
			out.Fields[name] = merge.Field{Type: typ}
		}
	}
}
