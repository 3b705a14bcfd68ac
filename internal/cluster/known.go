package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Known returns the resource of a kind in the version that the server prefers. It uses the cached
// discovery, so later additions to the server are unknown. It is false, without a reason, if the
// server has no such kind or does not answer.
func (c *Cluster) Known(ctx context.Context, group, kind string) (Resource, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.searchGroup(ctx, group, func(r Resource) bool { return r.Kind == kind })
	return r, err == nil && r.Plural != ""
}

// OwnWord returns Kubernetes' own resource that a word means on kubectl's command line. The word is
// the plural, the singular or a short name, optionally followed by a dot and the group, or the
// version and the group (deploy, deployments.apps, deployments.v1.apps). Only groups with no dot in
// their name are searched (core, apps, batch ...), which others may not define, so that little of
// discovery is read. kubectl prefers them, too, except over another kind whose whole name is the
// short name. It is false, without a reason, if none of them has it, or the server does not answer.
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
	groups, err := c.served(ctx)
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

// inVersion returns the resource that one version of a group has under a name; none if the version
// does not answer.
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

// words returns the names of the server's kinds on kubectl's command line: plurals, singulars and
// short names. None if the server does not answer.
func (c *Cluster) words(ctx context.Context) (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	groups, err := c.served(ctx)
	if err != nil {
		return nil
	}
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

// namesAccept requests a table with one row of cells per object; with includeObject=None
// nothing else of an object is sent
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables).
const namesAccept = "application/json;as=Table;g=meta.k8s.io;v=v1"

// Names returns the names of at most that many objects of a resource, in one namespace or, for "",
// in all. The objects themselves, such as Secrets, are not transferred. It is an error if the
// server does not support tables.
func (c *Cluster) Names(ctx context.Context, r Resource, namespace string, most int) ([]string, error) {
	t := Target{Resource: r, Namespace: namespace}
	req := c.request("GET", t).SetHeader("Accept", namesAccept).Param("includeObject", "None").Param("limit", strconv.Itoa(most))
	data, err := c.answer(ctx, t, "list", req)
	if err != nil {
		return nil, err
	}
	var table struct {
		ColumnDefinitions []struct{ Format string }
		Rows              []struct{ Cells []any }
	}
	if err := json.Unmarshal(data, &table); err != nil {
		return nil, fmt.Errorf("the server's table cannot be read: %w", err)
	}
	at := slices.IndexFunc(table.ColumnDefinitions, func(c struct{ Format string }) bool { return c.Format == "name" })
	var names []string
	for _, row := range table.Rows[:min(len(table.Rows), most)] {
		if at >= 0 && at < len(row.Cells) {
			if name, ok := row.Cells[at].(string); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
