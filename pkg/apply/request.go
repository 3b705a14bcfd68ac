package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/pkg/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/patch"
)

// Request is the write that a plan comes to.
type Request struct {
	// Type of Body: a merge patch, a JSON patch or a server-side apply. "" where Body is a new
	// object, or where there is nothing to write.
	Type types.PatchType

	// Force: a server-side apply takes fields over from others, as the plan has it.
	Force bool

	// Body is compact JSON, numbers digit for digit; nil where there is nothing to write.
	Body json.RawMessage

	// Version is the resourceVersion of the live object that was merged; "" where there is
	// none. Unless the request is pinned, the server refuses it with 409 Conflict once the
	// object has another.
	Version string
}

// Request is what is to be sent to write the plan. A pinned one is bound to the values that
// it replaces, by tests of a JSON patch; any other to the resourceVersion of the object that
// was merged.
//
// It is an error if live has no resourceVersion to be bound to, as a write could replace
// somebody else's. The error does not name the object.
func (p Planned) Request(pinned bool) (Request, error) {
	r := Request{Version: object.Object{Value: p.Live}.ResourceVersion()}
	var body any
	switch {
	case p.Action == Nothing:
		return r, nil
	case p.Action == Change && !pinned && r.Version == "":
		return r, errUnbound
	case p.Applying != nil && p.Applying.Owners == nil:
		r.Type, r.Force, body = types.ApplyYAMLPatchType, p.Applying.Force, p.Applying.body(r.Version, pinned)
	case p.Action == Create:
		body = p.Final
	default:
		r.Type, body = p.patch(r.Version, pinned)
	}
	var err error
	if r.Body, err = object.Encode(body); err != nil {
		return r, fmt.Errorf("cannot be written as JSON: %w", err)
	}
	return p.shortened(r)
}

// bulky is the size of a merge patch, in bytes, from which on it is worth looking for a shorter
// one.
const bulky = 8 << 10

// maxOps is how many operations the API server takes in a JSON patch
// (k8s.io/apiserver/pkg/endpoints/handlers/patch.go, maxJSONPatchOperations).
const maxOps = 10_000

// shortened is a request with a JSON patch where that is not half as long as a large merge patch, which
// has whole lists: a CustomResourceDefinition in which one field changes has all of its versions
// in a merge patch, and the server needs more time to apply that than for all else.
func (p Planned) shortened(r Request) (Request, error) {
	if r.Type != types.MergePatchType || len(r.Body) < bulky {
		return r, nil
	}
	ops := p.boundOps(r.Version, patch.Options{Bound: true})
	text, err := object.Encode(ops)
	if err != nil {
		return r, fmt.Errorf("cannot be written as JSON: %w", err)
	}
	if len(text) < len(r.Body)/2 && len(ops) <= maxOps {
		r.Type, r.Body = types.JSONPatchType, text
	}
	return r, nil
}

// boundOps is a JSON patch from Live to Final that begins with a test of the version.
func (p Planned) boundOps(version string, o patch.Options) []patch.Op {
	test := patch.Op{Op: "test", Path: "/metadata/resourceVersion", Value: version}
	return append([]patch.Op{test}, patch.JSON(p.Live, p.Final, o)...)
}

var errUnbound = errors.New("metadata.resourceVersion: the server gave none, so that a write could go over somebody else's: nothing was written")

// patch is the patch from Live to Final: a merge patch where it can express the change.
func (p Planned) patch(version string, pinned bool) (types.PatchType, any) {
	_, expressible := patch.Expressible(p.Live, p.Final)
	if expressible && !pinned {
		body, _ := patch.Merge(p.Live, p.Final)
		return types.MergePatchType, bound(body, version)
	}
	o := patch.Options{PinAbsent: true}
	if pinned {
		return types.JSONPatchType, patch.JSON(p.Live, p.Final, o)
	}
	return types.JSONPatchType, p.boundOps(version, o)
}

// bound is a merge patch with the resourceVersion of the object that was merged, so that
// the server refuses it if anybody has written since.
func bound(patch map[string]any, version string) map[string]any {
	meta := map[string]any{"resourceVersion": version}
	was, _ := patch["metadata"].(map[string]any)
	maps.Copy(meta, was)
	out := maps.Clone(patch)
	if out == nil {
		out = map[string]any{}
	}
	out["metadata"] = meta
	return out
}
