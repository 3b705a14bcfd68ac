package cluster

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Propagation states what happens to the dependents of an object that is deleted.
type Propagation string

// The propagations, as the API spells them.
const (
	Background Propagation = "Background" // dependents are deleted after the owner
	Foreground Propagation = "Foreground" // dependents are deleted before the owner
	Orphan     Propagation = "Orphan"     // dependents stay
)

// Deletion holds the options of a deletion.
type Deletion struct {
	UID             string // precondition: the UID of the object
	ResourceVersion string // precondition, unless ""
	Propagation     Propagation
	DryRun          bool // the server checks the request and deletes nothing
}

// Delete deletes one object. left is the object as it is being deleted, with its finalizers; nil if
// it no longer exists. If the server asks to wait, the request is sent again afterwards, up to
// Patience in total. The error is IsConflict if the object does not meet the Deletion's
// preconditions, and IsNotFound if there is none.
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
	if d.DryRun { // the server reads only the body; a proxy may read the URL
		options["dryRun"] = []string{"All"}
		req.Param("dryRun", "All")
	}
	data, err := object.Encode(options)
	if err != nil {
		return nil, err
	}
	obj, err := c.requestObject(ctx, t, "delete", req.Body(data).MaxRetries(0))
	for pauses := (Pauses{Most: c.Patience()}); err != nil; {
		if asked, failed := pauses.Obey(ctx, err); !asked || failed != nil {
			return nil, cmp.Or(failed, err)
		}
		obj, err = c.requestObject(ctx, t, "delete", req)
	}
	if obj["kind"] == "Status" || merge.At[string](merge.At[map[string]any](obj, "metadata"), "deletionTimestamp") == "" {
		return nil, nil
	}
	return obj, nil
}

// Apply sends a server-side apply (KEP-555) and returns the object as stored. Fields that the
// manager owned and obj lacks are removed. Fields of another manager lead to an error that is
// IsConflict, unless w.Force is set.
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
