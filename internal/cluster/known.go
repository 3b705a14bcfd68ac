package cluster

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Known gives the resource of a kind in the version that the server prefers, as far as
// discovery is known already: what was added to the server since is not looked for. It is
// false, without a reason, where the server has no such kind or does not answer.
func (c *Cluster) Known(ctx context.Context, group, kind string) (Resource, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.searchGroup(ctx, group, func(r Resource) bool { return r.Kind == kind })
	return r, err == nil && r.Plural != ""
}

// OwnWord gives the resource of Kubernetes' own that a word means on kubectl's command line: the
// plural, the singular or a short name, and behind it, after a dot, the group or the version and
// the group (deploy, deployments.apps, deployments.v1.apps). Only groups with no dot in their
// name are looked through (core, apps, batch ...), which nobody else may define, so that little
// of discovery is read. They come first for kubectl, too, but for a short name that is the whole
// name of somebody else's kind. It is false, without a reason, where none of them has it, or the
// server does not answer.
func (c *Cluster) OwnWord(ctx context.Context, word string) (Resource, bool) {
	return c.word(ctx, word, func(group string) bool { return !strings.Contains(group, ".") })
}

// Word is OwnWord in all groups.
func (c *Cluster) Word(ctx context.Context, word string) (Resource, bool) {
	return c.word(ctx, word, func(string) bool { return true })
}

func (c *Cluster) word(ctx context.Context, word string, in func(group string) bool) (Resource, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	groups, err := c.discovery.ServerGroupsWithContext(ctx)
	if err != nil {
		return Resource{}, false
	}
	full, short := schema.ParseResourceArg(strings.ToLower(word))
	if short.Resource == "" {
		return Resource{}, false
	}
	for _, g := range groups.Groups {
		if !in(g.Name) {
			continue
		}
		for _, v := range c.versions(ctx, g.Name) {
			gv, err := schema.ParseGroupVersion(v)
			name := short.Resource
			if full != nil && full.GroupVersion() == gv {
				name = full.Resource
			} else if err != nil || short.Group != "" && short.Group != gv.Group {
				continue
			}
			if r, ok := c.inVersion(ctx, gv, name); ok {
				return r, true
			}
		}
	}
	return Resource{}, false
}

// inVersion is the resource that one version of a group has under a name; a version that does
// not answer has none.
func (c *Cluster) inVersion(ctx context.Context, gv schema.GroupVersion, name string) (Resource, bool) {
	list, err := c.discovery.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	if err != nil {
		return Resource{}, false
	}
	at := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool {
		return !strings.Contains(r.Name, "/") && (r.Name == name || r.SingularName == name || strings.ToLower(r.Kind) == name || slices.Contains(r.ShortNames, name))
	})
	if at < 0 {
		return Resource{}, false
	}
	r, ok := resources(gv, list)[list.APIResources[at].Kind]
	return r, ok
}

// words are what the kinds of the server are called on kubectl's command line: plurals, singulars and short
// names. None where the server does not answer.
func (c *Cluster) words(ctx context.Context) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	groups, err := c.discovery.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil
	}
	var all []string
	for _, g := range groups.Groups {
		for _, v := range c.versions(ctx, g.Name) {
			list, err := c.discovery.ServerResourcesForGroupVersionWithContext(ctx, v)
			if err != nil {
				continue
			}
			for _, r := range list.APIResources {
				if !strings.Contains(r.Name, "/") {
					all = append(append(all, r.Name, strings.ToLower(r.Kind)), r.ShortNames...)
				}
			}
		}
	}
	return all
}
