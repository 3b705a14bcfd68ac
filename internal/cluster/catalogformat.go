package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// wholeFormat asks for groups and resources in one answer, which servers have since
// Kubernetes 1.30, and for the groups alone of others
// (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api).
const wholeFormat = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// root is the answer at /api or /apis.
type root struct {
	groups []metav1.APIGroup
	lists  map[string]*listed
	whole  bool // lists has the resources of all groups
}

// staleError reports a group/version that the server does not know at present.
type staleError struct{ gv string }

// Error names the group/version.
func (e *staleError) Error() string { return "stale GroupVersion discovery: " + e.gv }

// wholeDiscovery is an APIGroupDiscoveryList of apidiscovery.k8s.io/v2.
type wholeDiscovery struct {
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Versions []discoveredVersion `json:"versions"`
	} `json:"items"`
}

type discoveredVersion struct {
	Version   string `json:"version"`
	Freshness string `json:"freshness"`
	Resources []struct {
		Resource     string                   `json:"resource"`
		ResponseKind *metav1.GroupVersionKind `json:"responseKind"`
		Scope        string                   `json:"scope"`
		Singular     string                   `json:"singularResource"`
		Verbs        []string                 `json:"verbs"`
		ShortNames   []string                 `json:"shortNames"`
		Categories   []string                 `json:"categories"`
		Subresources []struct {
			Subresource  string                   `json:"subresource"`
			ResponseKind *metav1.GroupVersionKind `json:"responseKind"`
			Verbs        []string                 `json:"verbs"`
		} `json:"subresources"`
	} `json:"resources"`
}

// root asks for what is at /api or /apis.
func (c *catalog) root(ctx context.Context, path string) (root, error) {
	body, kind, err := c.get(ctx, path, wholeFormat)
	if err != nil {
		return root{}, err
	}
	if isWhole(kind) {
		var d wholeDiscovery
		if err := json.Unmarshal(body, &d); err != nil {
			return root{}, fmt.Errorf("%s: the server's discovery cannot be read: %w", path, err)
		}
		return d.split(), nil
	}
	var plain struct {
		Versions []string          `json:"versions"`
		Groups   []metav1.APIGroup `json:"groups"`
	}
	if err := json.Unmarshal(body, &plain); err != nil {
		return root{}, fmt.Errorf("%s: the server's discovery cannot be read: %w", path, err)
	}
	if path != "/api" {
		return root{groups: plain.Groups}, nil
	}
	core := metav1.APIGroup{}
	for _, v := range plain.Versions {
		core.Versions = append(core.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v, Version: v})
	}
	if len(core.Versions) > 0 {
		core.PreferredVersion = core.Versions[0]
	}
	return root{groups: []metav1.APIGroup{core}}, nil
}

// isWhole reports whether a response has groups and resources.
func isWhole(contentType string) bool {
	base, params, err := mime.ParseMediaType(contentType)
	return err == nil && base == "application/json" && params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" && params["as"] == "APIGroupDiscoveryList"
}

// split makes groups and lists of it. The preferred version of a group is its first that is
// known at present.
func (d wholeDiscovery) split() root {
	r := root{lists: map[string]*listed{}, whole: true}
	for _, item := range d.Items {
		group := metav1.APIGroup{Name: item.Metadata.Name}
		for _, v := range item.Versions {
			gv := v.Version
			if group.Name != "" {
				gv = group.Name + "/" + v.Version
			}
			if v.Freshness == "Stale" {
				r.lists[gv] = &listed{err: &staleError{gv}}
				continue
			}
			group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: v.Version})
			r.lists[gv] = &listed{resources: v.list(gv)}
		}
		if len(group.Versions) > 0 {
			group.PreferredVersion = group.Versions[0]
		}
		r.groups = append(r.groups, group)
	}
	return r
}

// list is the version in the format that is stored. What has no kind is left out.
func (v discoveredVersion) list(gv string) *metav1.APIResourceList {
	list := &metav1.APIResourceList{GroupVersion: gv}
	none := metav1.GroupVersionKind{}
	for _, r := range v.Resources {
		namespaced := r.Scope == "Namespaced"
		if k := r.ResponseKind; k != nil && *k != none {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: r.Resource, SingularName: r.Singular, Namespaced: namespaced, Group: k.Group, Version: k.Version, Kind: k.Kind,
				Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
			})
		}
		for _, s := range r.Subresources {
			if k := s.ResponseKind; k != nil && *k != none {
				list.APIResources = append(list.APIResources, metav1.APIResource{
					Name: r.Resource + "/" + s.Subresource, SingularName: r.Singular, Namespaced: namespaced, Group: k.Group, Version: k.Version, Kind: k.Kind, Verbs: s.Verbs,
				})
			}
		}
	}
	return list
}
