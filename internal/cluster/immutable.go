package cluster

import (
	"net/http"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unchangeable matches what the API server reports of a field that can be set only once
// (k8s.io/kubernetes/pkg/apis/*/validation, k8s.io/apimachinery/pkg/api/validate and
// CEL transition rules of CustomResourceDefinitions without a message).
var unchangeable = regexp.MustCompile(`immutable|may not (?:be )?changed?\b|cannot (?:be )?changed?\b|can ?not be (?:modified|updated)\b|updates to .+ are forbidden|\boldSelf\b` +
	`|(?:only|no) (?:addition|deletion)\S* .*allowed|updates may not|must not update|than previous value`)

// Holding lists the kinds that are never deleted to be created again: data, or all objects in them,
// would be lost.
var Holding = []Resource{
	{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims"},
	{Version: "v1", Kind: "PersistentVolume", Plural: "persistentvolumes"},
	{Version: "v1", Kind: "Namespace", Plural: "namespaces"},
	definitions,
}

var definitions = Resource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Plural: "customresourcedefinitions"}

// Recreatable reports whether an object of the kind may be deleted to be created again.
func (r Resource) Recreatable() bool {
	return !slices.ContainsFunc(Holding, func(h Resource) bool { return h.Group == r.Group && h.Kind == r.Kind })
}

// Unchangeable returns the causes of a refusal (422) that are about fields which can be set only
// once; none for other errors.
func (r *Refusal) Unchangeable() []metav1.StatusCause {
	if r.Code != http.StatusUnprocessableEntity {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Causes), func(c metav1.StatusCause) bool { return !unchangeable.MatchString(c.Message) })
}
