// Package references finds the ConfigMaps, Secrets, ServiceAccounts and
// PersistentVolumeClaims that a pod, or a pod template anywhere in an object, names. It
// refuses to read objects, and to decide what follows from a reference.
package references

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Reference is the name of another object, of the same namespace.
type Reference struct{ Kind, Name string }

// podType is the type by which the pod specs of all kinds are read.
var podType = sync.OnceValue(func() *merge.Type {
	t, _ := schema.BuiltinType(podSpec)
	return t
})

// kinds lists the kinds that a PodSpec can name, all of the core group.
var kinds = []string{"ConfigMap", "PersistentVolumeClaim", "Secret", "ServiceAccount"}

// Named reports whether pods name objects of a kind, and so may need them while they exist.
func Named(group, kind string) bool { return group == "" && slices.Contains(kinds, kind) }

// Of returns the references of all pod specs in an object, in no particular order and each
// once; nil where it has none. t is the schema of the object's kind. A pod spec is
// recognized by the name or the fields of its type; where the schema does not state it (t
// may be nil), by its value.
//
// Rules: the fields of k8s.io/api's PodSpec; pod templates of custom resources repeat them.
func Of(obj map[string]any, t *merge.Type) []Reference {
	found := map[Reference]bool{}
	search(obj, t, func(r Reference) { found[r] = true })
	return slices.Collect(maps.Keys(found))
}

// Values returns the ConfigMaps and Secrets whose values the containers of a pod spec read, and of
// each whether that is when they start: the files of a volume follow the object, except those mounted
// by subPath (https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically).
func Values(spec map[string]any) map[Reference]bool {
	all := map[Reference]bool{}
	for _, v := range merge.MapsAt(spec, "volumes") {
		files := map[string]any{"configMap": v["configMap"], "secret": v["secret"], "projected": v["projected"]}
		collect(files, podType().Field("volumes").Type.Elem, "", func(r Reference) { all[r] = false })
	}
	starting := map[string]any{"containers": spec["containers"], "initContainers": spec["initContainers"]}
	collect(starting, podType(), "", func(r Reference) { all[r] = true })
	return all
}

func search(v any, t *merge.Type, found func(Reference)) {
	switch v := v.(type) {
	case map[string]any:
		if isSpec(t) || (t == nil || t.Kind == merge.Unknown || t.Open) && looksLikeSpec(v) {
			collect(v, podType(), "", found)
			return
		}
		for name, e := range v {
			search(e, t.Field(name).Type, found)
		}
	case []any:
		for _, e := range v {
			search(e, t.EntryType(), found)
		}
	}
}

// collect passes on the names in a value of that type, which a field of that name holds.
func collect(v any, t *merge.Type, field string, found func(Reference)) {
	switch v := v.(type) {
	case map[string]any:
		if t == nil || t.Kind != merge.Object {
			return
		}
		for name, e := range v {
			if text, _ := e.(string); text == "" {
				collect(e, t.Field(name).Type, name, found)
			} else if kind := named(v, t, field, name); slices.Contains(kinds, kind) && v["namespace"] == nil {
				found(Reference{kind, strings.Clone(text)}) // a substring would keep the whole answer in memory
			}
		}
	case []any:
		for _, e := range v {
			collect(e, t.EntryType(), field, found)
		}
	}
}

// named returns the kind of the object that v, a value of that type, names in a field; "" for none. around is the
// field that holds v. All such fields are in paths.table, to which the tests hold this.
func named(v map[string]any, t *merge.Type, around, field string) string {
	of := t.Name[strings.LastIndexByte(t.Name, '.')+1:]
	switch {
	case field == "serviceAccountName", field == "serviceAccount":
		return "ServiceAccount"
	case field == "claimName":
		return "PersistentVolumeClaim"
	case field == "secretName":
		return "Secret"
	case field != "name":
	case strings.HasPrefix(of, "Secret"), of == "LocalObjectReference" && strings.Contains(strings.ToLower(around), "secret"):
		return "Secret"
	case strings.HasPrefix(of, "ConfigMap"):
		return "ConfigMap"
	case strings.HasPrefix(of, "Typed"):
		return merge.At[string](v, "kind")
	}
	return ""
}

const podSpec = "io.k8s.api.core.v1.PodSpec"

// isSpec reports whether a type is a PodSpec by its name, or by its containers, which have a name
// and an image. CustomResourceDefinitions repeat the fields without the name of the type.
func isSpec(t *merge.Type) bool {
	if t == nil || t.Kind != merge.Object {
		return false
	}
	if t.Name != "" && strings.HasPrefix(t.Name, "io.k8s.") {
		return t.Name == podSpec
	}
	entry := t.Fields["containers"].Type.EntryType()
	if entry == nil || entry.Kind != merge.Object {
		return false
	}
	_, named := entry.Fields["name"]
	_, image := entry.Fields["image"]
	return named && image
}

// looksLikeSpec reports the same of a value, where no schema describes it.
func looksLikeSpec(v map[string]any) bool {
	return slices.ContainsFunc(merge.MapsAt(v, "containers"), func(entry map[string]any) bool {
		_, named := entry["name"].(string)
		_, image := entry["image"].(string)
		return named && image
	})
}

// Embeds reports whether objects of a type may hold pod specs: its schema contains one.
func Embeds(t *merge.Type) bool { return embeds(t, map[*merge.Type]bool{}) }

func embeds(t *merge.Type, seen map[*merge.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	if isSpec(t) || embeds(t.Elem, seen) {
		return true
	}
	for _, f := range t.Fields {
		if embeds(f.Type, seen) {
			return true
		}
	}
	return false
}
