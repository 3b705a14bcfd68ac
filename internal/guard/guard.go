// Package guard finds others who manage an object that is about to be written, and so may undo the
// write. It knows deployment tools by their markers on objects, controllers by owner references,
// and autoscalers by the field that they set. It also finds managers that have written a field
// again after it was applied. It reads objects, and refuses to fetch any.
//
// Rules: docs/guard.md.
package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Finding names one manager of an object or a field.
type Finding struct {
	Path merge.Path // nil: it manages the object
	Text string     // the manager, the consequence, and the alternative
}

// Object lists who else manages the object of a merge that changes live: the object before its
// fields, in the order of the table of markers. There is at most one finding for the object and one
// for each field. nil for an object that is created or does not change. manager is the applier.
// Markers that the local object states itself are ignored: they are the file's own.
//
// Unlike kubectl: which writes whatever else manages the object.
func Object(p apply.Planned, manager string) []Finding {
	if p.Action != apply.Change {
		return nil
	}
	var out []Finding
	o := marked{local: metaOf(p.Value), live: metaOf(p.Live), kind: p.Kind(), name: p.Object.Name()}
	for _, find := range []func() (Finding, bool){o.tool, o.controller, func() (Finding, bool) { return otherSet(p, manager) }} {
		if f, found := find(); found {
			out = append(out, f)
			break
		}
	}
	return append(out, rewritten(p, manager)...)
}

// marked is an object that may carry markers.
type marked struct {
	local, live map[string]any // metadata
	kind, name  string
}

func metaOf(obj map[string]any) map[string]any { return merge.At[map[string]any](obj, "metadata") }

// tool returns a finding for the first tool of the table whose marker is on the object.
func (o marked) tool() (Finding, bool) {
	for _, m := range markers {
		if args, ok := m.on(o); ok {
			return Finding{Text: fmt.Sprintf(m.text, args...)}, true
		}
	}
	return Finding{}, false
}

// on returns the values of a marker's keys, if it is on the object.
func (m marker) on(o marked) ([]any, bool) {
	for key, values := range m.unless {
		for _, v := range values {
			if strings.EqualFold(merge.At[string](o.live, "annotations", key), v) || strings.EqualFold(merge.At[string](o.live, "labels", key), v) {
				return nil, false
			}
		}
	}
	var args []any
	for _, k := range m.keys {
		v := merge.At[string](o.live, k.field, k.name)
		if v == "" || k.value != "" && v != k.value || v == merge.At[string](o.local, k.field, k.name) && k.value == "" {
			return nil, false
		}
		if k.read != nil {
			if v = k.read(v, o.kind, o.name); v == "" {
				return nil, false
			}
		}
		if k.value == "" {
			args = append(args, v)
		}
	}
	return args, true
}

// controller returns a finding for the owner that controls the object (metadata.ownerReferences).
//
// See https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/.
func (o marked) controller() (Finding, bool) {
	stated := map[any]bool{}
	for _, r := range merge.MapsAt(o.local, "ownerReferences") {
		stated[r["uid"]] = true
	}
	for _, r := range merge.MapsAt(o.live, "ownerReferences") {
		if controls, _ := r["controller"].(bool); controls && !stated[r["uid"]] {
			text := "is controlled by %s %s, whose controller may write it again or delete it: change that object instead"
			return Finding{Text: fmt.Sprintf(text, merge.At[string](r, "kind"), merge.At[string](r, "name"))}, true
		}
	}
	return Finding{}, false
}

// otherSet returns a finding for a set that another manager has made the object a member of. Sets
// that kubectl or the applier itself has labelled are the user's own.
func otherSet(p apply.Planned, manager string) (Finding, bool) {
	id := lastapplied.SetOf(p.Live)
	if id == "" || merge.At[string](metaOf(p.Final), "labels", lastapplied.PartOf) != id {
		return Finding{}, false
	}
	owners := ownership.At(ownership.Of(p.Live), lastapplied.PartOfPath)
	if len(owners) == 0 || slices.ContainsFunc(owners, func(o merge.Owner) bool { return o.Manager == manager || person(o.Manager) }) {
		return Finding{}, false
	}
	return Finding{Text: fmt.Sprintf("is a member of the ApplySet %s, which %s applies: its next apply may revert this", id, owners[0].Manager)}, true
}

// rewritten returns findings for fields that a program, not a person's tool, has written after they
// were applied, and that are now overwritten: it wrote them once, and may again.
func rewritten(p apply.Planned, manager string) (out []Finding) {
	applied := lastWrite(p.Live, manager)
	for _, d := range p.Settled {
		switch {
		case d.Winner != merge.LocalSide || d.Owner == nil || d.Owner.Manager == manager || person(d.Owner.Manager):
		case !d.Original.Set || !d.Local.Set || applied.IsZero() || d.Owner.Time.Before(applied):
		default:
			out = append(out, Finding{Path: d.Path,
				Text: fmt.Sprintf("%s wrote it after it was applied, and may do so again: leave the field to it with kubectl merge disown, or with a rule", d.Owner.Manager)})
		}
	}
	return out
}

// person reports whether a field manager is a tool by which people write: it writes once, and does
// not write again without a person.
func person(manager string) bool {
	return slices.ContainsFunc(people, func(prefix string) bool { return strings.HasPrefix(manager, prefix) })
}

// Scaler is a kind whose controller sets a field of other objects.
type Scaler struct {
	Group, Kind string

	Field  Field    // the field that it sets
	target []string // path of the reference to the scaled object
	kind   string   // of the target, if the reference has none
	off    []string // path that can switch the controller off
	values []string // values that switch it off
	text   string   // with the scaler's name
}

// Field is a field that scalers set.
type Field uint8

// The fields; a set of them is their sum.
const (
	Replicas  Field = 1 << iota // spec.replicas
	Resources                   // the resources of a pod template's containers
)

// Scalers by kind. Of several that set a field of an object, the first counts. A new kind is a row
// here, and one in docs/guard.md.
var Scalers = []Scaler{
	{
		Group: "keda.sh", Kind: "ScaledObject",
		Field: Replicas, target: []string{"spec", "scaleTargetRef"}, kind: "Deployment",
		off: []string{"metadata", "annotations", "autoscaling.keda.sh/paused"}, values: []string{"true"},
		text: "is set by KEDA, for ScaledObject %s",
	},
	{
		Group: "autoscaling", Kind: "HorizontalPodAutoscaler",
		Field: Replicas, target: []string{"spec", "scaleTargetRef"},
		text: "is set by HorizontalPodAutoscaler %s",
	},
	{
		Group: "argoproj.io", Kind: "Rollout",
		Field: Replicas, target: []string{"spec", "workloadRef"}, off: []string{"spec", "workloadRef", "scaleDown"}, values: []string{"", "never"},
		text: "is set to 0 by Argo Rollouts, for Rollout %s, which runs the pods instead",
	},
	{
		Group: "autoscaling.k8s.io", Kind: "VerticalPodAutoscaler",
		Field: Resources, target: []string{"spec", "targetRef"}, off: []string{"spec", "updatePolicy", "updateMode"}, values: []string{"Off"},
		text: "is set in the pods by VerticalPodAutoscaler %s",
	},
}

// Sets reports whether the kind's controllers set one of the fields.
func (s Scaler) Sets(fields Field) bool { return s.Field&fields != 0 }

// Stated holds the scalable fields that the local object of a merge states.
type Stated struct {
	Group, Kind, Name string
	Fields            Field // 0: none

	resources merge.Path
}

// States determines the fields that local states; given reports whether a field is given to live,
// so that nothing is stated for it.
func States(p apply.Planned, given func(merge.Path) bool) Stated {
	s := Stated{Group: p.Group(), Kind: p.Kind(), Name: p.Object.Name()}
	if p.Action == apply.Nothing {
		return s
	}
	if v, ok := merge.Lookup(p.Value, replicas, nil); ok && v != nil && !given(replicas) {
		s.Fields |= Replicas
	}
	if s.resources = resourcesOf(p.Value); s.resources != nil && !given(s.resources) {
		s.Fields |= Resources
	}
	return s
}

var replicas = merge.Path{merge.Named("spec"), merge.Named("replicas")}

// resourcesOf returns the path of the first container's resources that are stated; nil if none are.
func resourcesOf(obj map[string]any) merge.Path {
	at := merge.Path{merge.Named("spec"), merge.Named("template"), merge.Named("spec"), merge.Named("containers")}
	list, _ := merge.Lookup(obj, at, nil)
	for _, m := range merge.MapsAt(list) {
		if len(merge.At[map[string]any](m, "resources")) > 0 {
			entry := merge.Step{Kind: merge.KeyStep, Keys: []merge.KeyPart{{Name: "name", Value: m["name"]}}}
			return at.Child(entry).Child(merge.Named("resources"))
		}
	}
	return nil
}

// Scaled returns a finding for the stated fields that a scaler of the row's kind, in the same
// namespace, sets; false if it sets none.
func (s Scaler) Scaled(scaler map[string]any, o Stated) (Finding, bool) {
	ref := merge.At[any](scaler, s.target...)
	kind := cmp.Or(merge.At[string](ref, "kind"), s.kind)
	switch {
	case !s.Sets(o.Fields) || kind != o.Kind || merge.At[any](ref, "name") != o.Name || !group(ref, o.Group):
		return Finding{}, false
	case s.off != nil && slices.Contains(s.values, merge.At[string](scaler, s.off...)):
		return Finding{}, false
	}
	f := Finding{Path: replicas}
	if s.Field == Resources {
		f.Path = o.resources
	}
	name := merge.At[string](scaler, "metadata", "name")
	f.Text = fmt.Sprintf(s.text, name) + ": leave it out of the file (kubectl merge disown -w gives it up without changing live), or give it to live by a rule"
	return f, true
}

// group reports whether a reference names the group; one without apiVersion may name any.
func group(ref any, group string) bool {
	version := merge.At[string](ref, "apiVersion")
	return version == "" || len(version) > len(group) && version[:len(group)] == group && (group == "" || version[len(group)] == '/')
}

// marker describes the mark of a tool on the objects that it manages.
type marker struct {
	keys   []key               // all of them must exist
	unless map[string][]string // annotations or labels whose values, ignoring case, exclude the object
	text   string              // with the values of keys that state no value, in order
}

// key is a label or an annotation.
type key struct {
	field string // labels or annotations
	name  string
	value string // "": any, which local does not state itself

	// read returns the object that the value names, "" if it names another one: a copy of an object
	// carries the marker too. nil: the value itself.
	read func(value, kind, name string) string
}

// markers by tool. To add a tool is to add a row here, and one to docs/guard.md, with the page that documents it.
var markers = []marker{
	{
		// unless: AnyInMetadata, https://github.com/fluxcd/pkg/blob/main/ssa/utils/meta.go
		keys:   []key{{field: "labels", name: "kustomize.toolkit.fluxcd.io/namespace"}, {field: "labels", name: "kustomize.toolkit.fluxcd.io/name"}},
		unless: map[string][]string{"kustomize.toolkit.fluxcd.io/reconcile": {"disabled"}, "kustomize.toolkit.fluxcd.io/ssa": {"IfNotPresent", "Ignore"}},
		text:   "is applied by Flux from the Kustomization %s/%s, which reverts this at its next sync: change it in the Kustomization's source, or suspend that",
	},
	{
		keys: []key{{field: "labels", name: "helm.toolkit.fluxcd.io/namespace"}, {field: "labels", name: "helm.toolkit.fluxcd.io/name"}},
		text: "is installed by Flux with the HelmRelease %s/%s, whose next upgrade or drift correction may revert this: change the release's values",
	},
	{
		keys: []key{{field: "annotations", name: "argocd.argoproj.io/tracking-id", read: trackingID}},
		text: "is synced by Argo CD with the Application %s, which reverts this at its next sync, or at once if it heals itself: change it in the Application's source",
	},
	{
		keys: []key{{field: "labels", name: "kapp.k14s.io/app"}, {field: "annotations", name: "kapp.k14s.io/identity", read: kappIdentity}},
		text: "is deployed by kapp (kapp.k14s.io/app=%s, %s), whose next deploy may revert this: change it in the app's configuration",
	},
	{
		keys: []key{{field: "labels", name: "app.kubernetes.io/managed-by", value: "Helm"},
			{field: "annotations", name: "meta.helm.sh/release-namespace"}, {field: "annotations", name: "meta.helm.sh/release-name"}},
		text: "is installed by Helm with the release %[1]s/%[2]s: the next helm upgrade or rollback may revert this, and helm uninstall deletes the object: " +
			"change the release's values, or end the release, which leaves its objects: kubectl delete secret,configmap -n %[1]s -l owner=helm,name=%[2]s",
	},
}

// people lists prefixes of field managers with which people write.
var people = []string{
	"kubectl",                                                                    // create, edit, patch, apply, set, scale and all others: kubectl-VERB
	"before-first-apply",                                                         // an unknown applier (KEP-555)
	"k9s", "Lens", "OpenLens", "Freelens", "node-fetch", "headlamp", "dashboard", // user agents up to the first slash
	"Mozilla", "curl", "oc",
}

// trackingID reads APP:GROUP/KIND:NAMESPACE/NAME.
func trackingID(value, kind, name string) string {
	parts := strings.Split(value, ":")
	if len(parts) < 3 {
		return ""
	}
	what, where := parts[len(parts)-2], parts[len(parts)-1]
	if !strings.HasSuffix(what, "/"+kind) || !strings.HasSuffix(where, "/"+name) {
		return ""
	}
	return strings.Join(parts[:len(parts)-2], ":")
}

// kappIdentity reads v1;NAMESPACE/GROUP/KIND/NAME;VERSION.
func kappIdentity(value, kind, name string) string {
	parts := strings.Split(value, ";")
	if len(parts) != 3 || !strings.HasSuffix(parts[1], "/"+kind+"/"+name) {
		return ""
	}
	return kind + "/" + name
}

// lastWrite returns when the manager wrote the object last; zero if that is unknown.
func lastWrite(live map[string]any, manager string) time.Time {
	var last time.Time
	for _, o := range ownership.At(ownership.Of(live), merge.Path{}) {
		if o.Manager == manager && o.Time.After(last) {
			last = o.Time
		}
	}
	return last
}
