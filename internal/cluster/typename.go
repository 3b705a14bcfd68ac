package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// typeNames finds kinds by the words of a command line, by kubectl's rules: resources in
// plural and singular, kinds, short names, with or without version and group, and
// categories (k8s.io/client-go/restmapper, k8s.io/cli-runtime/pkg/resource).
type typeNames struct {
	mapper meta.RESTMapper
	lists  []*metav1.APIResourceList
	warn   func(string) // of a short name that stands for several resources
}

// newTypeNames prefers the core group, then the groups in the server's order, and of each
// the server's preferred version.
func newTypeNames(groups *metav1.APIGroupList, lists []*metav1.APIResourceList) *typeNames {
	byVersion := map[string]*metav1.APIResourceList{}
	for _, l := range lists {
		byVersion[l.GroupVersion] = l
	}
	var (
		mappers meta.MultiRESTMapper
		order   = []schema.GroupVersion{{Version: "v1"}}
		last    []schema.GroupVersion
	)
	for _, g := range groups.Groups {
		versions := slices.Clone(g.Versions)
		slices.SortStableFunc(versions, func(a, b metav1.GroupVersionForDiscovery) int {
			switch preferred := g.PreferredVersion.Version; {
			case a.Version == b.Version:
				return 0
			case a.Version == preferred:
				return -1
			case b.Version == preferred:
				return 1
			}
			return 0
		})
		for _, v := range versions {
			if l := byVersion[v.GroupVersion]; l != nil {
				gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
				order = append(order, gv)
				mappers = append(mappers, versionMapper(gv, l.APIResources))
			}
		}
		last = append(last, schema.GroupVersion{Group: g.Name, Version: meta.AnyVersion})
	}
	priority := &meta.PriorityRESTMapper{Delegate: mappers}
	for _, gv := range append(order, last...) {
		priority.ResourcePriority = append(priority.ResourcePriority, gv.WithResource(meta.AnyResource))
		priority.KindPriority = append(priority.KindPriority, gv.WithKind(meta.AnyKind))
	}
	return &typeNames{mapper: priority, lists: lists}
}

// versionMapper knows the resources of one version; subresources have no names of their own.
func versionMapper(gv schema.GroupVersion, resources []metav1.APIResource) meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{gv})
	for _, r := range resources {
		if strings.Contains(r.Name, "/") {
			continue
		}
		scope := meta.RESTScopeNamespace
		if !r.Namespaced {
			scope = meta.RESTScopeRoot
		}
		plural, singular := gv.WithResource(r.Name), gv.WithResource(r.SingularName)
		if r.SingularName == "" {
			_, singular = meta.UnsafeGuessKindToResource(gv.WithKind(r.Kind))
		}
		m.AddSpecific(gv.WithKind(strings.ToLower(r.Kind)), plural, singular, scope)
		m.AddSpecific(gv.WithKind(r.Kind), plural, singular, scope)
	}
	return m
}

// find is the kind that a word names. The error IsNoMatchError if there is none.
func (n *typeNames) find(word string) (schema.GroupVersionKind, error) {
	resource, short := schema.ParseResourceArg(word)
	if resource != nil {
		if gvk, err := n.mapper.KindFor(n.expand(*resource)); err == nil {
			return gvk, nil
		}
	}
	if gvk, err := n.mapper.KindFor(n.expand(short.WithVersion(""))); err == nil {
		return gvk, nil
	}
	kind, shortKind := schema.ParseKindArg(word)
	if kind != nil {
		if m, err := n.mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
			return m.GroupVersionKind, nil
		}
	}
	m, err := n.mapper.RESTMapping(shortKind, "")
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return m.GroupVersionKind, nil
}

// expand replaces a short name, unless a resource has that name.
func (n *typeNames) expand(word schema.GroupVersionResource) schema.GroupVersionResource {
	var long []schema.GroupResource
	for gv, r := range n.resources {
		if word.Group != "" && word.Group != gv.Group {
			continue
		}
		if word.Resource == r.Name || word.Resource == r.SingularName {
			return word
		}
		if is := (schema.GroupResource{Group: gv.Group, Resource: r.Name}); slices.Contains(r.ShortNames, word.Resource) && !slices.Contains(long, is) {
			long = append(long, is)
		}
	}
	if len(long) > 0 {
		for _, other := range long[1:] {
			if n.warn != nil {
				n.warn(fmt.Sprintf("short name %q could also match lower priority resource %s", word.Resource, other))
			}
		}
		return long[0].WithVersion("")
	}
	if word.Group == "" {
		return word
	}
	for gv, r := range n.resources { // autoscal is autoscaling
		if strings.HasPrefix(gv.Group, word.Group) && slices.Contains(r.ShortNames, word.Resource) {
			return schema.GroupVersionResource{Group: gv.Group, Version: word.Version, Resource: r.Name}
		}
	}
	return word
}

// category lists the resources of a category; a word that is none stands for itself.
func (n *typeNames) category(word string) []string {
	var out []string
	for gv, r := range n.resources {
		if slices.Contains(r.Categories, word) {
			out = append(out, schema.GroupResource{Group: gv.Group, Resource: r.Name}.String())
		}
	}
	if len(out) == 0 {
		return []string{word}
	}
	return out
}

// resources ranges over all resources in the order of priority.
func (n *typeNames) resources(yield func(schema.GroupVersion, metav1.APIResource) bool) {
	for _, l := range n.lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range l.APIResources {
			if !yield(gv, r) {
				return
			}
		}
	}
}

// Named is the resource that a word of a command line names: deploy, deployments.apps,
// Deployment.v1.apps. The error has kubectl's words where the server has none.
func (c *Cluster) Named(ctx context.Context, word string) (Resource, error) {
	for {
		names, err := c.names(ctx)
		if err != nil {
			return Resource{}, err
		}
		gvk, err := names.find(word)
		if err == nil {
			return c.Find(ctx, gvk.Group, gvk.Version, gvk.Kind)
		}
		if c.catalog.fresh() {
			return Resource{}, noType(word, err)
		}
		c.Refresh()
	}
}

// names are those that the server has at present.
func (c *Cluster) names(ctx context.Context) (*typeNames, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.words != nil {
		return c.words, nil
	}
	groups, lists, err := c.catalog.all(ctx)
	if len(lists) == 0 && err != nil {
		return nil, c.explain(err, Target{}, "discover")
	}
	c.words = newTypeNames(groups, lists)
	c.words.warn = c.Warn
	return c.words, nil
}

// noType reports a word that names no resource.
func noType(word string, err error) error {
	if !meta.IsNoMatchError(err) {
		return err
	}
	text := "the server doesn't have a resource type %q"
	if _, short := schema.ParseResourceArg(word); short.Group != "" {
		return fmt.Errorf(text+" in group %q", short.Resource, short.Group)
	}
	return fmt.Errorf(text, word)
}

// Patchable lists the resources whose objects can be patched, as kubectl names them. Where
// some cannot be discovered, the others are returned.
func (c *Cluster) Patchable(ctx context.Context) ([]string, error) {
	_, lists, err := c.catalog.all(ctx)
	var all []string
	for gv, r := range (&typeNames{lists: lists}).resources {
		if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "patch") {
			all = append(all, schema.GroupResource{Group: gv.Group, Resource: r.Name}.String())
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > 0 {
		return all, nil
	}
	return nil, err
}
