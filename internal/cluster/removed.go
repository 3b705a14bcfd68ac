package cluster

import "k8s.io/apimachinery/pkg/runtime/schema"

// oldest is the minor version of the oldest Kubernetes 1 that is supported
// (docs/versioning.md).
const oldest = 34

// Removed reports whether no supported server has a built-in kind in a version any more, and
// returns the apiVersion that replaces it, "" for none
// (https://kubernetes.io/docs/reference/using-api/deprecation-guide/).
func Removed(group, version, kind string) (replacement string, removed bool) {
	past, ok := Struct(group, version, kind).(interface{ APILifecycleRemoved() (major, minor int) })
	if !ok {
		return "", false
	}
	if major, minor := past.APILifecycleRemoved(); major != 1 || minor > oldest {
		return "", false
	}
	if next, ok := past.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		replacement = next.APILifecycleReplacement().GroupVersion().String()
	}
	return replacement, true
}
