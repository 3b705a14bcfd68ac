// Package apply plans the write of one object: from the local object and the live one it computes
// what kubectl merge would write. It finds what was applied last and the type of the kind,
// merges, puts the new last-applied annotation on the result, and prepares the request.
//
// Plan is for controllers and other programs that hold objects as unstructured. A Planner with
// Subjects does the same for a program that keeps exact JSON values.
//
// The Planner's Writing says how an object is written (ClientSide, ServerSide); the engine
// does not depend on it.
//
// The package refuses to read objects and to send anything; the caller supplies the
// source of schemas.
package apply

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// DefaultManager is the field manager of kubectl apply: what kubectl apply or this program
// applied counts as applied by both.
const DefaultManager = "kubectl-client-side-apply"

// Option changes how Plan merges. The error reports a value that is not supported.
type Option func(*options) error

type options struct {
	Planner
	status *bool
}

// WithPolicy decides which side wins where local and live disagree; name is one of
// merge.Policies. Without it, the policy is apply: local wins.
func WithPolicy(name string) Option {
	return func(o *options) (err error) {
		o.Policy, err = merge.PolicyNamed(name)
		return err
	}
}

// WithStrategy selects how objects are merged; name is one of strategy.Strategies. Without
// it, the strategy is auto: by the type of each field.
func WithStrategy(name string) Option {
	return func(o *options) (err error) {
		o.Strategy, err = strategy.Named(name)
		return err
	}
}

// WithRules decides single fields, as the command's --rules does; see schema.ParseRules.
func WithRules(rules schema.Rules) Option {
	return func(o *options) error {
		o.Rules = &UserRules{Rules: rules}
		return nil
	}
}

// WithManager names the field manager that the caller writes with; values that it owns
// count as applied. Without it, DefaultManager.
func WithManager(name string) Option {
	return func(o *options) error {
		o.Manager = name
		return nil
	}
}

// WithSchemas sets the source of the types that are not compiled in, or lack fields there.
// Documents asks a server, Definitions a file. Without it, a list of a custom resource is
// one value, as for kubectl apply.
func WithSchemas(ask Schemas) Option {
	return func(o *options) error {
		o.Schemas = ask
		return nil
	}
}

// WithValidation sets how fields that the kind does not have are handled. Without it, Strict.
func WithValidation(v Validation) Option {
	return func(o *options) error {
		o.Validate = v
		return nil
	}
}

// WithStatus states whether the kind has a status subresource, so that status is not
// configuration. Without it, the compiled-in table decides; a custom resource has none.
func WithStatus(has bool) Option {
	return func(o *options) error {
		o.status = &has
		return nil
	}
}

// Plan merges one object. local is the desired object, as a file or a controller states it. live
// is what the API server returned, nil where there is no such object. Neither is modified. int64
// and float64 are taken exactly; object.FromUnstructured documents what is refused.
//
// Nothing is written. Check Err (what is left to decide), Action, Changes, Settled and
// Removed. Send Request, or Unstructured where Action is Create. An error names the object.
func Plan(ctx context.Context, local, live *unstructured.Unstructured, with ...Option) (Planned, error) {
	o := options{Planner: Planner{Policy: merge.Policies[0], Manager: DefaultManager, Validate: Strict}}
	for _, option := range with {
		if err := option(&o); err != nil {
			return Planned{}, err
		}
	}
	s, err := o.subject(local)
	if err != nil {
		return Planned{}, err
	}
	there, err := object.FromUnstructured(live)
	if err != nil {
		return Planned{}, fmt.Errorf("live: %w", err)
	}
	if there.Value != nil && !same(s.Object, there) {
		return Planned{}, fmt.Errorf("%s: live is %s: give the live form of the same object", s.Name, there)
	}
	return o.Planner.Plan(ctx, s, there.Value)
}

func (o *options) subject(local *unstructured.Unstructured) (Subject, error) {
	obj, err := object.FromUnstructured(local)
	if err != nil {
		return Subject{}, fmt.Errorf("local: %w", err)
	}
	if err := obj.Check(); err != nil {
		return Subject{}, fmt.Errorf("local: %w", err)
	}
	s := Subject{Object: obj, Name: obj.String()}
	if o.status != nil {
		s.HasStatus = *o.status
	} else if kind, known := schema.BuiltinKind(obj.Group(), obj.Version(), obj.Kind()); known {
		s.HasStatus = kind.HasStatus
	}
	return s, nil
}

// same reports whether live is the live form of local, which may leave out the namespace.
func same(local, live object.Object) bool {
	want, is := local.ID(), live.ID()
	if want.Namespace == "" {
		is.Namespace = ""
	}
	return want == is
}

// Unstructured returns the object to write, with its annotation: the new one for Create,
// live with the changes otherwise. It shares no memory with the plan. A number that fits
// neither int64 nor float64 is an error, which names the object and the field.
func (p Planned) Unstructured() (*unstructured.Unstructured, error) {
	return object.Object{Value: p.Final}.Unstructured()
}

// Err returns a *ConflictError where the policy leaves something to decide, else nil. A
// plan with conflicts must not be written: it holds live's values in their places.
func (p Planned) Err() error {
	if len(p.Conflicts) == 0 {
		return nil
	}
	return &ConflictError{Object: p.Subject.Name, Conflicts: p.Conflicts}
}

// ConflictError lists the conflicts that the policy leaves to the caller.
type ConflictError struct {
	Object    string               // deployment.apps/web
	Conflicts []merge.Disagreement // in path order, with the values of each side
}

// Error names the object and the fields with live's owners, and no value.
func (e *ConflictError) Error() string {
	fields := make([]string, len(e.Conflicts))
	for i, c := range e.Conflicts {
		fields[i] = c.Path.String()
		if c.Owner != nil {
			fields[i] += " (set by " + c.Owner.Manager + ")"
		}
	}
	return fmt.Sprintf("%s: local and live disagree: %s: decide with another policy or with rules", e.Object, strings.Join(fields, ", "))
}
