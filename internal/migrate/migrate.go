// Package migrate moves the ownership of objects' fields from client-side to server-side apply and
// back, without changing a value. It plans the moves from what was applied last, has the server try
// them, and writes them. It refuses to know flags, to ask and to print.
package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Direction states where ownership is moved to.
type Direction string

// The directions.
const (
	ToServerSide Direction = "server-side"
	ToClientSide Direction = "client-side"
)

// Planner plans migrations.
type Planner struct {
	Schemas apply.Schemas // may be nil
	To      Direction
	Manager string   // the applier on the server's side
	From    []string // managers whose fields are moved, besides those of client-side apply
	Named   bool     // there are no files: of the objects nothing is known but what identifies them
}

// Subject is an object that is to be migrated.
type Subject struct {
	apply.Subject // as a file has it

	// Served reports whether the server still has the kind in another version of its group.
	Served func(apiVersion string) bool
}

// Move is the planned migration of one object. Final differs from Live only in managedFields, and
// in the last-applied annotation.
type Move struct {
	apply.Planned
	Rows []Row

	// Trial is the applier's apply after the migration, with live's values: the server must find
	// neither a conflict in it nor a change. nil: nothing is applied.
	Trial map[string]any

	// Late states that it can be tried only afterwards, since the server refuses every apply as
	// long as managedFields name a version that it does not have.
	Late bool
}

// Plan plans the migration of one object. The error names the object.
func (p Planner) Plan(ctx context.Context, s Subject, live map[string]any) (Move, error) {
	m, err := p.plan(ctx, s, live)
	if err != nil {
		return m, fmt.Errorf("%s: %w", s.Name, err)
	}
	return m, nil
}

func (p Planner) plan(ctx context.Context, s Subject, live map[string]any) (Move, error) {
	m := Move{Planned: apply.Planned{Subject: s.Subject, Live: live, Final: live}}
	if live == nil {
		return m, apply.Absent(s.Subject)
	}
	if err := apply.Deleting(live); err != nil {
		return m, err
	}
	var err error
	if m.Type, err = p.merger("apply").TypeOf(ctx, s.Subject, live); err != nil {
		return m, err
	}
	c := change{Planner: p, Subject: s, Move: &m, rewrite: ownership.RewriteOf(live, p.Manager)}
	if p.To == ToClientSide {
		err = c.toClientSide()
	} else {
		err = c.toServerSide(ctx)
	}
	if err != nil {
		return m, err
	}
	c.sort()
	if !merge.Identical(m.Live, m.Final) {
		m.Action = apply.Change
	}
	return m, nil
}

// merger returns a planner that merges as kubectl merge --server-side does, by a policy.
func (p Planner) merger(policy string) *apply.Planner {
	by, _ := merge.PolicyNamed(policy)
	return &apply.Planner{Policy: by, Manager: p.Manager, Validate: apply.Ignore, Schemas: p.Schemas, Writing: apply.ServerSide{}}
}

// change is one migration that is being planned.
type change struct {
	Planner
	Subject
	*Move
	rewrite *ownership.Rewrite
}

func apiVersion(obj map[string]any) string { return object.Object{Value: obj}.APIVersion() }

// unnamed returns an error without the object's name, which is put before it once.
func unnamed(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}
