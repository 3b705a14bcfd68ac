package strategy

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// podSpecs are the places where built-in kinds keep a pod's spec, by the fields
// that lead to it from the object.
var podSpecs = [][]string{
	{"spec"},
	{"template", "spec"},
	{"spec", "template", "spec"},
	{"spec", "jobTemplate", "spec", "template", "spec"},
}

// podSpecType is the name of the type that has the mirrored fields.
const podSpecType = "io.k8s.api.core.v1.PodSpec"

// mirrored gives serviceAccount, the deprecated name, to a pod that states only
// serviceAccountName, and the other way round. The server keeps the two alike, so whoever states one states
// both; otherwise dropping the account would leave the mirror, which the server
// then takes for the account (kubernetes/kubernetes#66450 and others). Stating it as
// empty, or as null, is stating it, where live has one: somebody else has filled it in.
//
// Unlike kubectl: it takes away the one name, and the account comes back out of the
// other.
func mirrored(obj, live any, typ *merge.Type) any {
	for _, path := range podSpecs {
		if !leadsTo(typ, path, podSpecType) {
			continue
		}
		spec, _ := at(obj, path...).(map[string]any)
		stated, other := "serviceAccountName", "serviceAccount"
		if _, ok := spec[stated]; !ok {
			stated, other = other, stated
		}
		name, ok := spec[stated]
		if _, both := spec[other]; !ok || both {
			continue
		}
		if (name == nil || name == "") && at(at(live, path...), other) == nil {
			continue
		}
		spec = copied(spec)
		spec[other] = name
		obj = replaced(obj, path, spec)
	}
	return obj
}

func leadsTo(t *merge.Type, path []string, name string) bool {
	for _, f := range path {
		if t == nil || t.Kind != merge.Object {
			return false
		}
		t = t.Fields[f].Type
	}
	return t != nil && t.Name == name
}

// replaced is obj with another value at the path; the maps on the way are copied.
func replaced(obj any, path []string, v any) any {
	if len(path) == 0 {
		return v
	}
	m, _ := obj.(map[string]any)
	out := copied(m)
	out[path[0]] = replaced(m[path[0]], path[1:], v)
	return out
}
