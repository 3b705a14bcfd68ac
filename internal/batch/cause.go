package batch

import (
	"net/http"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// stage is when a kind is written: what others need comes first.
type stage uint8

const (
	first  stage = iota // namespaces and kinds, which are waited for
	second              // what the server looks at when it admits others
	third               // everything else
	stages
)

// cause is a kind whose lack, or whose present state, may be why the server
// refuses another object.
type cause struct {
	stage      stage
	codes      []int // of the refusals it may explain
	namespaced bool  // it concerns objects of its own namespace only
}

// Refusals by status code, as the API server gives them.
var (
	missing  = []int{http.StatusNotFound, http.StatusForbidden}
	admitted = []int{http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusNotFound}
	anything = append([]int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusMethodNotAllowed}, admitted...)
)

// causes, by group and kind. Namespace and CustomResourceDefinition are not here:
// what they explain can be told exactly.
var causes = map[string]cause{
	"ServiceAccount":                                                {second, missing, true},
	"ResourceQuota":                                                 {second, missing, true},
	"LimitRange":                                                    {second, admitted, true},
	"scheduling.k8s.io/PriorityClass":                               {second, missing, false},
	"node.k8s.io/RuntimeClass":                                      {second, missing, false},
	"rbac.authorization.k8s.io/Role":                                {second, missing, true},
	"rbac.authorization.k8s.io/RoleBinding":                         {second, missing, true},
	"rbac.authorization.k8s.io/ClusterRole":                         {second, missing, false},
	"rbac.authorization.k8s.io/ClusterRoleBinding":                  {second, missing, false},
	"admissionregistration.k8s.io/ValidatingAdmissionPolicy":        {third, anything, false},
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": {third, anything, false},
	"admissionregistration.k8s.io/MutatingAdmissionPolicy":          {third, anything, false},
	"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding":   {third, anything, false},
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration":   {third, anything, false},
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":     {third, anything, false},
	"apiregistration.k8s.io/APIService":                             {third, anything, false},
}

func kindOf(r cluster.Resource) string { return strings.TrimPrefix(r.Group+"/"+r.Kind, "/") }

func isNamespace(r cluster.Resource) bool { return kindOf(r) == "Namespace" }

func isCRD(r cluster.Resource) bool {
	return kindOf(r) == "apiextensions.k8s.io/CustomResourceDefinition"
}

func (i *Item) stage() stage {
	if isNamespace(i.Target.Resource) || isCRD(i.Target.Resource) {
		return first
	}
	if c, ok := causes[kindOf(i.Target.Resource)]; ok {
		return c.stage
	}
	return third
}

// matters: others may have to wait for the item.
func (i *Item) matters() bool {
	_, ok := causes[kindOf(i.Target.Resource)]
	return ok || i.stage() == first
}

// lacks says whether item cannot be written before other is, whatever the server
// says: its namespace, or its kind, is made by other.
func lacks(item, other *Item) bool {
	switch {
	case other.found:
		return false
	case isNamespace(other.Target.Resource):
		return item.Target.Namespaced && item.Target.Namespace == other.Target.Name
	}
	return defines(other, item)
}

// defines: crd is the CustomResourceDefinition of the item's kind.
func defines(crd, item *Item) bool {
	return isCRD(crd.Target.Resource) && slices.ContainsFunc(cluster.Declared(crd.Object.Value), func(r cluster.Resource) bool {
		return r.Group == item.Target.Group && r.Kind == item.Target.Kind
	})
}

// mayExplain says whether writing other may be what item's refusal waits for.
func mayExplain(item, other *Item, refusal error) bool {
	if item == other {
		return false
	}
	if defines(other, item) { // its schema may change
		return true
	}
	if isNamespace(other.Target.Resource) && other.found { // its labels may choose policies
		return item.Target.Namespace == other.Target.Name && cluster.IsForbidden(refusal)
	}
	if lacks(item, other) {
		return true
	}
	c, ok := causes[kindOf(other.Target.Resource)]
	if !ok || c.namespaced && item.Target.Namespaced && item.Target.Namespace != other.Target.Namespace {
		return false
	}
	return slices.Contains(c.codes, cluster.Code(refusal))
}
