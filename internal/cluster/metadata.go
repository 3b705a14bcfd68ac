package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// These types request objects' metadata alone; a server that cannot reduce objects sends all of
// them (https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches).
const (
	metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	metadataOne  = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
)

// ListMetadata returns the objects of a resource, in one namespace or, for "", in all, reduced to
// their metadata. selector chooses by labels, "" chooses all. The order is the server's. Warnings
// of the server about lists are dropped: a deprecation does not concern a user who did not name the
// kind. The error is that of a request; nothing is returned with it.
func (c *Cluster) ListMetadata(ctx context.Context, r Resource, namespace, selector string) (all []map[string]any, err error) {
	err = c.pages(ctx, Listing{Resource: r, Namespace: namespace, Selector: selector, metadata: true}, func(page Page) (more bool, err error) {
		for _, o := range page.Objects {
			v, err := merge.ReadJSON(o.text)
			if err != nil {
				return false, fmt.Errorf("the server's list cannot be read: %w", err)
			}
			all = append(all, onlyMetadata(merge.At[map[string]any](v)))
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// GetMetadata reads the metadata of one object. The error is IsNotFound if there is none.
func (c *Cluster) GetMetadata(ctx context.Context, t Target) (map[string]any, error) {
	obj, err := again(ctx, func() (map[string]any, error) {
		return c.requestObject(ctx, t, "get", c.request("GET", t).Name(t.Name).SetHeader("Accept", metadataOne))
	})
	if err != nil {
		return nil, err
	}
	if name := merge.At[string](obj, "metadata", "name"); name != t.Name {
		return nil, c.garbled("is about another object, " + shorten(name, maxText))
	}
	return onlyMetadata(obj), nil
}

// onlyMetadata reduces an object to its metadata, also if the server has sent all of it.
func onlyMetadata(obj map[string]any) map[string]any {
	return map[string]any{"metadata": obj["metadata"]}
}

// FindKind returns the resource of a kind in the version that the server prefers among those that
// have it. The error is an *UnknownKindError if the server has no such kind. Any other error means
// that this is unknown, since the server of the group does not answer.
func (c *Cluster) FindKind(ctx context.Context, group, kind string) (Resource, error) {
	return c.findIn(ctx, group, kind, func(r Resource) bool { return r.Kind == kind })
}

// FindPlural is FindKind for the name in URLs: deployments. Errors are FindKind's.
func (c *Cluster) FindPlural(ctx context.Context, group, plural string) (Resource, error) {
	return c.findIn(ctx, group, plural, func(r Resource) bool { return r.Plural == plural })
}

// FindNamed is FindKind for either name, the kind's in any case. Errors are FindKind's.
func (c *Cluster) FindNamed(ctx context.Context, group, name string) (Resource, error) {
	return c.findIn(ctx, group, name, func(r Resource) bool { return r.Plural == name || strings.EqualFold(r.Kind, name) })
}

func (c *Cluster) findIn(ctx context.Context, group, name string, is func(Resource) bool) (Resource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		r, err := c.searchGroup(ctx, group, is)
		switch {
		case err == nil && r.Plural != "":
			return r, nil
		case !c.refreshed && !c.discovery.FreshWithContext(ctx):
			c.refreshed = true
			c.invalidate(ctx)
		case errors.Is(err, errUnanswered) && c.awaitAnswer(ctx):
			c.invalidate(ctx)
		case err != nil:
			return Resource{}, fmt.Errorf("%s: cannot be looked up: %w", schema.GroupKind{Group: group, Kind: name}, c.explain(err, Target{}, "discover"))
		default:
			return Resource{}, c.unknownIn(ctx, group, name)
		}
	}
}

// mostSilences is how often a run requests again what a silent group serves.
const mostSilences = 4

// awaitAnswer pauses before a silent group is requested again, and reports whether it is: a group
// whose last CustomResourceDefinition was just deleted is listed for a moment more.
func (c *Cluster) awaitAnswer(ctx context.Context) bool {
	if c.silences == mostSilences {
		return false
	}
	c.silences++
	return Sleep(ctx, 250*time.Millisecond) == nil
}

// unknownIn returns the error that a group has no such kind, or that this is unknown: to a client,
// a server that hides its groups has none.
func (c *Cluster) unknownIn(ctx context.Context, group, name string) error {
	path := "apis"
	if group == "" {
		path = "api"
	}
	if _, err := c.answer(ctx, Target{}, "get", c.client.Get().AbsPath(path)); err != nil {
		return fmt.Errorf("%s: cannot be looked up: %w", schema.GroupKind{Group: group, Kind: name}, err)
	}
	return &UnknownKindError{Kind: name, APIVersion: group, InGroup: true}
}

func (c *Cluster) searchGroup(ctx context.Context, group string, is func(Resource) bool) (Resource, error) {
	groups, err := c.served(ctx)
	if err != nil {
		return Resource{}, err
	}
	at := slices.IndexFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == group })
	if at < 0 {
		return Resource{}, nil
	}
	var failed error
	if len(groups.Groups[at].Versions) == 0 {
		failed = fmt.Errorf("%s: %w", group, errUnanswered)
	}
	for _, v := range c.versions(ctx, group) {
		gv, err := schema.ParseGroupVersion(v)
		if err != nil {
			return Resource{}, err
		}
		if _, _, err := c.lookup(ctx, gv.WithKind("")); err != nil {
			failed = err
			continue
		}
		if len(c.groups[gv.String()]) == 0 { // the group is registered, and its server is silent
			failed = fmt.Errorf("%s: %w", gv, errUnanswered)
		}
		for _, r := range c.groups[gv.String()] {
			if is(r) {
				return r, nil
			}
		}
	}
	return Resource{}, failed
}

// Deletable returns the resources whose objects can be listed and deleted. The namespaced ones are
// those that are deleted together with a namespace. They are not taken from a cache. With an error,
// they are those of the groups that answer: the rest is unknown. nil if nothing answers.
func (c *Cluster) Deletable(ctx context.Context) ([]Resource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	groups, lists, err := c.discovery.ServerGroupsAndResourcesWithContext(ctx)
	if !c.discovery.FreshWithContext(ctx) { // a kind may have been defined since it was cached
		c.invalidate(ctx)
		groups, lists, err = c.discovery.ServerGroupsAndResourcesWithContext(ctx)
	}
	if _, some := discovery.GroupDiscoveryFailedErrorGroups(err); err != nil && !some {
		return nil, c.explain(err, Target{}, "discover")
	}
	all, bad := deletable(lists)
	if bad != nil {
		return nil, bad
	}
	failed := silent(groups, lists, err)
	for _, gv := range slices.Sorted(maps.Keys(failed)) {
		if err := failed[gv]; !apierrors.IsNotFound(err) { // deleted meanwhile, with all of its objects
			return all, fmt.Errorf("%s: %w", gv, c.explain(err, Target{}, "discover"))
		}
	}
	return all, nil
}

// silent returns the groups, or versions of them, whose resources are unknown, with the reason.
func silent(groups []*metav1.APIGroup, lists []*metav1.APIResourceList, err error) map[string]error {
	out := map[string]error{}
	for _, g := range groups {
		if len(g.Versions) == 0 { // aggregated discovery leaves out those that do not answer
			out[g.Name] = errUnanswered
		}
		for _, v := range g.Versions {
			out[v.GroupVersion] = errUnanswered
		}
	}
	for _, l := range lists {
		delete(out, l.GroupVersion)
	}
	failed, _ := discovery.GroupDiscoveryFailedErrorGroups(err)
	for gv, err := range failed {
		out[gv.String()] = err
	}
	return out
}

// errUnanswered reports that a group is registered, as an APIService, and that its server does not
// answer at the moment.
var errUnanswered = errors.New("is registered, and what serves it does not answer")

// deletable returns the resources of lists, by group and kind, each in its preferred version.
func deletable(lists []*metav1.APIResourceList) (all []Resource, err error) {
	seen := map[schema.GroupKind]bool{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists) {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, errors.New("the server's discovery names no group and version: " + shorten(list.GroupVersion, maxText))
		}
		for _, r := range resources(gv, list) {
			if gk := r.GroupKind(); !seen[gk] {
				seen[gk] = true
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b Resource) int {
		return slices.Compare([]string{a.Group, a.Kind}, []string{b.Group, b.Kind})
	})
	return all, nil
}
