package run

import (
	"errors"
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

// cause is a kind whose lack, or whose present state, may be why the server refuses
// another object.
type cause struct {
	stage stage
	// explains says whether the refusal of an item may be due to other, of this kind and
	// not yet written. nil where that is not seen in refusals.
	explains func(r *cluster.Refusal, item, other *Item) bool
}

// causes, by group and kind. A kind that is not here explains no refusal. What a
// Namespace or a CustomResourceDefinition that is not there explains is found without
// any, see lacks.
var causes = map[string]cause{
	"Namespace": {first, hosts},
	"apiextensions.k8s.io/CustomResourceDefinition": {first, redefined},

	"ServiceAccount":                               {second, named(`serviceaccount "([^"]+)" not found`)},
	"ResourceQuota":                                {second, named(`(?:exceeded|failed) quota: ([^,: ]+)[,:]|insufficient quota to ()`)},
	"LimitRange":                                   {second, named(`^\S+ "[^"]*" is forbidden: (?:\[?(?:minimum|maximum) .+ usage per |.+ max limit to request ratio per )()|failed quota: [^:]+: must specify ()`)},
	"scheduling.k8s.io/PriorityClass":              {second, named(`no PriorityClass with name (\S+) was found`)},
	"node.k8s.io/RuntimeClass":                     {second, named(`RuntimeClass "([^"]+)" not found`)},
	"storage.k8s.io/StorageClass":                  {second, named(`the storageclass that provisions the pvc must support resize()`)},
	"rbac.authorization.k8s.io/Role":               {second, grants},
	"rbac.authorization.k8s.io/ClusterRole":        {second, grants},
	"rbac.authorization.k8s.io/RoleBinding":        {second, binds},
	"rbac.authorization.k8s.io/ClusterRoleBinding": {second, binds},

	"admissionregistration.k8s.io/ValidatingAdmissionPolicy":        {third, named(policyDenies)},
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": {third, named(bindingDenies)},
	"admissionregistration.k8s.io/MutatingAdmissionPolicy":          {third, named(policyDenies)},
	"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding":   {third, named(bindingDenies)},
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration":   {third, hooks},
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":     {third, hooks},
	"apiregistration.k8s.io/APIService":                             {third, aggregates},

	"Service":          {third, answersAt},
	"Pod":              {third, answersAt},
	"apps/Deployment":  {third, answersAt},
	"apps/DaemonSet":   {third, answersAt},
	"apps/StatefulSet": {third, answersAt},
}

func kindOf(r cluster.Resource) string { return strings.TrimPrefix(r.Group+"/"+r.Kind, "/") }

func isNamespace(r cluster.Resource) bool { return kindOf(r) == "Namespace" }

func isCRD(r cluster.Resource) bool {
	return kindOf(r) == "apiextensions.k8s.io/CustomResourceDefinition"
}

func (i *Item) stage() stage {
	if c, ok := causes[kindOf(i.Target.Resource)]; ok {
		return c.stage
	}
	return third
}

// matters: others may have to wait for the item.
func (i *Item) matters() bool {
	_, ok := causes[kindOf(i.Target.Resource)]
	return ok
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

// mayExplain says whether writing other may be what item's refusal waits for. It is so
// only where the refusal names other, or is just what other's absence, or its present
// state, brings about; every other refusal is final.
func mayExplain(item, other *Item, refusal error) bool {
	var r *cluster.Refusal
	if item == other || !errors.As(refusal, &r) {
		return false
	}
	return lacks(item, other) || explains(item, other, r)
}

// explains is the same of what the refusal says alone.
func explains(item, other *Item, r *cluster.Refusal) bool {
	c, ok := causes[kindOf(other.Target.Resource)]
	if !ok || c.explains == nil || other.Target.Namespaced && item.Target.Namespaced && !sameNamespace(item, other, r) {
		return false
	}
	return c.explains(r, item, other)
}

// sameNamespace: what has a namespace is about objects of its own one. Who answers for
// a webhook may be anywhere.
func sameNamespace(item, other *Item, r *cluster.Refusal) bool {
	return item.Target.Namespace == other.Target.Namespace || called.MatchString(r.Message)
}
