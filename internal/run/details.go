package run

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/guard"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Details holds what a run learns about an item beyond its object and target. Most items of a large
// run learn nothing: all items with the same action and outcome share one Details, which takes the
// memory of one.
type Details struct {
	Answers []apply.Answer // how the user settled its conflicts, and which changes they rejected
	Planned apply.Planned
	Result  write.Result    // its Outcome is "" until the item is done
	Guards  []guard.Finding // who else manages the object or its fields, where the merge changes it

	stated  guard.Stated
	fixed   []string // fields that cause it to be recreated, or that the server is expected to refuse
	remedy  string   // the remedy for them; see Plan.remedy
	refusal error    // the last one, while deferred
	stored  stored
}

// summary is the part of Details that items share.
type summary struct {
	action, sent apply.Action // of Planned, and of Result.Planned
	outcome      write.Outcome
	form         form
}

// common are the Details that items share, by their summary. They are not modified.
var common sync.Map

func commonOf(g summary) *Details {
	if d, ok := common.Load(g); ok {
		return d.(*Details)
	}
	d := new(Details)
	d.set(g)
	kept, _ := common.LoadOrStore(g, d)
	return kept.(*Details)
}

// NewItem returns an item with the Details of an unread object.
func NewItem(o object.Object, t cluster.Target) *Item {
	return &Item{Object: o, Target: t, Details: commonOf(summary{})}
}

// summary returns the part that items share.
func (d *Details) summary() summary {
	return summary{d.Planned.Action, d.Result.Planned.Action, d.Result.Outcome, d.stored.form}
}

// shared reports whether other items may have the same Details.
func (i *Item) shared() bool {
	d, ok := common.Load(i.summary())
	return ok && d == i.Details
}

// Own gives the item its own copy of its Details. It must be called before any of them is set.
func (i *Item) Own() {
	if i.shared() {
		own := *i.Details
		i.Details = &own
	}
}

// With returns the item with another object and other details, as a printer may see it.
func (i *Item) With(o object.Object, d *Details) *Item {
	return &Item{
		Details: d, Object: o, Target: i.Target, Err: i.Err, Late: i.Late, Skipped: i.Skipped, UID: i.UID, Facts: i.Facts, Surplus: i.Surplus,
		found: i.found, changes: i.changes, tried: i.tried, recreate: i.recreate, state: i.state, written: i.written,
	}
}

// share replaces the item's Details by shared ones if they hold nothing but their summary. Object and
// target are left out; see dress. Details that other items consult are not replaced.
func (i *Item) share() {
	if i.shared() || i.consulted() {
		return
	}
	d, g := i.Details, i.summary()
	planned, sent := d.Planned.Subject, d.Result.Planned.Subject
	if g.action == apply.Nothing {
		d.stored.request = nil // of no change
	}
	if d.stated.Fields == 0 {
		d.stated = guard.Stated{}
	}
	d.Planned.Subject, d.Result.Planned.Subject = apply.Subject{}, apply.Subject{}
	d.set(summary{})
	if reflect.ValueOf(d).Elem().IsZero() {
		i.Details = commonOf(g)
		return
	}
	d.Planned.Subject, d.Result.Planned.Subject = planned, sent
	d.set(g)
}

func (d *Details) set(g summary) {
	d.Planned.Action, d.Result.Planned.Action, d.Result.Outcome, d.stored.form = g.action, g.sent, g.outcome, g.form
}

// dress gives an item that shares its Details its own, with object and target, for printers and
// reports.
func (i *Item) dress() {
	if !i.shared() {
		return
	}
	i.Own()
	i.Planned.Subject = apply.Subject{Object: i.Object, Name: i.Target.String(), HasStatus: i.Target.Status}
	i.Result.Planned.Subject = i.Planned.Subject
}

// stage is the order in which kinds are written; they are deleted in the reverse order.
type stage uint8

const (
	spaces      stage = iota // namespaces, written together with definitions and deleted after everything else
	definitions              // definitions of kinds, which are waited for
	consulted                // what the server consults when it admits other objects
	remaining                // everything else
	stages
)

// cause is a kind of which a missing or outdated object may be why the server refuses
// another object.
type cause struct {
	stage stage
	// explains reports whether the refusal of item may be due to other, which is of this
	// kind and not written yet. nil: never.
	explains func(r *cluster.Refusal, item, other *Item) bool
}

// causes by group and kind. A kind without a row explains no refusal. Missing Namespaces
// and CustomResourceDefinitions are recognized without a refusal, see lacks.
var causes = map[string]cause{
	"Namespace": {spaces, hosts},
	"apiextensions.k8s.io/CustomResourceDefinition": {definitions, redefined},

	"ServiceAccount":                               {consulted, named(`serviceaccount "([^"]+)" not found`)},
	"ResourceQuota":                                {consulted, named(`(?:exceeded|failed) quota: ([^,: ]+)[,:]|insufficient quota to ()`)},
	"LimitRange":                                   {consulted, named(`^\S+ "[^"]*" is forbidden: (?:\[?(?:minimum|maximum) .+ usage per |.+ max limit to request ratio per )()|failed quota: [^:]+: must specify ()`)},
	"scheduling.k8s.io/PriorityClass":              {consulted, named(`no PriorityClass with name (\S+) was found`)},
	"node.k8s.io/RuntimeClass":                     {consulted, named(`RuntimeClass "([^"]+)" not found`)},
	"storage.k8s.io/StorageClass":                  {consulted, named(`the storageclass that provisions the pvc must support resize()`)},
	"rbac.authorization.k8s.io/Role":               {consulted, grants},
	"rbac.authorization.k8s.io/ClusterRole":        {consulted, grants},
	"rbac.authorization.k8s.io/RoleBinding":        {consulted, binds},
	"rbac.authorization.k8s.io/ClusterRoleBinding": {consulted, binds},

	"admissionregistration.k8s.io/ValidatingAdmissionPolicy":        {remaining, named(policyDenies)},
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": {remaining, named(bindingDenies)},
	"admissionregistration.k8s.io/MutatingAdmissionPolicy":          {remaining, named(policyDenies)},
	"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding":   {remaining, named(bindingDenies)},
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration":   {remaining, hooks},
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":     {remaining, hooks},
	"apiregistration.k8s.io/APIService":                             {remaining, aggregates},

	"Service":          {remaining, answersAt},
	"Pod":              {remaining, answersAt},
	"apps/Deployment":  {remaining, answersAt},
	"apps/DaemonSet":   {remaining, answersAt},
	"apps/StatefulSet": {remaining, answersAt},
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
	return remaining
}

// matters reports whether other items may depend on this one.
func (i *Item) matters() bool {
	_, ok := causes[kindOf(i.Target.Resource)]
	return ok
}

// lacks reports whether item cannot be written before other, since other creates its
// namespace or its kind.
func lacks(item, other *Item) bool {
	switch {
	case other.found:
		return false
	case isNamespace(other.Target.Resource):
		return item.Target.Namespaced && item.Target.Namespace == other.Target.Name
	}
	return defines(other, item)
}

// defines reports whether crd is the CustomResourceDefinition of the item's kind.
func defines(crd, item *Item) bool {
	return isCRD(crd.Target.Resource) && slices.ContainsFunc(cluster.Declared(crd.Object.Value), func(r cluster.Resource) bool {
		return r.Group == item.Target.Group && r.Kind == item.Target.Kind
	})
}

// mayExplain reports whether writing other may resolve the refusal of item: the refusal names
// other, or follows from its absence or present state. Any other refusal is final.
func mayExplain(item, other *Item, refusal error) bool {
	r, ok := errors.AsType[*cluster.Refusal](refusal)
	return ok && item != other && (lacks(item, other) || explains(item, other, r))
}

// explains is mayExplain judged by the text of the refusal alone.
func explains(item, other *Item, r *cluster.Refusal) bool {
	// A namespaced object affects its own namespace, except for the server of a webhook.
	apart := other.Target.Namespaced && item.Target.Namespaced && item.Target.Namespace != other.Target.Namespace
	explains := causes[kindOf(other.Target.Resource)].explains
	return explains != nil && (!apart || called().MatchString(r.Message)) && explains(r, item, other)
}
