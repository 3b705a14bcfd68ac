package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	types "github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Resource is a kind as the server serves it.
type Resource struct {
	Group, Version, Kind string
	Plural               string // in URLs
	Namespaced           bool
	Status               bool // status is a subresource
}

// Target addresses one object.
type Target struct {
	Resource
	Namespace string // "" for a cluster-scoped resource
	Name      string
}

// String returns the object as outcome lines and errors name it: deployment.apps/web.
func (t Target) String() string { return strings.ToLower(t.GroupKind().String()) + "/" + t.Name }

// Identity returns an object with apiVersion, kind, name and namespace alone.
func (t Target) Identity() object.Object {
	meta := map[string]any{"name": t.Name}
	if t.Namespace != "" {
		meta["namespace"] = t.Namespace
	}
	return object.Object{Value: map[string]any{"apiVersion": t.GroupVersion(), "kind": t.Kind, "metadata": meta}}
}

// GroupKind returns the resource's kind, whatever its version.
func (r Resource) GroupKind() schema.GroupKind { return schema.GroupKind{Group: r.Group, Kind: r.Kind} }

// GroupVersion returns the resource's apiVersion.
func (r Resource) GroupVersion() string {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}.String()
}

// Within returns the namespace, and "" for a cluster-scoped resource, whose objects are in none.
func (r Resource) Within(namespace string) string {
	if !r.Namespaced {
		return ""
	}
	return namespace
}

// apiPath returns the path of a group and version below the server's address.
func apiPath(group, version string) string {
	if group == "" {
		return "api/" + version
	}
	return "apis/" + group + "/" + version
}

// Find returns the resource of a kind. An unknown kind, and one that is declared in another scope, is
// looked up among the declared ones, then once more without the cache. The error is an
// *UnknownKindError if the server does not have the kind.
func (c *Cluster) Find(ctx context.Context, group, version, kind string) (Resource, error) {
	return c.find(ctx, schema.GroupVersionKind{Group: group, Version: version, Kind: kind}, false)
}

// find is Find; with doubt, it looks a kind that the cache has up without it, too, if that was not done before.
func (c *Cluster) find(ctx context.Context, gvk schema.GroupVersionKind, doubt bool) (Resource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok, err := c.lookup(ctx, gvk)
	declared, own := c.declared[gvk]
	switch {
	case err == nil && ok && !doubt && (!own || declared.Namespaced == r.Namespaced):
		return r, nil
	case own:
		return declared, nil
	}
	_, _ = c.served(ctx) // a list of groups that was kept may be old, too
	if err == nil && !c.refreshed && !c.discovery.FreshWithContext(ctx) {
		c.refreshed = true
		c.invalidate(ctx)
		r, ok, err = c.lookup(ctx, gvk)
	}
	if err == nil && ok {
		return r, nil
	}
	if err != nil {
		return Resource{}, fmt.Errorf("%s %s: cannot be looked up: %w", gvk.Kind, gvk.GroupVersion(), c.undiscovered(ctx, gvk.GroupVersion(), err))
	}
	if _, err := c.served(ctx); apierrors.IsNotFound(err) {
		return Resource{}, &Unreachable{Setup: true, Text: fmt.Sprintf("server %s: does not answer as a Kubernetes API server: check the server in your kubeconfig, or after --server", hostOf(c.host))}
	}
	unknown := &UnknownKindError{Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String()}
	served := slices.Sorted(maps.Keys(c.groups[unknown.APIVersion]))
	unknown.NearVersion, unknown.Near = types.SuggestKind(unknown.APIVersion, gvk.Kind, types.Served{Kinds: served, Versions: c.versions(ctx, gvk.Group), Has: func(apiVersion, kind string) bool {
		gv, err := schema.ParseGroupVersion(apiVersion)
		_, ok, failed := c.lookup(ctx, gv.WithKind(kind))
		return err == nil && failed == nil && ok
	}})
	return Resource{}, unknown
}

// outdated returns the error of a read for which the server has said, by err, that it does not serve the kind: the
// same, unless discovery had the kind, and has it no more, or elsewhere, once it is new.
func (c *Cluster) outdated(ctx context.Context, r Resource, err error) error {
	gvk := r.GroupKind().WithVersion(r.Version)
	c.mu.Lock()
	known := c.known[gvk]
	c.mu.Unlock()
	if !known {
		return err
	}
	now, failed := c.find(ctx, gvk, true)
	if failed == nil && (now.Namespaced != r.Namespaced || now.Plural != r.Plural) {
		return errors.New("its kind was defined anew, in another scope or under another plural: run this again, as discovery was outdated")
	}
	return cmp.Or(failed, err)
}

// undiscovered returns why discovery failed. Its client drops the server's message, so the request
// is repeated.
func (c *Cluster) undiscovered(ctx context.Context, gv schema.GroupVersion, cause error) error {
	err := c.explain(cause, Target{}, "discover")
	if !IsForbidden(err) {
		return err
	}
	// Discovery requests all groups, whichever it needs.
	for _, path := range []string{"api", "apis", apiPath(gv.Group, gv.Version)} {
		if _, said := c.answer(ctx, Target{}, "get", c.client.Get().AbsPath(path)); IsForbidden(said) {
			return said
		}
	}
	return err
}

// ServesKind reports whether the server has a kind of that name in any group, ignoring case. A
// group that does not answer has none: its objects cannot be merged either. The error is that
// of discovery as a whole.
func (c *Cluster) ServesKind(ctx context.Context, kind string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, lists, err := c.discovery.ServerGroupsAndResourcesWithContext(ctx)
	for _, list := range lists {
		if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return strings.EqualFold(r.Kind, kind) }) {
			return true, nil
		}
	}
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return false, c.explain(err, Target{}, "discover")
	}
	return false, nil
}

// served returns the server's groups. Discovery's own cache reads and parses its file each time that
// it is asked.
func (c *Cluster) served(ctx context.Context) (*metav1.APIGroupList, error) {
	if c.listed != nil {
		return c.listed, nil
	}
	groups, err := c.discovery.ServerGroupsWithContext(ctx)
	if err == nil {
		c.listed = groups
	}
	return groups, err
}

// versions returns the group/versions of a group, the preferred one first; nil if the group or
// discovery is not available.
func (c *Cluster) versions(ctx context.Context, group string) (out []string) {
	groups, err := c.served(ctx)
	if err != nil {
		return nil
	}
	for _, g := range groups.Groups {
		if g.Name != group {
			continue
		}
		if v := g.PreferredVersion.GroupVersion; v != "" { // of a group that does not answer none is known
			out = append(out, v)
		}
		for _, v := range g.Versions {
			if v.GroupVersion != g.PreferredVersion.GroupVersion {
				out = append(out, v.GroupVersion)
			}
		}
	}
	return out
}

// lookup reads one group and version, so that other groups may be unavailable.
func (c *Cluster) lookup(ctx context.Context, gvk schema.GroupVersionKind) (Resource, bool, error) {
	gv := gvk.GroupVersion().String()
	kinds, read := c.groups[gv]
	if !read {
		list, err := c.discovery.ServerResourcesForGroupVersionWithContext(ctx, gv)
		if err != nil && !apierrors.IsNotFound(err) && !errors.Is(err, memory.ErrCacheNotFound) {
			return Resource{}, false, err
		}
		kinds = resources(gvk.GroupVersion(), list)
		c.groups[gv] = kinds
	}
	r, ok := kinds[gvk.Kind]
	c.known[gvk] = c.known[gvk] || ok
	return r, ok, nil
}

func resources(gv schema.GroupVersion, list *metav1.APIResourceList) map[string]Resource {
	kinds := map[string]Resource{}
	if list == nil {
		return kinds
	}
	status := map[string]bool{}
	for _, r := range list.APIResources {
		plural, sub, isSub := strings.Cut(r.Name, "/")
		if isSub {
			status[plural] = status[plural] || sub == "status"
			continue
		}
		if _, twice := kinds[r.Kind]; twice {
			continue
		}
		kinds[r.Kind] = Resource{Group: gv.Group, Version: gv.Version, Kind: r.Kind, Plural: plural, Namespaced: r.Namespaced}
	}
	for kind, r := range kinds {
		r.Status = status[r.Plural]
		kinds[kind] = r
	}
	return kinds
}

// Declare adds the kinds of a CustomResourceDefinition that the run itself will write. A kind of the
// same name and scope on the server takes precedence.
func (c *Cluster) Declare(crd map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range Declared(crd) {
		c.declared[r.GroupKind().WithVersion(r.Version)] = r
		c.converts[r.GroupKind()] = merge.At[string](crd, "spec", "conversion", "strategy") == "Webhook"
	}
}

// earlier returns a resource by which the server has the objects of a declared kind already: another
// version of it, in which they differ by their apiVersion alone.
func (c *Cluster) earlier(ctx context.Context, r Resource) (found Resource, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, declared := c.declared[r.GroupKind().WithVersion(r.Version)]; !declared || c.converts[r.GroupKind()] {
		return Resource{}, false
	}
	for _, apiVersion := range c.versions(ctx, r.Group) {
		_, version, _ := strings.Cut(apiVersion, "/")
		if found, ok, _ = c.lookup(ctx, r.GroupKind().WithVersion(version)); ok && version != r.Version {
			return found, true
		}
	}
	return Resource{}, false
}

// Refresh makes the next Find ask the server again.
func (c *Cluster) Refresh(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.invalidate(ctx)
}

func (c *Cluster) invalidate(ctx context.Context) {
	c.discovery.InvalidateWithContext(ctx)
	c.listed, c.groups = nil, map[string]map[string]Resource{}
	c.schemas.invalidate()
}

// UnknownKindError reports that the server has no such kind, and which one may have been
// meant.
type UnknownKindError struct {
	Kind, APIVersion  string
	InGroup           bool // APIVersion is a group, in any version; Kind may be the name in URLs
	Near, NearVersion string
}

// Error names the kind, the apiVersion and what to do.
func (e *UnknownKindError) Error() string {
	meant, or := "", ""
	gv, _ := schema.ParseGroupVersion(e.APIVersion) // of a wrong one nothing was removed
	switch now, in := Removed(gv.Group, gv.Version, e.Kind); {
	case in > 0 && now == "":
		return fmt.Sprintf("no matches for kind %q in version %q, which Kubernetes 1.%d removed, and nothing replaces it: take the object out", e.Kind, e.APIVersion, in)
	case in > 0:
		return fmt.Sprintf("no matches for kind %q in version %q, which Kubernetes 1.%d removed: write apiVersion: %s", e.Kind, e.APIVersion, in, now)
	case e.Near != "" && e.NearVersion == e.APIVersion:
		meant = fmt.Sprintf(" (did you mean %s?)", e.Near)
	case e.Near != "":
		meant = fmt.Sprintf(" (did you mean apiVersion %s?)", e.NearVersion)
	default:
		or = ", and install its CustomResourceDefinition first if it has one"
	}
	in := "version"
	if e.InGroup {
		in = "group"
	}
	return fmt.Sprintf("no matches for kind %q in %s %q%s: check kind and apiVersion (kubectl api-resources lists them)%s", e.Kind, in, e.APIVersion, meant, or)
}
