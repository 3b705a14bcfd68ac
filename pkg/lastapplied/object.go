package lastapplied

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// With returns obj with text as its last-applied annotation. Missing metadata and
// annotations are created. An obj that is not a JSON object is returned as it is.
func With(obj any, text string) any { return with(obj, "annotations", Annotation, text) }

// with returns obj with a key of a map in its metadata.
func with(obj any, in, key, value string) any {
	if o, ok := obj.(map[string]any); ok {
		return merge.With(o, value, "metadata", in, key)
	}
	return obj
}

// Modified returns local as kubectl apply uses it for its merge. Annotations are always
// present, the last-applied one among them (here empty), and a null annotation is ""
// (k8s.io/kubectl/pkg/util/apply.go, GetModifiedConfiguration). A local that is not a JSON
// object is returned as it is.
func Modified(local any) any {
	obj, ok := local.(map[string]any)
	if !ok {
		return local
	}
	return With(normal(obj, ""), "")
}

// Without returns obj without its last-applied annotation. Annotations that are then empty
// are removed, too, so that Without undoes With.
func Without(obj any) any { return without(obj, "annotations", Annotation) }

// WithoutNullAnnotations returns obj without metadata.annotations if they are null. kubectl
// apply treats null as no annotations (it adds its own), so templates with an empty key
// keep all managers' annotations. An obj that is not an object is returned as it is.
func WithoutNullAnnotations(obj any) any {
	if v, stated := meta(obj)["annotations"]; !stated || v != nil {
		return obj
	}
	return merge.Without(obj.(map[string]any), "metadata", "annotations")
}

// serverOwned lists the fields of metadata that the server sets and a client cannot (API
// conventions, metadata). selfLink is no longer served, but occurs in files exported from
// old servers.
var serverOwned = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp",
	"generation", "managedFields", "resourceVersion", "selfLink", "uid",
}

// Strip returns obj without the metadata that belongs to the server, and without status if
// status is true (the resource has a status subresource). It also returns the paths that it
// removed, to be reported. Empty values are not reported: the creationTimestamp: null of
// generated files, a status of only empty values and zeros, as a typed object has it.
func Strip(obj any, status bool) (any, []merge.Path) {
	o, ok := obj.(map[string]any)
	if !ok {
		return obj, nil
	}
	var reported []merge.Path
	for _, name := range serverOwned {
		if !empty(meta(o)[name]) {
			reported = append(reported, merge.Path{merge.Named("metadata"), merge.Named(name)})
		}
		o = merge.Without(o, "metadata", name)
	}
	if v, ok := o["status"]; ok && status {
		o = merge.Without(o, "status")
		if merge.Any(v, func(v any) bool { return merge.IsScalar(v) && !empty(v) && v != false && v != json.Number("0") }) {
			reported = append(reported, merge.Path{merge.Named("status")})
		}
	}
	return o, reported
}

// PartOf is the label that names the set which an object was applied with (KEP-3659).
const PartOf = "applyset.kubernetes.io/part-of"

// PartOfPath is the path of PartOf in an object. It must not be modified.
var PartOfPath = merge.Path{merge.Named("metadata"), merge.Named("labels"), merge.Named(PartOf)}

// WithoutSet returns obj without PartOf, and without labels that are then empty. The label
// states by which set the object was applied, and is not configuration: applying a set adds
// it. kubectl apply --applyset writes it to what was applied last, and a merge that finds
// it there would remove the object from its set. An obj without the label, or that is not a
// JSON object, is returned as it is.
//
// Unlike kubectl: its next apply without --applyset removes the label, so that the object
// is never pruned.
func WithoutSet(obj any) any { return without(obj, "labels", PartOf) }

// WithSet returns obj as part of the set of that id. An obj that is not a JSON object is
// returned as it is.
func WithSet(obj any, id string) any { return with(obj, "labels", PartOf, id) }

// SetOf returns the id of the set that obj is part of, "" for none.
func SetOf(obj any) string { return merge.At[string](obj, "metadata", "labels", PartOf) }

// FoldStringData returns a Secret with its stringData read as data. As in the API server,
// an entry is base64 encoded and replaces a key of the same name in data. A null entry
// becomes a null of data (it clears the key). What the server would refuse (an entry that
// is not a string, data or stringData that is not a map) stays where it is. Anything but a
// Secret is returned as it is.
func FoldStringData(obj any) any {
	o, ok := obj.(map[string]any)
	if !ok || !redact.IsSecret(o) {
		return obj
	}
	from, ok := o["stringData"].(map[string]any)
	data, isMap := o["data"].(map[string]any)
	out := merge.Without(o, "stringData") // o itself where it has none
	switch {
	case o["stringData"] == nil:
		return out
	case !ok || o["data"] != nil && !isMap:
		return obj
	}
	data, left := folded(data, from)
	if len(left) > 0 {
		out["stringData"] = left
	}
	if len(data) > 0 || isMap {
		out["data"] = data
	}
	return out
}

// StatedAt returns a path into data or stringData of a Secret as it states the value: in stringData,
// which replaces data, or in data. Any other path, and one to no value, is returned as it is.
func StatedAt(obj any, p merge.Path) merge.Path {
	fields := []string{"stringData", "data"}
	if o, _ := obj.(map[string]any); len(p) < 2 || !slices.Contains(fields, p[0].Name) || !redact.IsSecret(o) {
		return p
	}
	for _, field := range fields {
		at := append(merge.Path{merge.Named(field)}, p[1:]...)
		if _, there := merge.Lookup(obj, at, nil); there {
			return at
		}
	}
	return p
}

// folded returns data with from in it, and the entries of from that are not strings.
func folded(data, from map[string]any) (all, left map[string]any) {
	all, left = maps.Clone(data), map[string]any{}
	if all == nil {
		all = make(map[string]any, len(from))
	}
	for k, v := range from {
		switch v := v.(type) {
		case nil:
			all[k] = nil
		case string:
			all[k] = base64.StdEncoding.EncodeToString([]byte(v))
		default:
			left[k] = v
		}
	}
	return all, left
}

func meta(obj any) map[string]any { return merge.At[map[string]any](obj, "metadata") }

func annotations(obj any) map[string]any {
	return merge.At[map[string]any](obj, "metadata", "annotations")
}

// without drops one annotation or label, and the map of them if it was the last. An obj that has
// none is returned as it is.
func without(obj any, of, key string) any {
	o, _ := obj.(map[string]any)
	all := merge.At[map[string]any](o, "metadata", of)
	switch _, there := all[key]; {
	case !there:
		return obj
	case len(all) == 1:
		return merge.Without(o, "metadata", of)
	}
	return merge.Without(o, "metadata", of, key)
}

// WithoutEmptyAnnotations returns a configuration without an empty map of annotations, which
// kubectl apply puts into each.
func WithoutEmptyAnnotations(conf any) any {
	if notes, isMap := meta(conf)["annotations"].(map[string]any); !isMap || len(notes) > 0 {
		return conf
	}
	return merge.Without(conf.(map[string]any), "metadata", "annotations")
}

// allEmpty reports whether v states nothing, as the status that generators of
// CustomResourceDefinitions write (acceptedNames: {kind: "", plural: ""}, conditions: []).
func allEmpty(v any) bool {
	return !merge.Any(v, func(v any) bool { return merge.IsScalar(v) && !empty(v) })
}

func empty(v any) bool {
	return v == nil || v == "" || !merge.IsScalar(v) && !merge.HasEntries(v)
}

// WithoutNulls is a configuration without nulls, which a merge takes for absent.
func WithoutNulls(v any) any {
	m, isMap := v.(map[string]any)
	if !isMap {
		return merge.Rebuilt(v, WithoutNulls)
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		if e != nil {
			out[k] = WithoutNulls(e)
		}
	}
	return out
}
