package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/undo"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// except finds the objects that --partial leaves unchanged, so that the others are undone: those
// that --policy=strict leaves to the user, and those that the server refuses in a trial. It reports
// each.
func (u *undoing) except(ctx context.Context, notes *reporter) error {
	trial := dryServer
	if u.mode == dryClient {
		trial = dryClient
	}
	for found := true; found; {
		s, plan, err := u.open(ctx, trial)
		if err != nil {
			return err
		}
		s.Merge(ctx)
		found = u.unsettled(notes, s, plan)
		if u.mode == dryClient {
			return s.Failed()
		}
		if found {
			continue
		}
		s.Send(ctx, func(*run.Item) {})
		found = u.refused(notes, s)
	}
	return nil
}

// unsettled adds the objects for which the policy leaves a value to the user.
func (u *undoing) unsettled(notes *reporter, s *session, plan *undo.Undo) bool {
	if u.policy != "strict" {
		return false
	}
	found := false
	for _, l := range plan.Left() {
		u.left(notes, []undo.Left{l})
		found = u.omit(l.Target) || found
	}
	for _, item := range s.Items {
		if u.conflicts(notes, []*run.Item{item}) > 0 {
			found = u.omit(item.Target) || found
		}
	}
	return found
}

// refused adds the objects that the server refuses.
func (u *undoing) refused(notes *reporter, s *session) bool {
	found := false
	for _, item := range slices.Concat(s.Items, s.Others) {
		var reached *run.NotReached
		if item.Err != nil && !errors.As(item.Err, &reached) && u.omit(item.Target) {
			found = true
			u.left(notes, []undo.Left{{Target: item.Target, Reason: "is refused: " + escape.Line(strings.TrimPrefix(item.Err.Error(), item.Target.String()+": ")), Lost: true}})
		}
	}
	return found
}

// omit leaves an object unchanged. It is false if it is omitted already.
func (u *undoing) omit(t cluster.Target) bool {
	if u.omits(t) {
		return false
	}
	u.omitted = append(u.omitted, omittedKey(t))
	return true
}

func (u *undoing) omits(t cluster.Target) bool { return slices.Contains(u.omitted, omittedKey(t)) }

func omittedKey(t cluster.Target) string { return t.Namespace + " " + t.String() }

// noteOnce reports the finalizers that delay an object's deletion: with --partial it is decided
// about more than once.
func (u *undoing) noteOnce(t cluster.Target, text string) {
	if key := omittedKey(t); !u.quiet && !slices.Contains(u.waiting, key) {
		u.waiting = append(u.waiting, key)
		u.note(t.String(), text)
	}
}
