package cluster

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Declared returns the resources that a CustomResourceDefinition (v1) defines; none if crd is
// something else.
func Declared(crd map[string]any) (all []Resource) {
	for _, version := range merge.MapsAt(crd, "spec", "versions") {
		if !merge.At[bool](version, "served") {
			continue
		}
		r := Resource{
			Group:      merge.At[string](crd, "spec", "group"),
			Version:    merge.At[string](version, "name"),
			Kind:       merge.At[string](crd, "spec", "names", "kind"),
			Plural:     merge.At[string](crd, "spec", "names", "plural"),
			Namespaced: merge.At[string](crd, "spec", "scope") == "Namespaced",
			Status:     merge.At[any](version, "subresources", "status") != nil,
		}
		if r.Version != "" && r.Kind != "" && r.Plural != "" {
			all = append(all, r)
		}
	}
	return all
}

// Established reports whether the kind of a CustomResourceDefinition is served.
func Established(crd map[string]any) bool {
	return merge.At[string](object.Condition(crd, "Established"), "status") == "True"
}

// NeverServed reports whether no object of a CustomResourceDefinition's kind can exist: it was
// never established, or was created with no version that is served, and its spec has not
// changed since.
//
// Source: k8s.io/apiextensions-apiserver, pkg/controller/finalizer, which ignores objects of a
// definition that is not established; pkg/controller/status, which never removes that condition;
// pkg/registry/customresourcedefinition, which counts changes of spec.
func NeverServed(crd map[string]any) bool {
	first := fmt.Sprint(merge.At[any](crd, "metadata", "generation")) == "1"
	return !Established(crd) || first && len(Declared(crd)) == 0
}

// establishWait is how long the server may take to serve a new kind. For staleWait after a
// write, a condition may still describe the definition as it was before.
const (
	establishWait = 60 * time.Second
	mostPolls     = 8 // concurrent reads of polled, over all definitions
	staleWait     = 3 * time.Second
)

// WaitEstablished waits until the kind of a CustomResourceDefinition that was just written
// is served, and invalidates discovery; stored is the definition as the server returned it.
// It returns at once if the server will never serve the kind. The error names the
// definition and states that it was written.
func (c *Cluster) WaitEstablished(ctx context.Context, crd Target, stored map[string]any) error {
	limited, cancel := context.WithTimeout(ctx, establishWait)
	defer cancel()
	begun, before := time.Now(), neverEstablished(stored)
	var last error
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		obj, err := c.polled(limited, crd)
		if limited.Err() == nil { // an error caused by the timeout is not the server's
			last = err
		}
		switch why := neverEstablished(obj); {
		case err != nil:
		case Established(obj):
			c.Refresh(ctx)
			return nil
		case why != "" && (why != before || time.Since(begun) > staleWait):
			return fmt.Errorf("%s: is written, but its kind is not served: %s: fix that, and merge again", crd, why)
		}
		if Sleep(limited, pause) != nil {
			switch {
			case ctx.Err() != nil: // the plain error would mean that it was not written
				return fmt.Errorf("%s: was written, and the run was interrupted before its kind was served: merge again", crd)
			case last != nil:
				return fmt.Errorf("%s: is written, and whether its kind is served cannot be known: %w", crd, last)
			}
			return fmt.Errorf("%s: is written, but its kind is not served %s after that: look at its status.conditions, and merge again", crd, establishWait)
		}
	}
}

// polled reads a definition that is waited for; mostPolls bounds such reads at the same time.
func (c *Cluster) polled(ctx context.Context, crd Target) (map[string]any, error) {
	select {
	case c.polls <- struct{}{}:
		defer func() { <-c.polls }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return c.Get(ctx, crd)
}

// neverEstablished is why a definition will not be served as it is; "" if it may yet be.
func neverEstablished(crd map[string]any) string {
	c := object.Unserved(crd)
	if c == nil {
		return ""
	}
	return shorten(fmt.Sprintf("%s is False: %s: %s", c["type"], merge.At[string](c, "reason"), merge.At[string](c, "message")), maxText)
}

// oldest is the minor version of the oldest Kubernetes 1 that is supported
// (docs/versioning.md).
const oldest = 34

// untyped are removed kinds that the client has no type of.
var untyped = map[string]struct {
	in          int
	replacement string
}{
	"autoscaling/v2beta1 HorizontalPodAutoscaler": {25, "autoscaling/v2"},
	"autoscaling/v2beta2 HorizontalPodAutoscaler": {26, "autoscaling/v2"},
	"batch/v2alpha1 CronJob":                      {21, "batch/v1"},
	"extensions/v1beta1 PodSecurityPolicy":        {16, ""},
	"policy/v1beta1 PodSecurityPolicy":            {25, ""},
}

// Removed returns the minor version of Kubernetes 1 that has removed a built-in kind in a version, 0
// if some supported server may have it, and the apiVersion that replaces it, "" for none
// (https://kubernetes.io/docs/reference/using-api/deprecation-guide/).
func Removed(group, version, kind string) (replacement string, in int) {
	if r, ok := untyped[group+"/"+version+" "+kind]; ok {
		return r.replacement, r.in
	}
	past, ok := Struct(group, version, kind).(interface{ APILifecycleRemoved() (major, minor int) })
	if !ok {
		return "", 0
	}
	major, in := past.APILifecycleRemoved()
	if major != 1 || in > oldest {
		return "", 0
	}
	if next, ok := past.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	}); ok {
		replacement = next.APILifecycleReplacement().GroupVersion().String()
	}
	return replacement, in
}
