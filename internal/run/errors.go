package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// ErrInterrupted is why an item was not written when the user ended the run.
var ErrInterrupted = errors.New("the run was interrupted; merge again to finish it")

// ErrNotMerged is why an item was not even merged when the user ended the run: a
// diff ends like that, which writes nothing.
var ErrNotMerged = errors.New("the run was interrupted; run it again")

func notMerged(item *Item) error {
	return fmt.Errorf("%s: was not merged: %w", item.Target, ErrNotMerged)
}

// ObjectError is what is wrong with one object.
type ObjectError struct {
	Target cluster.Target
	Err    error
}

// Error is Err's text, which names the object where it is about it.
func (e *ObjectError) Error() string { return e.Err.Error() }

// Unwrap is Err.
func (e *ObjectError) Unwrap() error { return e.Err }

// Cause is the text without what is the object's own, which many objects may share:
// the same permission that is missing, the same namespace.
func (e *ObjectError) Cause() string {
	text := strings.TrimPrefix(e.Error(), e.Target.String()+": ")
	return strings.ReplaceAll(text, fmt.Sprintf("%q", e.Target.Name), `""`)
}

// NotReached says that an item is as it was because of what became of others.
type NotReached struct {
	Target cluster.Target
	Hindrance
}

// Hindrance is what keeps items from being written that are in order themselves.
type Hindrance struct {
	Because  string // "" where the run's other errors say it
	Way      string // what the user can do; "" with Because
	Conflict bool   // conflicts are left to the user, and nothing else is wrong
	DryRun   bool   // nothing was to be written anyway
	Prune    bool   // they are to be deleted
}

// Error names the object.
func (e *NotReached) Error() string { return e.Target.String() + ": " + e.rest("was", "would") }

// Summary is the same of n objects.
func (h Hindrance) Summary(n int) string {
	if n == 1 {
		return "1 object " + h.rest("was", "would")
	}
	return fmt.Sprintf("%d objects %s", n, h.rest("were", "would"))
}

func (h Hindrance) rest(did, would string) string {
	done := "written"
	if h.Prune {
		done = "pruned"
	}
	text := did + " not " + done + " because "
	if h.DryRun {
		text = would + " not be " + done + " because "
	}
	if h.Because == "" {
		return text + "of that: fix it, and merge again"
	}
	return text + h.Because + ": " + h.Way
}

// held: conflicts are left.
func (i *Item) held() bool { return i.Action() == Held }

// conflicts: some are left, and the user has not said to leave them.
func (i *Item) conflicts() bool { return i.held() && !i.Skipped }

// conflicting is the hindrance that the conflicts of the items are of which holds says
// so; none where there are none.
func conflicting(items []*Item, holds func(*Item) bool) (Hindrance, bool) {
	var names []string
	for _, item := range items {
		if holds(item) {
			names = append(names, item.Target.String())
		}
	}
	const most = 3
	h := Hindrance{Way: "settle them, or write the others with --partial", Conflict: true}
	switch n := len(names); {
	case n == 0:
		return Hindrance{}, false
	case n == 1:
		h.Because = names[0] + " has conflicts"
	case n <= most:
		h.Because = strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " have conflicts"
	default:
		h.Because = fmt.Sprintf("%s and %d more objects have conflicts", strings.Join(names[:most], ", "), n-most)
	}
	return h, true
}

// pruning is the same hindrance of what is to be deleted: no conflict may be left.
func (h Hindrance) pruning() Hindrance {
	if h.Prune = true; h.Because != "" {
		h.Way = "settle them, and merge again"
	}
	return h
}

// Held are the items that a dry run shows as written or deleted, and a run would leave
// as they are because others have conflicts: a *NotReached for each.
func (p *Plan) Held() error {
	var errs []error
	wait := func(items []*Item, h Hindrance) {
		h.DryRun = true
		for _, item := range items {
			if item.writes() || item.Action() == Delete {
				errs = append(errs, &NotReached{Target: item.Target, Hindrance: h})
			}
		}
	}
	if h, held := conflicting(p.Items, (*Item).conflicts); held && !p.Partial {
		wait(p.Items, h)
	}
	if h, held := conflicting(p.Items, (*Item).held); held {
		wait(p.Others, h.pruning())
	}
	return errors.Join(errs...)
}
