package files

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// id identifies a resource. The version is not part of it.
type id struct {
	group, kind, namespace, name string

	// file distinguishes what has no name, such as a kustomization, and what a folder
	// holds in several files (see several). nth is the first nameless one of its kind in
	// a file, the second, and so on.
	file string
	nth  int
}

// String names a resource as outcome lines do: deployment.apps/web.
func (i id) String() string {
	s := strings.ToLower(i.kind)
	if i.group != "" {
		s += "." + i.group
	}
	switch {
	case i.name != "":
		s += "/" + i.name
	case s == "":
		s = i.file
	case i.file != "":
		s += " of " + i.file
	}
	if i.namespace != "" {
		s += " in " + i.namespace
	}
	return s
}

// resource is one document of a set, or one item of a List.
type resource struct {
	id      id // what it is paired by
	named   id // by its own kind and name
	version string
	file    *File
	doc     *yamldoc.Document
	in      *entry // nil where it is no item of a List
}

// resource is an object in a document of the file.
func (f *File) resource(d *yamldoc.Document, named id, version string) *resource {
	r := &resource{id: named, named: named, version: version, file: f, doc: d}
	if namespace, name, ok := upstream(d); ok {
		r.id.namespace, r.id.name = namespace, name
	}
	if r.isKustomization() && r.id.kind != types.ComponentKind { // it need not state what it is
		r.id.group, r.id.kind = types.KustomizationVersion[:strings.Index(types.KustomizationVersion, "/")], types.KustomizationKind
	}
	return r
}

// docValue is the value of the document; nil of no resource.
func (r *resource) docValue() any {
	if r == nil {
		return nil
	}
	return r.doc.Value()
}

func (r *resource) where() string { return fmt.Sprintf("%s: line %d", r.file.Where(), r.doc.Line()) }

// called is the resource as messages name it: what has neither kind nor name, such as the
// values of a chart, by its file.
func (r *resource) called() string {
	if name := r.named.String(); name != "" {
		return name
	}
	return r.file.Where()
}

// resources are a set's, with a way to find them.
type resources struct {
	list   []*resource
	byID   map[id]*resource
	isList map[*yamldoc.Document]bool
}

// several are the resources that stand in more than one file of a set: bases and the
// patches to them, variants, bundles beside their parts. Each is paired with the one in
// the same file of the other sets alone.
func several(sets ...*Set) map[id]bool {
	out := map[id]bool{}
	for _, s := range sets {
		if s == nil || !s.Folder {
			continue
		}
		in := map[id]string{}
		for _, f := range s.Files {
			for _, d := range f.YAML.Documents() {
				all, _ := f.documents(d, nil) // index reports the error
				for _, r := range all {
					if file, ok := in[r.id]; ok && file != f.Name && r.id.name != "" {
						out[r.id] = true
					}
					in[r.id] = f.Name
				}
			}
		}
	}
	return out
}

// index finds a set's resources, those that several has by their file. one: the sets are
// single files, whose names do not matter. Two documents of one file that are one resource
// are an error. The comments of near are those of items of Lists also where empty lines stand between.
func index(s *Set, one bool, several map[id]bool, near map[string]int) (resources, error) {
	rs := resources{byID: map[id]*resource{}, isList: map[*yamldoc.Document]bool{}}
	if s == nil {
		return rs, nil
	}
	var errs []error
	nameless := map[id]int{}
	for _, f := range s.Files {
		for _, d := range f.YAML.Documents() {
			if d.Empty() {
				continue
			}
			all, err := f.documents(d, near)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", f.Where(), err))
			}
			rs.isList[d] = len(all) != 1 || all[0].in != nil
			for _, r := range all {
				if r.id.name == "" {
					if !one {
						r.id.file = f.Name
					}
					nameless[r.id]++
					r.id.nth = nameless[r.id]
				}
				if several[r.id] {
					r.id.file = f.Name
				}
				if r.id.file != "" {
					r.named.file = r.id.file
				}
				if first := rs.byID[r.id]; first != nil {
					errs = append(errs, fmt.Errorf("%s: %s is already there: %s; take one of them out", r.where(), r.named, first.where()))
					continue
				}
				rs.byID[r.id] = r
				rs.list = append(rs.list, r)
			}
		}
	}
	return rs, errors.Join(errs...)
}

func identify(v any) (i id, version string) {
	i.kind, i.name = merge.At[string](v, "kind"), merge.At[string](v, "metadata", "name")
	if n := merge.At[any](v, "metadata", "namespace"); n != nil { // YAML reads a namespace y as true
		i.namespace = fmt.Sprint(n)
	}
	version = merge.At[string](v, "apiVersion")
	if g, v, ok := strings.Cut(version, "/"); ok {
		i.group, version = g, v
	}
	return i, version
}

// manifest reports whether every document of a set is a Kubernetes object.
func (s *Set) manifest() bool {
	for _, f := range s.Files {
		for _, d := range f.YAML.Documents() {
			if i, version := identify(d.Value()); !d.Empty() && (i.kind == "" || version == "") && !f.isKustomization() {
				return false
			}
		}
	}
	return true
}

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
