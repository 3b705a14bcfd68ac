package live

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Release is a release of Helm in the cluster: the objects of the manifest of the deployed revision,
// without hooks.
type Release struct {
	// Objects are those of the manifest, in its order. Some may lack the namespace, which is the release's then.
	Objects []object.Object

	// Newer reports revisions after the deployed one, whose writes Objects does not have; "" for none.
	Newer string

	namespace string
	saved     *source.Saved
}

// Find returns the object of the release with the group, kind, namespace and name of o, which is in its
// namespace; nil without an error if there is none.
func (r *Release) Find(o object.Object) (*object.Object, error) {
	found, err := r.saved.Find(o)
	if err != nil || found == nil {
		return nil, err
	}
	if own := o.Namespace(); own != "" && own != cmp.Or(found.Namespace(), r.namespace) {
		return nil, nil
	}
	placed := found.InNamespace(o.Namespace())
	return &placed, nil
}

// Without returns the names of the release's objects that are not among others, in the manifest's order.
func (r *Release) Without(others []object.Object) (names []string) {
	stated := map[object.Identity]bool{}
	for _, o := range others {
		if found, err := r.Find(o); err == nil && found != nil {
			stated[r.placed(*found)] = true
		}
	}
	for _, o := range r.Objects {
		if !stated[r.placed(o)] {
			names = append(names, o.String())
		}
	}
	return names
}

// placed returns an identity that does not depend on whether the manifest states the namespace.
func (r *Release) placed(o object.Object) object.Identity {
	return o.InNamespace(cmp.Or(o.Namespace(), r.namespace)).ID()
}

// releaseStores are the kinds of object in which Helm stores releases: its own choice, and that of
// HELM_DRIVER=configmap.
var releaseStores = []cluster.Resource{
	{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true},
	{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true},
}

// revision is one of a release, as the labels of the object that stores it have it
// (helm.sh/helm/v4/pkg/storage/driver, newSecretsObject).
type revision struct {
	cluster.Target
	release, status string
	number          int
}

// revisions lists those of one release by number, or of all for "". The error is that of the first store
// that could not be listed; nil if another one has some. ConfigMaps need not be allowed: hardly any release is
// in one.
func revisions(ctx context.Context, api *cluster.Cluster, namespace, release string) (all []revision, failed error) {
	chosen := labels.Set{"owner": "helm"}
	if release != "" {
		chosen["name"] = release
	}
	selector, bad := chosen.AsValidatedSelector()
	if bad != nil {
		return nil, errors.New("cannot be the name of a release")
	}
	for i, store := range releaseStores {
		list, err := api.ListMetadata(ctx, store, namespace, selector.String())
		if i == 0 || !cluster.IsForbidden(err) {
			failed = cmp.Or(failed, err)
		}
		for _, obj := range list {
			has := object.Object{Value: obj}
			r := revision{Target: cluster.Target{Resource: store, Namespace: namespace, Name: has.Name()}, release: has.Labels()["name"], status: has.Labels()["status"]}
			r.number, err = strconv.Atoi(has.Labels()["version"])
			if err == nil && strings.HasPrefix(r.Name, "sh.helm.release.v1.") {
				all = append(all, r)
			}
		}
		if len(all) > 0 {
			failed = nil
			break
		}
	}
	slices.SortFunc(all, func(a, b revision) int { return a.number - b.number })
	return all, failed
}

// ReleaseNames returns the names of the releases of a namespace, sorted. nil if there are none. The error is
// that of a list.
func ReleaseNames(ctx context.Context, api *cluster.Cluster, namespace string) ([]string, error) {
	all, err := revisions(ctx, api, namespace, "")
	names := object.Each(all, func(r revision) string { return r.release })
	slices.Sort(names)
	return slices.Compact(names), err
}

// ReadRelease reads the release of a name, whose revisions Helm stores in the namespace. Values of Secrets in
// it are noted in the inputs' Values, and neither logged nor quoted in errors. An error names what there is
// instead: other releases, or revisions of which none is deployed.
func ReadRelease(ctx context.Context, api *cluster.Cluster, namespace, name string, in source.Inputs) (*Release, error) {
	all, err := revisions(ctx, api, namespace, name)
	switch {
	case cluster.IsForbidden(err):
		return nil, fmt.Errorf("%w: Helm stores releases in Secrets, which this needs to list and get", err)
	case err != nil:
		return nil, err
	case len(all) == 0:
		names, err := ReleaseNames(ctx, api, namespace)
		if len(names) == 0 {
			names = []string{"none"}
		}
		return nil, errors.Join(fmt.Errorf("no such release in the namespace %s: -n gives that of the release; there are: %s", namespace, strings.Join(names, ", ")), err)
	}
	var other []string
	at := -1
	for i, r := range all {
		other = append(other, fmt.Sprintf("%d is %s", r.number, cmp.Or(r.status, "of no known status")))
		if r.status == "deployed" { // of several, the last, as for Helm (pkg/storage, Deployed)
			at, other = i, nil
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("no revision is deployed: %s: helm rollback or helm upgrade deploys one, and --original=FILE takes what helm get manifest --revision=N prints", strings.Join(other, ", "))
	}
	out, err := all[at].read(ctx, api, in)
	if err == nil && len(other) > 0 {
		out.Newer = fmt.Sprintf("revision %d is deployed and counts; what a later one has written does not (%s)", all[at].number, strings.Join(other, ", "))
	}
	return out, err
}

func (r revision) read(ctx context.Context, api *cluster.Cluster, in source.Inputs) (*Release, error) {
	obj, err := api.Get(cluster.WithoutBodies(ctx), r.Target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	stored := []byte(merge.At[string](obj, "data", "release"))
	if r.Kind == "Secret" {
		if stored, err = base64.StdEncoding.DecodeString(string(stored)); err != nil {
			return nil, fmt.Errorf("%s: data.release: %w", r, err)
		}
	}
	decoded, err := source.DecodeRelease(stored)
	if err == nil && decoded.Name != r.release {
		err = errors.New("is not of that release")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: data.release: %w: look at helm history %s; --original=FILE takes what helm get manifest prints", r, err, r.release)
	}
	out := &Release{namespace: r.Namespace}
	out.Objects, err = in.ReadText(fmt.Sprintf("manifest of revision %d", r.number), decoded.Manifest)
	if err == nil {
		out.saved, err = source.SavedOf(out.Objects)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: correct a copy, and give it with --original=FILE: helm get manifest %s -n %s > FILE", r, err, r.release, r.Namespace)
	}
	return out, nil
}
