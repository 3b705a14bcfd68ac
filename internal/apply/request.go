package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/patch"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// Request is the write that carries out a plan.
type Request struct {
	// Type of Body: a merge patch, a JSON patch or a server-side apply. "" where Body is a new
	// object, or where there is nothing to write.
	Type types.PatchType

	// Force: a server-side apply takes fields over from others, as planned.
	Force bool

	// Body is compact JSON, numbers digit for digit; nil where there is nothing to write.
	Body json.RawMessage

	// Version is the resourceVersion of the live object that was merged; "" where there is
	// none. Unless the request is pinned, the server refuses it with 409 Conflict once the
	// object has another.
	Version string

	UID string // of that object
}

// NoVersion is a resourceVersion that no object has: a server-side apply bound to it creates an
// object, and is a conflict if one exists.
const NoVersion = "1"

// Request returns the write that carries out the plan. A pinned one is bound to the values
// that it replaces, by tests of a JSON patch. Any other is bound to the resourceVersion of
// the object that was merged.
//
// It is an error if live has no resourceVersion to bind to, as a write could replace
// another manager's. The error does not name the object.
func (p Planned) Request(pinned bool) (Request, error) {
	live := object.Object{Value: p.Live}
	r := Request{Version: live.ResourceVersion(), UID: live.UID()}
	var body any
	switch {
	case p.Action == Nothing:
		return r, nil
	case p.Action == Change && !pinned && r.Version == "":
		return r, errUnbound
	case p.Applying != nil && p.Applying.Owners == nil:
		at := r.Version
		if p.Action == Create {
			at = NoVersion
		}
		r.Type, r.Force, body = types.ApplyYAMLPatchType, p.Applying.Force, p.Applying.body(at, r.UID, pinned)
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

// bulky is the size of a merge patch, in bytes, from which a shorter one is looked for.
const bulky = 8 << 10

// maxOps is the number of operations that the API server accepts in a JSON patch
// (k8s.io/apiserver/pkg/endpoints/handlers/patch.go, maxJSONPatchOperations).
const maxOps = 10_000

// shortened replaces a large merge patch by a JSON patch of less than half its length. A
// merge patch has whole lists: when one field of a CustomResourceDefinition changes, it has
// all versions, and the server needs more time to apply that than for all else.
func (p Planned) shortened(r Request) (Request, error) {
	if r.Type != types.MergePatchType || len(r.Body) < bulky {
		return r, nil
	}
	ops := p.opsAfter(r.Version, true)
	text, err := object.Encode(ops)
	if err != nil {
		return r, fmt.Errorf("cannot be written as JSON: %w", err)
	}
	if len(text) < len(r.Body)/2 && len(ops) <= maxOps {
		r.Type, r.Body = types.JSONPatchType, text
	}
	return r, nil
}

// opsAfter returns patch.JSON from Live to Final, behind a test of the version.
func (p Planned) opsAfter(version string, bound bool) []patch.Op {
	test := patch.Op{Op: "test", Path: "/metadata/resourceVersion", Value: version}
	return append([]patch.Op{test}, patch.JSON(p.Live, p.Final, bound)...)
}

var errUnbound = errors.New("metadata.resourceVersion: the server gave none, so that a write could go over another client's: nothing was written")

// patch returns the patch from Live to Final: a merge patch where it can express the change.
func (p Planned) patch(version string, pinned bool) (types.PatchType, any) {
	body, expressible := patch.Merge(p.Live, p.Final)
	if expressible && !pinned {
		return types.MergePatchType, bound(body, version)
	}
	if pinned {
		return types.JSONPatchType, patch.JSON(p.Live, p.Final, false)
	}
	return types.JSONPatchType, p.opsAfter(version, false)
}

// bound returns a merge patch with the resourceVersion of the object that was merged, so
// that the server refuses it after any other write.
func bound(patch map[string]any, version string) map[string]any {
	meta := map[string]any{"resourceVersion": version}
	maps.Copy(meta, merge.At[map[string]any](patch, "metadata"))
	return merge.With(patch, meta, "metadata")
}

// Kept stores a plan, without local and live, in little memory. From it and the two objects
// the plan is made again without a merge.
type Kept struct {
	Patch []byte // JSON merge patch from live to the object to write; may be stored elsewhere meanwhile

	plan Planned // without its sides
}

// Keep returns the Kept of a plan that the planner has made. It is nil where only another
// merge makes the plan again: where more than the changes is reported, or where a rule, the
// user or another strategy decided something.
func (p *Planner) Keep(plan Planned) *Kept {
	o := plan.Output
	reported := len(o.Conflicts) + len(o.Settled) + len(o.Removed) + len(o.Undecided) + len(o.Extras) + len(o.Adoptable) +
		len(o.Ignored) + len(o.Uncompared) + len(o.Defaulted) + len(o.Because) + len(o.Reordered) + len(o.Doubtful)
	switch {
	case plan.Action != Change || plan.Applying != nil || plan.Sensitive != nil || reported > 0,
		p.Rules != nil || len(o.Rules) > 0 || p.Strategy.Name != "" && p.Strategy.Name != strategy.Strategies[0].Name,
		!merge.Identical(lastapplied.Without(plan.Final), plan.Result):
		return nil
	}
	body, expressible := patch.Merge(plan.Live, plan.Final)
	text, err := object.Encode(body) // in memory that it does not share
	if err != nil || !expressible {
		return nil
	}
	return &Kept{Patch: text, plan: Planned{Action: plan.Action, Type: plan.Type, FromOwners: plan.FromOwners, Problems: plan.Problems}}
}

// Plan makes the plan again, from the subject and the live object of the first merge. The
// error names the object.
func (k *Kept) Plan(s Subject, live map[string]any) (Planned, error) {
	body, err := merge.ReadJSON(k.Patch)
	if err != nil {
		return Planned{}, fmt.Errorf("%s: what changes cannot be read again: %w", s.Name, err)
	}
	p := k.plan
	p.Subject, p.Live = s, live
	p.Final, _ = patch.ApplyMerge(live, body).(map[string]any)
	p.Result = lastapplied.Without(p.Final)
	typ := p.Type
	if typ == nil {
		typ = schema.Resource() // as a strategy has it where the kind is unknown
	}
	p.Changes = merge.Diff(lastapplied.Without(live), p.Result, typ)
	return p, nil
}

// Recreation returns the object to create after the live one, with which the plan was merged, has
// been deleted. It holds what local states, and what else is configured in live and stays in the
// plan, by managedFields (docs/outcomes.md#recreate). Every manager's fields count, since an
// earlier recreation made others' fields the applier's. What the server has allocated, filled in
// or written (uid, clusterIP, defaults, status), and what the control plane has set, is left out:
// the new object gets its own. It carries the plan's last-applied annotation.
//
// It is an error if nothing was merged with a live object. The error does not name the object.
func (p Planned) Recreation() (map[string]any, error) {
	if p.Live == nil || p.Final == nil {
		return nil, errors.New("there is no live object that could be replaced")
	}
	local := lastapplied.WithoutNullAnnotations(lastapplied.FoldStringData(p.Configuration(p.Value)))
	stated := merge.Three(merge.Triple{Local: local, Live: configured(p.Live, p.Type)}, p.Type, merge.Policies[0], false).Result
	final := lastapplied.Without(p.Final)
	changes := slices.DeleteFunc(merge.Diff(stated, final, p.Type), func(c merge.Change) bool {
		return c.Op == merge.OpSet && !c.Old.Set // no side has stated it
	})
	body, err := merge.Replay(stated, changes)
	if err != nil {
		return nil, err
	}
	return p.carried(body, p.Final), nil
}

// Recreated returns the object that is expected in place of the live one, which is deleted: the plan's, with the
// values that the server had made of others (requests of limits) as it would now make them.
func (p Planned) Recreated() map[string]any {
	body, err := p.Recreation()
	live, final := merge.NewFinder(p.Live, p.Type), merge.NewFinder(p.Final, p.Type)
	changes := slices.DeleteFunc(merge.Diff(p.Final, merge.Complete(body, p.Type, true), p.Type), func(c merge.Change) bool {
		return err != nil || !live.Refilled(c.Path) || final.Refilled(c.Path)
	})
	out, err := merge.Replay(p.Final, changes)
	if err != nil {
		return p.Final
	}
	return merge.At[map[string]any](out)
}

// Former returns the body that creates the live object again as it was configured, after it
// has been deleted. It holds what any manager but the control plane has set, by
// managedFields, what was applied last, even if the server allocates it where it is not stated, and
// the last-applied annotation that it had. Where managedFields name no manager, it holds all but status.
func (p Planned) Former() map[string]any {
	if ownership.Of(p.Live) == nil {
		return p.carried(p.Live, p.Live)
	}
	body := merge.Three(merge.Triple{Local: lastapplied.Identity(p.Live), Live: configured(ownership.WithApplied(p.Live, p.Type), p.Type)}, p.Type, merge.Policies[0], false).Result
	return p.carried(body, p.Live)
}

// carried returns a body, which is an object, with the set and the last-applied annotation of another.
func (p Planned) carried(body any, from map[string]any) map[string]any {
	body, _ = lastapplied.Strip(lastapplied.Without(body), p.HasStatus)
	if id := lastapplied.SetOf(from); id != "" {
		body = lastapplied.WithSet(body, id)
	}
	if text := lastapplied.Read(from).Text; text != "" {
		body = lastapplied.With(body, text)
	}
	return merge.At[map[string]any](body)
}

// configured returns what any manager but the control plane has set in live, without what
// was filled in; nil if managedFields name no manager.
func configured(live map[string]any, typ *merge.Type) any {
	if ownership.Of(live) == nil {
		return nil
	}
	users := func(manager string) bool { return !schema.ControlPlane(manager) && manager != merge.Unrecorded }
	return ownership.Original(live, ownership.Holders{Has: func(manager, _ string) bool { return users(manager) }, Scaled: users}, typ)
}
