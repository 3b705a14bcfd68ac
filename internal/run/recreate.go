package run

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/impact"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// Recreation states which objects may be deleted and created again if the server refuses to change
// an immutable field of them. The zero value allows none.
type Recreation struct {
	Kinds       []string            // a kind or its plural, with .GROUP or without
	Propagation cluster.Propagation // what happens to their dependents
	Within      time.Duration       // how long a deleted object may still be there; 0: two minutes
}

// allows reports whether a kind is listed and is not one of cluster.Holding.
func (r Recreation) allows(kind cluster.Resource) bool {
	return kind.Recreatable() && slices.ContainsFunc(r.Kinds, func(name string) bool { return IsKind(kind, name) })
}

// IsKind reports whether a name is the kind's: Deployment, deployments or deployment.apps.
func IsKind(r cluster.Resource, name string) bool {
	short, group, qualified := strings.Cut(name, ".")
	return (strings.EqualFold(short, r.Kind) || strings.EqualFold(short, r.Plural)) && (!qualified || strings.EqualFold(group, r.Group))
}

// Fixed returns the fields of the item because of which it is deleted and created again, or is or
// would be refused: each can be set only once. nil: none.
func (i *Item) Fixed() []string {
	if r, ok := errors.AsType[*cluster.Refusal](i.Err); ok {
		return r.Immutable
	}
	return i.fixed
}

// expect predicts what the server will refuse to change, for previews without a server.
func (p *Plan) expect(item *Item) {
	item.asked()
	if item.Planned.Action != apply.Change || len(item.Planned.Conflicts) > 0 {
		return
	}
	if fixed := impact.Fixed(item.Planned); len(fixed) > 0 {
		item.Own()
		item.fixed, item.remedy = fixed, p.remedy(item)
		item.recreate = p.Recreate.allows(item.Target.Resource)
	}
}

// remedy returns what the user can do about a field of the item that can be set only once,
// beginning with a colon; "" if this run knows no way.
func (p *Plan) remedy(item *Item) string {
	switch {
	case !item.Target.Recreatable(), p.Write.For == cluster.Undoing:
		return ""
	case item.Planned.Applying != nil:
		return ": delete the object with kubectl delete, and merge again"
	}
	return ": --recreate=" + item.Target.Kind + " deletes the object and creates it again"
}

// asked drops the prediction: the server decides.
func (i *Item) asked() {
	i.recreate = false
	if i.fixed != nil {
		i.Own()
		i.fixed = nil
	}
}

// trials returns the ready items that are tried before the first is written: all if there are
// several, or those that may have to be deleted.
func (w *writer) trials() []*Item {
	todo := w.in(ready)
	if w.Preflight && (len(todo) > 1 || w.compares()) {
		return todo
	}
	return slices.DeleteFunc(todo, func(i *Item) bool { return !i.found || !w.Recreate.allows(i.Target.Resource) })
}

// ignored reports whether the server has accepted a plan, and has left the spec as it was. Of other kinds, what it
// has accepted without a change is a value that it stores in another way, or not at all: created again, it would be the same.
func (w *writer) ignored(item *Item, out write.Result) bool {
	return w.Recreate.allows(item.Target.Resource) && apply.RestoresSpec(item.Target.Group, item.Target.Kind) && len(impact.Fixed(out.Planned)) > 0
}

// instead decides what a refusal of an item means; nil: the server ignores the change. If a field of it can be set only once, and its
// kind may be recreated, the server tries that. Otherwise, or if it refuses that as well, the error
// is why the item cannot be written.
func (w *writer) instead(ctx context.Context, item *Item, planned apply.Planned, refusal error) (write.Result, error) {
	r, ok := errors.AsType[*cluster.Refusal](refusal)
	if refusal != nil && !ok || planned.Applying != nil || !w.Recreate.allows(item.Target.Resource) {
		return write.Result{}, refusal
	}
	if planned.Final != nil { // it may have been merged again
		item.Own()
		item.Planned = planned
	}
	var fixed []string
	switch {
	case r != nil && len(r.Immutable) > 0:
		fixed = r.Immutable
	case r == nil || r.Code == http.StatusUnprocessableEntity: // it may complain about what else the change entails
		fixed = impact.Fixed(item.Planned)
	}
	if len(fixed) == 0 {
		return write.Result{}, refusal
	}
	trial := w.server
	trial.Write.DryRun = true
	out, err := trial.Recreate(item.Meter.In(ctx), w.recreation(item))
	if err != nil {
		return write.Result{}, err
	}
	item.Own()
	item.recreate, item.fixed = true, fixed
	if err := w.bound(item, item.Planned); err != nil {
		item.asked()
		return write.Result{}, err
	}
	return out, nil
}

func (w *writer) recreation(item *Item) write.Recreation {
	return write.Recreation{Task: w.task(item), Propagation: w.Recreate.Propagation, Within: w.Recreate.Within}
}
