package schema

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/suggest"
)

// SuggestKind returns the kind that was probably meant by one that is not there:
// one of those that the server has under the same apiVersion, else the one of the same
// name under another apiVersion: one of more, or one of the built-in types'. serves says
// whether the server has a kind; nil where nobody can be asked. Both results are ""
// where none is near.
func SuggestKind(apiVersion, kind string, served, more []string, serves func(apiVersion, kind string) bool) (nearVersion, near string) {
	if near := suggest.Name(kind, served); near != "" {
		return apiVersion, near
	}
	versions := slices.DeleteFunc(slices.Clone(more), func(v string) bool { return serves == nil || !serves(v, kind) })
	if len(versions) > 0 {
		near = kind
	}
	for _, k := range BuiltinKinds() {
		v := strings.TrimPrefix(k.Group+"/"+k.Version, "/")
		if strings.EqualFold(k.Kind, kind) && k.Resource != "" && v != apiVersion && (serves == nil || serves(v, k.Kind)) {
			near = k.Kind
			versions = append(versions, v)
		}
	}
	if len(versions) == 0 {
		return "", ""
	}
	stable := slices.IndexFunc(versions, func(v string) bool { return !strings.Contains(v, "alpha") && !strings.Contains(v, "beta") })
	return versions[max(stable, 0)], near
}
