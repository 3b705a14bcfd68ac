package schema

import (
	"slices"
	"strings"
)

// SuggestKind returns the kind that was probably meant by one that is not there:
// one of those that the server has under the same apiVersion, else the built-in one
// of the same name under another. Both results are "" where none is near.
func SuggestKind(apiVersion, kind string, served []string) (nearVersion, near string) {
	if near := nearest(kind, served); near != "" {
		return apiVersion, near
	}
	var versions []string
	for _, k := range BuiltinKinds() {
		v := strings.TrimPrefix(k.Group+"/"+k.Version, "/")
		if strings.EqualFold(k.Kind, kind) && k.Resource != "" && v != apiVersion {
			near = k.Kind
			versions = append(versions, v)
		}
	}
	if len(versions) == 0 {
		return "", ""
	}
	if v := nearest(apiVersion, versions); v != "" {
		return v, near
	}
	stable := slices.IndexFunc(versions, func(v string) bool { return !strings.Contains(v, "alpha") && !strings.Contains(v, "beta") })
	return versions[max(stable, 0)], near
}
