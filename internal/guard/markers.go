package guard

import (
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

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
