package schema

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

// Served lists what a server has.
type Served struct {
	Kinds    []string // of the apiVersion in question
	Versions []string // other apiVersions that may have the kind

	// Has reports whether the server has a kind; nil where no server can be asked.
	Has func(apiVersion, kind string) bool
}

// SuggestKind returns the kind that was probably meant by one that does not exist. It is
// one of those that the server has under the same apiVersion. Else it is the one of the same
// name under another apiVersion, which is one of Versions or of the built-in types'. Both
// results are "" where none is near.
func SuggestKind(apiVersion, kind string, s Served) (nearVersion, near string) {
	if near := suggest.Name(kind, s.Kinds); near != "" {
		return apiVersion, near
	}
	versions := slices.DeleteFunc(slices.Clone(s.Versions), func(v string) bool { return s.Has == nil || !s.Has(v, kind) })
	if len(versions) > 0 {
		near = kind
	}
	for _, k := range builtinKinds() {
		v := strings.TrimPrefix(k.Group+"/"+k.Version, "/")
		if strings.EqualFold(k.Kind, kind) && k.Resource != "" && v != apiVersion && (s.Has == nil || s.Has(v, k.Kind)) {
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
