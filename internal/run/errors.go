package run

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// ErrUnwritten is the error of an object that was not written before the user stopped the run.
var ErrUnwritten = fmt.Errorf("was not written: %w", ErrInterrupted)

// ErrUnpruned is the error of an item that was not deleted before the user stopped the run.
var ErrUnpruned = fmt.Errorf("was not pruned: %w", ErrInterrupted)

// ErrInterrupted is the cause of what was not done before the user stopped the run.
var ErrInterrupted = errors.New("the run was interrupted; merge again to finish it")

// ErrNotMerged is the error of an item that was not merged before the user stopped the run.
var ErrNotMerged = errors.New("the run was interrupted; run it again")

func notMerged(item *Item) error {
	return fmt.Errorf("%s: was not merged: %w", item.Target, ErrNotMerged)
}

// ObjectError is an error of one object.
type ObjectError struct {
	Target cluster.Target
	Err    error

	object object.Object // the local one; the zero value where there is none
}

// Error returns the text of Err, which names the object.
func (e *ObjectError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ObjectError) Unwrap() error { return e.Err }

// Of returns an error of the same object.
func (e *ObjectError) Of(err error) *ObjectError {
	return &ObjectError{Target: e.Target, Err: err, object: e.object}
}

// Place returns where the object that a server refused is in its file, in parentheses after a space:
// the lines of the fields that the refusal names, or of the object if it names none. "" if the
// refusal is not about the object, or that is not from a file. The file is read again for it.
func (e *ObjectError) Place() string {
	var r *cluster.Refusal
	if e == nil || !errors.As(e.Err, &r) || !r.OfObject() || e.object.Origin.File == "" {
		return ""
	}
	var paths []merge.Path
	for _, field := range r.Fields {
		if path, err := merge.ParsePath(field); err == nil {
			paths = append(paths, path)
		}
	}
	return " (" + source.At(e.object, paths...) + ")"
}

// Cause returns the text without the object's name, so that errors with the same cause, such as a
// missing permission, can be grouped.
func (e *ObjectError) Cause() string {
	text := strings.TrimPrefix(e.Error(), e.Target.String()+": ")
	return strings.ReplaceAll(text, fmt.Sprintf("%q", e.Target.Name), `""`)
}

// NotReached is the error of an item that was not written because of other items.
type NotReached struct {
	Target cluster.Target
	Hindrance
}

// Hindrance is why items without an error of their own are not written.
type Hindrance struct {
	Because  string // "": the other errors of the run
	Fix      string // what the user can do; with an empty Because the last part of it, "" to merge again
	Conflict bool   // conflicts are the only reason
	DryRun   bool   // the run is a dry run
	Prune    bool   // the items are to be deleted
}

// Error names the object, and refers to the other errors of the run, which are shown with it.
func (e *NotReached) Error() string {
	return e.Target.String() + ": " + e.rest("was", "of that: fix it")
}

// Reason is for a report in which each object is shown by itself.
func (e *NotReached) Reason() string { return e.rest("was", "of the errors of others: fix them") }

// Summary returns the text for n objects.
func (h Hindrance) Summary(n int) string {
	return diff.Count(n, "object "+h.rest("was", "of that: fix it"), "objects "+h.rest("were", "of that: fix it"))
}

func (h Hindrance) rest(did, errs string) string {
	text := did + " not "
	if h.DryRun {
		text = "would not be "
	}
	text += map[bool]string{false: "written", true: "pruned"}[h.Prune] + " because "
	if h.Because == "" {
		return text + errs + ", and " + cmp.Or(h.Fix, "merge again")
	}
	return text + h.Because + ": " + h.Fix
}

// held reports whether the item has conflicts, or was skipped.
func (i *Item) held() bool { return i.Action() == apply.Held }

// conflicts reports whether the item has conflicts that the user has not skipped.
func (i *Item) conflicts() bool { return i.held() && !i.Skipped }

// conflicting returns the hindrance caused by the conflicts of the items for which blocks is true;
// false if there are none.
func conflicting(items []*Item, blocks func(*Item) bool) (Hindrance, bool) {
	var names []string
	skipped := 0
	for _, item := range items {
		if blocks(item) {
			names = append(names, item.Target.String())
			if len(item.Planned.Conflicts) == 0 {
				skipped++
			}
		}
	}
	const most = 3
	has, have := " has conflicts", " have conflicts"
	switch {
	case skipped == len(names):
		has, have = " was skipped", " were skipped"
	case skipped > 0:
		have = " were skipped or have conflicts"
	}
	h := Hindrance{Fix: "settle them, or write the others with --partial", Conflict: true}
	switch n := len(names); {
	case n == 0:
		return Hindrance{}, false
	case n == 1:
		h.Because = names[0] + has
	case n <= most:
		h.Because = strings.Join(names[:n-1], ", ") + " and " + names[n-1] + have
	default:
		h.Because = fmt.Sprintf("%s and %d more objects%s", strings.Join(names[:most], ", "), n-most, have)
	}
	return h, true
}

// pruning returns the same hindrance for deletions, which --partial does not allow either.
func (h Hindrance) pruning() Hindrance {
	if h.Prune = true; h.Because != "" {
		h.Fix = "settle them, and merge again"
	}
	return h
}

// Held joins a *NotReached for each item that a dry run shows as written or deleted and that a run
// would not touch because of errors of others, or of conflicts. nil if there are none.
func (p *Plan) Held() error {
	var errs []error
	p.waiting(func(item *Item, h Hindrance) {
		h.DryRun = true
		errs = append(errs, &NotReached{Target: item.Target, Hindrance: h})
	})
	return errors.Join(errs...)
}

// Waiting returns the items of which Held has an error.
func (p *Plan) Waiting() map[*Item]bool {
	found := map[*Item]bool{}
	p.waiting(func(item *Item, _ Hindrance) { found[item] = true })
	return found
}

// waiting calls each for every item that would be written or deleted, were there no errors and conflicts.
func (p *Plan) waiting(each func(*Item, Hindrance)) {
	wait := func(items []*Item, h Hindrance) {
		for _, item := range items {
			if item.Err == nil && item.Action().Writes() {
				each(item, h)
			}
		}
	}
	switch h, held := conflicting(p.Items, (*Item).conflicts); {
	case p.Failed() != nil:
		wait(p.Items, Hindrance{})
	case held && !p.Partial:
		wait(p.Items, h)
	}
	if h, held := conflicting(p.Items, (*Item).held); held {
		wait(p.Others, h.pruning())
	}
}
