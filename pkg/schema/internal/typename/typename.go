// Package typename shortens the names of Kubernetes' types as the built-in table writes them.
package typename

import "strings"

// Short leaves out the prefix that nearly every name has.
func Short(full string) string {
	if s, ok := strings.CutPrefix(full, "io.k8s.api."); ok {
		return s
	}
	if s, ok := strings.CutPrefix(full, "io.k8s.apimachinery.pkg.apis.meta."); ok {
		return "meta." + s
	}
	return full
}

// Full undoes Short.
func Full(short string) string {
	switch {
	case strings.HasPrefix(short, "io.k8s."):
		return short
	case strings.HasPrefix(short, "meta."):
		return "io.k8s.apimachinery.pkg.apis." + short
	}
	return "io.k8s.api." + short
}
