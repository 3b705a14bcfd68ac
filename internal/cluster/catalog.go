package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// catalog is what a server serves, as its discovery lists it. What is asked is stored in
// kubectl's cache, and taken from there while it is fresh.
//
// client-go's own discovery is not used: it links and registers every built-in type, which
// takes longer than all else that happens before main.
type catalog struct {
	client *rest.RESTClient
	cache  *catalogCache

	mu       sync.Mutex
	answered *answered // what the server itself has listed; nil: it was not asked yet
}

// answered is the server's own answer.
type answered struct {
	groups metav1.APIGroupList
	lists  map[string]*listed // by group/version
}

// listed are the resources of a group/version, or why they are not known.
type listed struct {
	resources *metav1.APIResourceList
	err       error
}

// errNotServed reports a group/version that the server does not list.
var errNotServed = errors.New("not found")

// emptyError reports a group/version that is listed and has no resources: what serves it
// does not answer.
type emptyError struct{ gv string }

// Error names the group/version.
func (e *emptyError) Error() string { return "received empty response for: " + e.gv }

// incompleteError reports the group/versions that cannot be discovered while others can.
type incompleteError map[string]error

// Error is kubectl's text.
func (e incompleteError) Error() string {
	parts := make([]string, 0, len(e))
	for _, gv := range slices.Sorted(maps.Keys(e)) {
		parts = append(parts, fmt.Sprintf("%s: %v", gv, e[gv]))
	}
	return "unable to retrieve the complete list of server APIs: " + strings.Join(parts, ", ")
}

// groups lists the groups, with their versions.
func (c *catalog) groups(ctx context.Context) (*metav1.APIGroupList, error) {
	var stored metav1.APIGroupList
	if c.cache.get(groupsFile, "APIGroupList", &stored) {
		return &stored, nil
	}
	a, err := c.ask(ctx)
	if err != nil {
		return nil, err
	}
	if len(a.groups.Groups) > 0 {
		list := a.groups
		list.TypeMeta = metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}
		c.cache.put(groupsFile, &list)
	}
	return &a.groups, nil
}

// resources lists the resources of a group/version. The error is errNotServed if the server
// does not list it.
func (c *catalog) resources(ctx context.Context, gv string) (*metav1.APIResourceList, error) {
	var stored metav1.APIResourceList
	if c.cache.get(resourcesFile(gv), "APIResourceList", &stored) {
		return &stored, nil
	}
	a, err := c.ask(ctx)
	if err != nil {
		return nil, err
	}
	list, err := c.of(ctx, a, gv)
	if err == nil && len(list.APIResources) > 0 {
		out := *list
		out.TypeMeta = metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}
		c.cache.put(resourcesFile(gv), &out)
	}
	return list, err
}

// of is what the answer has of a group/version; it is asked for again if it failed for a
// reason that may have passed.
func (c *catalog) of(ctx context.Context, a *answered, gv string) (*metav1.APIResourceList, error) {
	c.mu.Lock()
	l, ok := a.lists[gv]
	c.mu.Unlock()
	if !ok {
		return nil, errNotServed
	}
	if l.err != nil && passing(l.err) {
		l = c.one(ctx, gv)
		c.mu.Lock()
		a.lists[gv] = l
		c.mu.Unlock()
	}
	return l.resources, l.err
}

// passing reports whether an error may not occur when the request is repeated.
func passing(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code >= 500 || apierrors.IsTooManyRequests(err)
	}
	return !errors.As(err, new(*emptyError)) && !errors.As(err, new(*staleError))
}

// all lists the groups, and the resources of each of their versions that are known. Where
// some are not, the error is an incompleteError, and the others are returned.
func (c *catalog) all(ctx context.Context) (*metav1.APIGroupList, []*metav1.APIResourceList, error) {
	groups, err := c.groups(ctx)
	if err != nil {
		return nil, nil, err
	}
	var versions []string
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			versions = append(versions, v.GroupVersion)
		}
	}
	found := make([]listed, len(versions))
	var all sync.WaitGroup
	for i, gv := range versions {
		all.Go(func() { found[i].resources, found[i].err = c.resources(ctx, gv) })
	}
	all.Wait()
	var lists []*metav1.APIResourceList
	failed := incompleteError{}
	for i, l := range found {
		if l.err != nil {
			failed[versions[i]] = l.err
		}
		if l.resources != nil {
			lists = append(lists, l.resources)
		}
	}
	if len(failed) > 0 {
		return groups, lists, failed
	}
	return groups, lists, nil
}

// fresh reports whether nothing that was returned may be outdated: all is this process's own
// answer.
func (c *catalog) fresh() bool { return c.cache.fresh() }

// invalidate makes what is asked next be asked of the server.
func (c *catalog) invalidate() {
	c.cache.invalidate()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = nil
}

// ask asks the server once: for all groups and resources in one format if it has that, else
// for the groups and then for each version.
func (c *catalog) ask(ctx context.Context) (*answered, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered != nil {
		return c.answered, nil
	}
	var (
		roots [2]root
		errs  [2]error
		both  sync.WaitGroup
	)
	for i, path := range []string{"/api", "/apis"} {
		both.Go(func() { roots[i], errs[i] = c.root(ctx, path) })
	}
	both.Wait()
	if apierrors.IsNotFound(errs[0]) { // an aggregated server may have no core group
		roots[0], errs[0] = root{whole: true}, nil
	}
	if err := cmp.Or(errs[0], errs[1]); err != nil {
		return nil, err
	}
	a := &answered{lists: map[string]*listed{}}
	for _, r := range roots {
		a.groups.Groups = append(a.groups.Groups, r.groups...)
		maps.Copy(a.lists, r.lists)
	}
	if !roots[0].whole || !roots[1].whole {
		c.each(ctx, a)
	}
	c.answered = a
	return a, nil
}

// each asks for the resources of each version of the groups.
func (c *catalog) each(ctx context.Context, a *answered) {
	var (
		all sync.WaitGroup
		mu  sync.Mutex
	)
	a.lists = map[string]*listed{}
	for _, g := range a.groups.Groups {
		for _, v := range g.Versions {
			all.Go(func() {
				l := c.one(ctx, v.GroupVersion)
				mu.Lock()
				defer mu.Unlock()
				a.lists[v.GroupVersion] = l
			})
		}
	}
	all.Wait()
}

// one asks for the resources of one group/version.
func (c *catalog) one(ctx context.Context, gv string) *listed {
	path := "/apis/" + gv
	if !strings.Contains(gv, "/") {
		path = "/api/" + gv
	}
	list := &metav1.APIResourceList{GroupVersion: gv}
	body, _, err := c.get(ctx, path, "application/json")
	if err == nil {
		err = json.Unmarshal(body, list)
	}
	switch {
	case err != nil:
		return &listed{err: err}
	case len(list.APIResources) == 0:
		return &listed{resources: list, err: &emptyError{gv}}
	}
	return &listed{resources: list}
}

// get returns the body of a response and its content type. The error of Raw lacks the
// server's message.
func (c *catalog) get(ctx context.Context, path, accept string) (body []byte, kind string, err error) {
	result := c.client.Get().AbsPath(path).SetHeader("Accept", accept).Do(ctx).ContentType(&kind)
	if err := result.Error(); err != nil {
		return nil, "", err
	}
	body, err = result.Raw()
	return body, kind, err
}
