package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// reason is a row of reasons: what an error is, for programs.
type reason struct {
	name string
	is   func(error) bool // nil: only errors that are marked with the name
	wait bool             // the same run may succeed later, although nothing is changed

	// next returns argument vectors that are safe to run next; nil: there are none. field is the path of
	// the error, "" where there is none.
	next func(c *call, field string) [][]string
}

// reasons lists the reasons of all errors; the first that fits is an error's. docs/programs.md and
// docs/schemas/errors.v1.json have the same list.
var reasons = []reason{
	{name: "plan-required", next: toPlan},
	{name: "refused-by-profile"},
	{name: "beyond-plan", is: is[*surplusError], next: toPlan},
	{name: "plan-unusable", next: toPlan},
	{name: "managed-by-others", is: is[*guardError]},
	{name: "conflict", is: cluster.IsOwned, next: toKeep},
	{name: "not-reached", is: func(err error) bool { return is[*run.NotReached](err) || errors.Is(err, run.ErrNotPruned) }},
	{name: "outcome-unknown", is: among(write.ErrUnknown), wait: true, next: toRepeat},
	{name: "interrupted", is: among(run.ErrInterrupted, run.ErrNotMerged, context.Canceled, term.ErrInterrupted), wait: true, next: toRepeat},
	{name: "unanswered", is: among(term.ErrNoAnswer, ask.ErrQuit, ask.ErrNo)},
	{name: "being-deleted", is: among(apply.ErrDeleting), wait: true, next: toRepeat},
	{name: "other-set", is: is[*apply.OtherSet]},
	{name: "altered-by-server", is: is[*write.Different]},
	{name: "not-ready", is: is[*wait.NotReady], wait: true, next: toWait},
	{name: "wrong-namespace", is: is[*live.OtherNamespace], next: toPlace},
	{name: "unknown-field", is: unknownField},
	{name: "immutable", is: refusedFor(func(r *cluster.Refusal) bool { return len(r.Immutable)+len(r.Unchangeable()) > 0 }), next: toExplain},
	{name: "invalid", is: func(err error) bool {
		return is[*apply.Unfit](err) || is[*object.FieldError](err) || status(http.StatusUnprocessableEntity, http.StatusBadRequest)(err)
	}},
	{name: "syntax", is: is[*source.SyntaxError]},
	{name: "unknown-kind", is: is[*cluster.UnknownKindError]},
	{name: "no-namespace", is: refusedFor(func(r *cluster.Refusal) bool {
		return r.Code == http.StatusNotFound && r.Kind == "namespaces" && r.Target.Kind != "Namespace"
	}), next: toList},
	{name: "not-found", is: func(err error) bool {
		return status(http.StatusNotFound)(err) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, prune.ErrNoSet)
	}},
	{name: "unauthorized", is: status(http.StatusUnauthorized)},
	{name: "forbidden", is: status(http.StatusForbidden)},
	{name: "changed-meanwhile", is: status(http.StatusConflict), wait: true, next: toRepeat},
	{name: "server-error", is: refusedFor(func(r *cluster.Refusal) bool {
		return r.Code == http.StatusTooManyRequests || r.Code >= http.StatusInternalServerError
	}), wait: true, next: toRepeat},
	{name: "connection-setup", is: func(err error) bool {
		var u *cluster.Unreachable
		return errors.As(err, &u) && u.Setup
	}},
	{name: "unreachable", is: is[*cluster.Unreachable], wait: true, next: toRepeat},
	{name: "usage"},
	{name: "input"},
	{name: "other", is: func(error) bool { return true }},
}

// marked is an error whose reason its type does not tell.
type marked struct {
	error
	reason string
}

// Unwrap returns the error.
func (m *marked) Unwrap() error { return m.error }

// mark gives each of the errors joined in err a reason; nil for nil.
func mark(reason string, err error) error {
	var all []error
	for _, one := range leaves(err) {
		all = append(all, &marked{one, reason})
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(all...)
}

// reasonOf returns the row of an error.
func reasonOf(err error) reason {
	var m *marked
	errors.As(err, &m)
	i := slices.IndexFunc(reasons, func(r reason) bool { return m != nil && m.reason == r.name || r.is != nil && r.is(err) })
	return reasons[i]
}

// is reports whether an error of that type is in the chain.
func is[T error](err error) bool {
	var t T
	return errors.As(err, &t)
}

func among(targets ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
}

// refusedFor returns whether a server's refusal in the chain is as it says.
func refusedFor(is func(*cluster.Refusal) bool) func(error) bool {
	return func(err error) bool {
		var r *cluster.Refusal
		return errors.As(err, &r) && is(r)
	}
}

func status(codes ...int) func(error) bool {
	return refusedFor(func(r *cluster.Refusal) bool { return slices.Contains(codes, r.Code) })
}

// unknownField reports whether the kind of the object, here or on the server, lacks a field.
func unknownField(err error) bool {
	var u *apply.Unfit
	if errors.As(err, &u) {
		return u.Unknown
	}
	return refusedFor(func(r *cluster.Refusal) bool { return r.Code == http.StatusBadRequest && r.Field != "" })(err)
}

// fieldOf returns the path of the field that an error is about, as rules spell it; "" if it is about none.
func fieldOf(err error) string {
	var (
		unfit  *apply.Unfit
		faulty *object.FieldError
		syntax *source.SyntaxError
		r      *cluster.Refusal
		path   string
	)
	switch {
	case errors.As(err, &unfit):
		return unfit.Path.String()
	case errors.As(err, &faulty):
		path = faulty.Path
	case errors.As(err, &syntax):
		path = syntax.Path
	case errors.As(err, &r) && len(r.Immutable) > 0:
		path = r.Immutable[0]
	case errors.As(err, &r):
		path = r.Field
	}
	if _, err := merge.ParsePath(path); err != nil {
		return ""
	}
	return path
}
