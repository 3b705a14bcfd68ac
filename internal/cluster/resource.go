package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"

	types "github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Resource is what a server knows about a kind.
type Resource struct {
	Group, Version, Kind string
	Plural               string // in URLs
	Namespaced           bool
	Status               bool // status is written through a subresource of its own
}

// Target is one object of a server.
type Target struct {
	Resource
	Namespace string // "" for a cluster-scoped resource
	Name      string
}

// String is the object as outcome lines and errors name it: deployment.apps/web.
func (t Target) String() string {
	name := strings.ToLower(t.Kind)
	if t.Group != "" {
		name += "." + t.Group
	}
	return name + "/" + t.Name
}

// GroupVersion is the resource's apiVersion.
func (r Resource) GroupVersion() string {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}.String()
}

// Find tells how the server calls a kind. A kind that is not there is looked for
// once more past the cache, then among the declared ones. The error is an
// *UnknownKindError where the server is sure.
func (c *Cluster) Find(ctx context.Context, group, version, kind string) (Resource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gvk := schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
	r, ok, err := c.lookup(ctx, gvk)
	if err == nil && ok {
		return r, nil
	}
	if declared, ok := c.declared[gvk]; ok {
		return declared, nil
	}
	if err == nil && !c.refreshed && !c.discovery.FreshWithContext(ctx) {
		c.refreshed = true
		c.forget(ctx)
		if r, ok, err = c.lookup(ctx, gvk); err == nil && ok {
			return r, nil
		}
	}
	if err != nil {
		return Resource{}, fmt.Errorf("%s %s: cannot be looked up: %w", kind, gvk.GroupVersion(), c.undiscovered(ctx, gvk.GroupVersion(), err))
	}
	unknown := &UnknownKindError{Kind: kind, APIVersion: gvk.GroupVersion().String()}
	served := slices.Sorted(maps.Keys(c.groups[unknown.APIVersion]))
	unknown.NearVersion, unknown.Near = types.SuggestKind(unknown.APIVersion, kind, served, c.versions(ctx, group), func(apiVersion, kind string) bool {
		gv, err := schema.ParseGroupVersion(apiVersion)
		_, ok, failed := c.lookup(ctx, gv.WithKind(kind))
		return err == nil && failed == nil && ok
	})
	return Resource{}, unknown
}

// undiscovered is why discovery failed. Its client keeps the words of a refusal to
// itself, so the server is asked for them.
func (c *Cluster) undiscovered(ctx context.Context, gv schema.GroupVersion, cause error) error {
	err := c.explain(cause, Target{}, "discover")
	if !IsForbidden(err) {
		return err
	}
	own := "apis/" + gv.String()
	if gv.Group == "" {
		own = "api/" + gv.Version
	}
	paths := []string{"api", "apis", own} // it asks for all groups, whichever it looks for
	for _, path := range paths {
		if _, said := c.answer(ctx, Target{}, "get", c.client.Get().AbsPath(path)); IsForbidden(said) {
			return said
		}
	}
	return err
}

// ServesKind says whether the server has a kind of that name, in whatever group; case
// does not count. The error says why it could not be asked.
func (c *Cluster) ServesKind(ctx context.Context, kind string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, lists, err := c.discovery.ServerGroupsAndResourcesWithContext(ctx)
	for _, list := range lists {
		if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return strings.EqualFold(r.Kind, kind) }) {
			return true, nil
		}
	}
	if err != nil {
		return false, c.explain(err, Target{}, "discover")
	}
	return false, nil
}

// versions are those under which the server has a group, its preferred one first; nil
// where it has no such group, or cannot say.
func (c *Cluster) versions(ctx context.Context, group string) []string {
	groups, err := c.discovery.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, g := range groups.Groups {
		if g.Name != group {
			continue
		}
		out = append(out, g.PreferredVersion.GroupVersion)
		for _, v := range g.Versions {
			if v.GroupVersion != out[0] {
				out = append(out, v.GroupVersion)
			}
		}
	}
	return out
}

// lookup reads one group and version; the server's other groups do not matter, and
// may be broken.
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

// Declare tells of a kind that this run itself is going to make; what the server
// has under the same name comes first.
func (c *Cluster) Declare(r Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.declared[schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}] = r
}

// Refresh makes the next Find ask the server anew.
func (c *Cluster) Refresh(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(ctx)
}

func (c *Cluster) forget(ctx context.Context) {
	c.discovery.InvalidateWithContext(ctx)
	c.groups = map[string]map[string]Resource{}
	c.schemas.forget()
}

// UnknownKindError says that the server has no such kind, and which one may have
// been meant, if any.
type UnknownKindError struct {
	Kind, APIVersion  string
	Near, NearVersion string
}

// Error tells the kind, the apiVersion and what to do.
func (e *UnknownKindError) Error() string {
	meant := ""
	switch {
	case e.Near != "" && e.NearVersion == e.APIVersion:
		meant = fmt.Sprintf(" (did you mean %s?)", e.Near)
	case e.Near != "":
		meant = fmt.Sprintf(" (did you mean apiVersion %s?)", e.NearVersion)
	}
	return fmt.Sprintf("no matches for kind %q in version %q%s: check kind and apiVersion (kubectl api-resources lists them), and install its CustomResourceDefinition first if it has one", e.Kind, e.APIVersion, meant)
}
