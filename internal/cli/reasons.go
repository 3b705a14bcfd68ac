package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
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
	{name: "beyond-plan", is: anError[*surplusError](), next: toPlan},
	{name: "plan-unusable", next: toPlan},
	{name: "managed-by-others", is: anError[*guardError]()},
	{name: "conflict", is: cluster.IsOwned, next: toKeep},
	{name: "not-reached", is: either(anError[*run.NotReached](), among(run.ErrNotPruned))},
	{name: "outcome-unknown", is: among(write.ErrUnknown), wait: true, next: toRepeat},
	{name: "interrupted", is: among(run.ErrInterrupted, run.ErrNotMerged, context.Canceled, term.ErrInterrupted), wait: true, next: toRepeat},
	{name: "unanswered", is: among(term.ErrNoAnswer, ask.ErrQuit, ask.ErrNo)},
	{name: "being-deleted", is: among(apply.ErrDeleting), wait: true, next: toRepeat},
	{name: "other-set", is: anError[*apply.OtherSet]()},
	{name: "altered-by-server", is: anError[*write.Different]()},
	{name: "not-ready", is: anError[*wait.NotReady](), wait: true, next: toWait},
	{name: "wrong-namespace", is: anError[*live.OtherNamespace](), next: toPlace},
	{name: "unknown-field", is: either(anError(func(u *apply.Unfit) bool { return u.Unknown }), anError(func(r *cluster.Refusal) bool { return r.Code == http.StatusBadRequest && r.Fields != nil }))},
	{name: "immutable", is: anError(func(r *cluster.Refusal) bool { return len(r.Immutable)+len(r.Unchangeable()) > 0 }), next: toExplain},
	{name: "invalid", is: either(anError[*apply.Unfit](), anError[*object.FieldError](), status(http.StatusUnprocessableEntity, http.StatusBadRequest))},
	{name: "syntax", is: anError[*source.SyntaxError]()},
	{name: "unknown-kind", is: anError[*cluster.UnknownKindError]()},
	{name: "no-namespace", is: anError(func(r *cluster.Refusal) bool {
		return r.Code == http.StatusNotFound && r.Kind == "namespaces" && r.Target.Kind != "Namespace"
	}), next: toList},
	{name: "connection-setup", is: anError(func(u *cluster.Unreachable) bool { return u.Setup })},
	{name: "not-found", is: either(status(http.StatusNotFound), among(fs.ErrNotExist, prune.ErrNoSet, apply.ErrAbsent))},
	{name: "unauthorized", is: status(http.StatusUnauthorized)},
	{name: "forbidden", is: status(http.StatusForbidden)},
	{name: "changed-meanwhile", is: status(http.StatusConflict), wait: true, next: toRepeat},
	{name: "server-error", is: anError(func(r *cluster.Refusal) bool { return cluster.Busy(r.Code) }), wait: true, next: toRepeat},
	{name: "unreachable", is: either(anError[*cluster.Unreachable](), anError[*net.OpError]()), wait: true, next: toRepeat},
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
	return errors.Join(each(leaves(err), func(one error) error { return &marked{one, reason} })...)
}

func reasonOf(err error) reason {
	m, _ := errors.AsType[*marked](err)
	return reasons[slices.IndexFunc(reasons, func(r reason) bool { return m != nil && m.reason == r.name || r.is != nil && r.is(err) })]
}

// anError returns whether an error of that type, and as are says, is in the chain.
func anError[T error](are ...func(T) bool) func(error) bool {
	return func(err error) bool {
		t, ok := errors.AsType[T](err)
		return ok && !slices.ContainsFunc(are, func(is func(T) bool) bool { return !is(t) })
	}
}

func either(all ...func(error) bool) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(all, func(is func(error) bool) bool { return is(err) })
	}
}

func among(targets ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
	}
}

func status(codes ...int) func(error) bool {
	return anError(func(r *cluster.Refusal) bool { return slices.Contains(codes, r.Code) })
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
	case errors.As(err, &r) && len(r.Fields) > 0:
		path = r.Fields[0]
	}
	if _, err := merge.ParsePath(path); err != nil {
		return ""
	}
	return path
}

// leftOut lists the flags that no suggested command has: with these more may be lost, a preview is no run,
// and credentials are not repeated.
var leftOut = []string{"recreate", "force-conflicts", "yes", "save-rules", "dry-run", "interactive", "token", "password"}

// private reports whether an address among the flags may hold credentials, which no suggested command repeats.
func (c *call) private() (found bool) {
	c.cmd.Flags().Visit(func(f *pflag.Flag) {
		_, rest, address := strings.Cut(f.Value.String(), "://")
		found = found || address && strings.ContainsAny(rest, "@?")
	})
	return found
}

// vector returns a command with the user's flags that it takes and more does not replace, and with more.
func (c *call) vector(command string, takes func(name string) bool, more ...string) []string {
	out := strings.Fields(command)
	c.cmd.Flags().Visit(func(f *pflag.Flag) {
		replaced := slices.ContainsFunc(more, func(m string) bool { return strings.HasPrefix(m, "--"+f.Name+"=") })
		if !replaced && !slices.Contains(leftOut, f.Name) && takes(f.Name) {
			out = append(out, "--"+f.Name+"="+plainValue(f))
		}
	})
	return append(out, more...)
}

// shared reports whether all verbs take a flag.
func (c *call) shared(name string) bool { return c.cmd.Root().PersistentFlags().Lookup(name) != nil }

// isAmong reports whether rows have a flag that is not refused.
func isAmong(rows []*flagRow, name string) bool {
	return slices.ContainsFunc(rows, func(f *flagRow) bool { return f.name == name && f.advice == "" })
}

// reading returns the vector of a verb over the objects of this call; nil for calls that do not merge them.
func (c *call) reading(verb string, more ...string) [][]string {
	if !slices.Contains(strings.Fields(plans+" wait"), c.verb.name()) {
		return nil
	}
	names, _ := namesAndFields(c.cmd.Flags().Args())
	takes := func(name string) bool { return c.shared(name) || isAmong(rowsOf()[verb], name) }
	return [][]string{append(c.vector(c.cmd.Root().CommandPath()+" "+verb, takes, more...), names...)}
}

// toPlan makes the plan that a run can be bound to.
func toPlan(c *call, _ string) [][]string { return c.reading("diff", "--output=plan") }

// toKeep makes the plan with which all that others have set stays.
func toKeep(c *call, _ string) [][]string {
	more := []string{"--policy=live"}
	if c.given("overwrite") { // --overwrite=false is another policy
		more = append(more, "--overwrite=true")
	}
	return c.reading("diff", append(more, "--output=plan")...)
}

// toExplain shows what the sides have at a field.
func toExplain(c *call, field string) [][]string {
	next := c.reading("explain", "--output=json")
	if next != nil && field != "" {
		next[0] = append(next[0], field)
	}
	return next
}

// toWait waits for the objects again.
func toWait(c *call, _ string) [][]string { return c.reading("wait") }

// toRepeat runs the same command; nil for one that asks before it writes.
func toRepeat(c *call, _ string) [][]string {
	if c.given("interactive") {
		return nil
	}
	var more []string
	if f := c.cmd.Flags().Lookup("dry-run"); f != nil && f.Changed {
		more = []string{"--dry-run=" + f.Value.String()}
	}
	all := func(string) bool { return true }
	return [][]string{append(c.vector(c.cmd.CommandPath(), all, more...), c.cmd.Flags().Args()...)}
}

// toPlace runs the same command, with the objects in their own namespaces.
func toPlace(c *call, field string) [][]string {
	return each(toRepeat(c, field), func(v []string) []string {
		return slices.DeleteFunc(v, func(word string) bool { return strings.HasPrefix(word, "--namespace=") })
	})
}

// toList lists the namespaces that there are.
func toList(c *call, _ string) [][]string {
	return [][]string{c.vector("kubectl get namespaces", func(name string) bool {
		return name != "namespace" && c.shared(name) && !isAmong(rowsOf()["every"], name)
	})}
}

// failure prints an error for programs: a note, its reason, and what can be run next.
func (e *env) failure(n diff.Note, err error) {
	r, field := reasonOf(err), fieldOf(err)
	more := struct {
		Reason    string     `json:"reason"`
		Path      string     `json:"path,omitempty"`
		Retryable bool       `json:"retryable"`
		Next      [][]string `json:"next"`
	}{r.name, field, r.wait, [][]string{}}
	if r.next != nil && e.ran != nil && !e.ran.private() {
		more.Next = append(more.Next, r.next(e.ran, field)...)
	}
	head, bad := n.MarshalJSON()
	tail, worse := json.Marshal(more)
	if bad == nil && worse == nil { // only stdout matters
		_ = escape.WriteJSON(e.ErrOut, json.RawMessage(string(head[:len(head)-1])+","+string(tail[1:])), "")
	}
}
