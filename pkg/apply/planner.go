// Package apply is stable: what a release has keeps its meaning (docs/versioning.md). It plans
// the write of one object for controllers: from the desired object and the live one, which the
// caller has from an informer's cache, it computes whether anything has to be written, what, why,
// and whose value it replaces. The write is data that client-go or controller-runtime sends.
//
// A Planner is made once and used by all goroutines. Types, which may be shared by several
// Planners, has the types of custom resources; the built-in kinds are compiled in.
//
// The package refuses to read objects, to send anything, and to modify its arguments. Changes,
// warnings and errors hold no value of a Secret.
package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// ErrDeleting is in the chain of Planner.Plan's error where live is being deleted. What is written
// to such an object is deleted with it: plan again once it is gone.
var ErrDeleting = apply.ErrDeleting

// Options of New. Only Manager is needed.
type Options struct {
	// Manager is the field manager that the caller writes with. Values that it owns count as
	// applied by the caller.
	Manager string

	// ServerSide plans server-side apply. What was applied last is then the manager's Apply entry
	// in live's managedFields, so a cache must keep managedFields. Without it the write is a merge
	// patch, bound to live's resourceVersion.
	ServerSide bool

	// Annotation is the key of the annotation that keeps what was applied last, for merge patches.
	// "" is kubectl apply's, so that kubectl and the caller continue each other's work; give a key
	// of your own where users apply to the same objects. See also Planner.Since.
	Annotation string

	// Policy decides where desired and live disagree, by a name that the command has for --policy.
	// "" is apply: desired wins. With strict the disagreement is a *ConflictError.
	Policy string

	// Rules decide single fields, in the YAML of the command's --rules (docs/semantics.md): a rule
	// with `winner: live` leaves spec.replicas to an autoscaler.
	Rules []byte

	// Labels are added to every desired object, where it does not state them itself.
	Labels map[string]string

	// Types has the types of what is not built in. Without it, a list of a custom resource is one
	// value.
	Types *Types

	// Scheme knows the apiVersion and kind of typed objects whose TypeMeta is empty; a
	// *runtime.Scheme is one.
	Scheme runtime.ObjectTyper
}

// Planner plans the writes of objects. It is safe for concurrent use; its methods return copies.
type Planner struct {
	engine apply.Planner
	types  *Types
	scheme runtime.ObjectTyper
	labels map[string]string
	owners []metav1.OwnerReference
	err    error
}

// New returns a Planner. It is an error if Manager is missing, if Policy or Rules cannot be read,
// or if Annotation is combined with ServerSide.
func New(o Options) (*Planner, error) {
	p := &Planner{types: o.Types, scheme: o.Scheme, labels: o.Labels}
	p.engine = apply.Planner{Manager: o.Manager, Validate: apply.Warn, Schemas: o.Types.find}
	policy, err := merge.PolicyNamed(o.Policy)
	switch {
	case o.Manager == "":
		return nil, errors.New("apply: Manager: is not set: name the field manager that you write with")
	case o.ServerSide && o.Annotation != "":
		return nil, errors.New("apply: Annotation: server-side apply keeps what was applied in managedFields: leave one of them out")
	case o.Policy == "":
		policy = merge.Policies[0]
	case err != nil:
		return nil, fmt.Errorf("apply: Policy: %w", err)
	}
	p.engine.Policy = policy
	if len(o.Rules) > 0 {
		rules, err := schema.ParseRules(o.Rules)
		if err != nil {
			return nil, fmt.Errorf("apply: Rules: %w", err)
		}
		p.engine.Rules = &apply.UserRules{Rules: rules}
	}
	switch o.Annotation {
	case "", lastapplied.Annotation:
		if o.ServerSide {
			p.engine.Writing = apply.ServerSide{}
		}
	default:
		p.engine.Writing = apply.Recorded{Annotation: o.Annotation}
	}
	return p, nil
}

// OwnedBy returns a Planner that adds owner references to every desired object, as
// metav1.NewControllerRef makes them, where it does not state that owner itself. An object that
// another one controls is a *ConflictError.
func (p *Planner) OwnedBy(owners ...metav1.OwnerReference) *Planner {
	c := *p
	c.owners = slices.Concat(p.owners, owners)
	return &c
}

// Since returns a Planner for an object of which the caller itself keeps what was applied last:
// the Plan.Applied of that plan, nil for an object that it has not applied yet. No annotation is
// written. It is an error of Plan where the Planner is for server-side apply.
func (p *Planner) Since(applied []byte) *Planner {
	c := *p
	if _, server := p.engine.Writing.(apply.ServerSide); server {
		c.err = errors.New("apply: Since: server-side apply keeps what was applied in managedFields")
	}
	c.engine.Writing = apply.Recorded{Text: string(applied)}
	return &c
}

// Plan plans the write of one object. desired and live are unstructured.Unstructured, any other
// value that encoding/json writes as an object of the API (a *appsv1.Deployment), or JSON as
// []byte. desired states what the caller wants; what it leaves out is left to others, unless it
// was applied before. live is what the API server has; nil, or an object without a name, where it
// has none. Neither is modified, and no request is made, except Types.Fetch for a kind that is
// not known yet.
//
// The error is a *ConflictError where desired and live disagree and the policy leaves that to the
// caller, and wraps ErrDeleting where live is being deleted. Other errors say what cannot be
// merged. All name the object, and no value.
func (p *Planner) Plan(ctx context.Context, desired, live any) (*Plan, error) {
	if p.err != nil {
		return nil, p.err
	}
	s, err := p.desired(desired)
	if err != nil {
		return nil, fmt.Errorf("desired: %w", err)
	}
	there, err := asLive(s, live)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	if err := p.controlled(s, there); err != nil {
		return nil, err
	}
	planned, err := p.engine.Plan(ctx, s.Subject, there)
	if err != nil {
		return nil, err
	}
	if len(planned.Conflicts) > 0 {
		return nil, conflicts(planned)
	}
	return &Plan{planned: planned, manager: p.engine.Manager, ignored: s.ignored}, nil
}
