package cluster

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// Propagation is what happens to the objects that are owned by one that is deleted.
type Propagation string

// The propagations, as the API spells them.
const (
	Background Propagation = "Background" // they are deleted after it
	Foreground Propagation = "Foreground" // they are deleted before it
	Orphan     Propagation = "Orphan"     // they stay
)

// Deletion is how an object is to be deleted.
type Deletion struct {
	UID             string // the object must still be this one
	ResourceVersion string // and, unless "", as it was in this version
	Propagation     Propagation
	DryRun          bool // the server checks all of it and deletes nothing
}

// Delete deletes one object. What is left of it is the object as it is being deleted, its
// finalizers among its metadata; nil where it is gone. Where the server asks to wait, it is
// sent again afterwards, up to Patience in all. The error is IsConflict where the
// object is not as the Deletion requires, and IsNotFound where there is none.
func (c *Cluster) Delete(ctx context.Context, t Target, d Deletion) (left map[string]any, err error) {
	preconditions := map[string]any{"uid": d.UID}
	if d.ResourceVersion != "" {
		preconditions["resourceVersion"] = d.ResourceVersion
	}
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
	if d.Propagation != "" {
		options["propagationPolicy"] = string(d.Propagation)
	}
	req := c.request("DELETE", t).Name(t.Name).SetHeader("Content-Type", "application/json")
	if d.DryRun { // the server reads the body alone; what stands between may read the URL
		options["dryRun"] = []string{"All"}
		req.Param("dryRun", "All")
	}
	data, err := object.Encode(options)
	if err != nil {
		return nil, err
	}
	obj, err := c.object(ctx, t, "delete", req.Body(data).MaxRetries(0))
	for pauses := (Pauses{Most: c.Patience()}); err != nil; {
		if asked, failed := pauses.Obey(ctx, err); !asked || failed != nil {
			return nil, cmp.Or(failed, err)
		}
		obj, err = c.object(ctx, t, "delete", req)
	}
	meta, _ := obj["metadata"].(map[string]any)
	if obj["kind"] == "Status" || str(meta, "deletionTimestamp") == "" {
		return nil, nil
	}
	return obj, nil
}

// Apply sends a server-side apply (KEP-555) and returns the object as stored. Fields that
// the manager owned and obj lacks are removed; those that another one owns are an error
// that is IsConflict, unless w.Force is set.
func (c *Cluster) Apply(ctx context.Context, t Target, obj any, w Write) (map[string]any, error) {
	req := c.patch(t, types.ApplyYAMLPatchType)
	if w.Force {
		req.Param("force", "true")
	}
	if w.For == Merging {
		w.For = Applying
	}
	return c.send(ctx, call{t, "patch", req}, obj, w)
}
