package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/annotate"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// targetVerb is what the verbs that look after last-applied have in common: they find
// objects, read them, and write one annotation.
type targetVerb struct {
	*env
	inputs   inputFlags
	all      bool
	validate string
	manager  string
	rules    string

	api     *cluster.Cluster
	planner annotate.Planner
}

// kept is one object whose last-applied configuration is looked after.
type kept struct {
	cluster.Target
	local  *object.Object // what a file says of it; nil where it was named on the command line
	live   map[string]any // nil until it is read
	chosen bool           // by its type or labels, and not by its name
}

func (k *targetVerb) add(flags *pflag.FlagSet, does string) {
	k.inputs.add(flags, does)
	flags.StringVar(&k.manager, "field-manager", defaultManager, "name of the manager used to track field ownership")
	k.addValidate(flags)
	k.addRules(flags)
}

// addRules adds --rules, of which these verbs need what is sensitive, and what the next
// merge will do.
func (k *targetVerb) addRules(flags *pflag.FlagSet) {
	flags.StringVar(&k.rules, "rules", "", "FILE with the rules that the object is merged by: fields that they call sensitive are hidden")
}

func (k *targetVerb) addValidate(flags *pflag.FlagSet) {
	flags.StringVar(&k.validate, "validate", "strict", "what unknown fields are: strict (or true: an error), warn, ignore (or false)")
	flags.Lookup("validate").NoOptDefVal = "strict"
}

// open makes the connection, and the planner that knows the schemas.
func (k *targetVerb) open(ctx context.Context) error {
	rules, err := (&planFlags{rules: k.rules}).readRules(ctx)
	if err != nil {
		return err
	}
	checked, err := validation(k.validate)
	if err != nil {
		return err
	}
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		return err
	}
	if k.api, err = k.connect(); err != nil {
		return err
	}
	docs := &apply.Documents{Fetch: k.api.OpenAPI}
	k.planner = annotate.Planner{Planner: &apply.Planner{Policy: policy, Manager: k.manager, Validate: checked, Schemas: docs.Type, Struct: cluster.Struct}}
	if rules != nil {
		k.planner.Rules = &apply.UserRules{File: k.rules, Rules: rules, Values: k.secretValues()}
	}
	return nil
}

// find lists the objects that -f, or the arguments, name.
func (k *targetVerb) find(ctx context.Context, args []string) ([]kept, error) {
	ns, err := k.namespacing()
	if err != nil {
		return nil, err
	}
	switch {
	case k.inputs.given() && len(args) > 0:
		return nil, errors.New("when files are given, no object may be named as well: give one of -f and TYPE/NAME")
	case k.inputs.given():
		return k.filed(ctx, ns)
	case len(args) == 0:
		return nil, errors.New("you must provide one or more resources by argument or filename: TYPE/NAME, or -f FILE")
	}
	found, err := k.api.Query(ctx, k.flags, cluster.Query{
		Args: args, Selector: k.inputs.Selector, All: k.all, Namespace: ns.Default, Bare: ns.Enforce,
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		fmt.Fprintln(k.ErrOut, "No resources found")
	}
	objects := make([]kept, len(found))
	for i, f := range found {
		objects[i] = kept{Target: f.Target, live: f.Live, chosen: f.Live != nil}
	}
	return objects, nil
}

// filed are the objects that files name.
func (k *targetVerb) filed(ctx context.Context, ns live.Namespacing) ([]kept, error) {
	if err := k.inputs.validate(); err != nil {
		return nil, err
	}
	inputs, err := k.local(ctx, &k.inputs)
	if err != nil {
		return nil, err
	}
	local, bad := source.Read(ctx, inputs)
	if len(local) == 0 {
		if bad == nil {
			bad = k.inputs.none()
		}
		return nil, bad
	}
	located, err := (&live.Server{API: k.api, Namespaces: ns}).Resolve(ctx, local)
	if err := errors.Join(bad, err); err != nil {
		return nil, err
	}
	objects := make([]kept, len(located))
	for i, l := range located {
		objects[i] = kept{Target: l.Target, local: &l.Object}
	}
	return objects, nil
}

// read gets every object that was not listed already. errs has the error of each
// that cannot be read, by index.
func (k *targetVerb) read(ctx context.Context, objects []kept) (errs []error) {
	errs = make([]error, len(objects))
	begun := parallel.Each(ctx, parallel.Steps{N: len(objects)}, func(i int) {
		if o := &objects[i]; o.live == nil {
			o.live, errs[i] = k.api.Get(ctx, o.Target)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", o.Target, errs[i])
			}
		}
	})
	for i := begun; i < len(objects); i++ {
		errs[i] = fmt.Errorf("%s: %w", objects[i].Target, context.Cause(ctx))
	}
	return errs
}

// subject is the object as the planner sees it.
func (o kept) subject() apply.Subject {
	s := apply.Subject{Object: object.Object{Value: o.live}, Name: o.String(), HasStatus: o.Status}
	if o.local != nil {
		s.Object = *o.local
	}
	return s
}

// store writes what was planned; where somebody else was faster, it is planned
// anew, and the last plan is what is reported. Where a write of which nothing was
// heard turns out to have been done, there is no more to plan.
func (k *targetVerb) store(ctx context.Context, o kept, a annotate.Annotated, rewrite annotate.Rewrite, dry bool) (write.Result, error) {
	server := write.Server{API: k.api, Write: cluster.Write{FieldManager: k.manager, DryRun: dry}}
	return server.Apply(ctx, write.Task{Target: o.Target, Planned: a.Planned, Replan: func(ctx context.Context, live map[string]any) (apply.Planned, error) {
		if live != nil && lastapplied.Read(live).Text == lastapplied.Read(a.Final).Text {
			return apply.Planned{Subject: a.Subject, Live: live, Final: live}, nil
		}
		o.live = live
		s := o.subject()
		if o.local == nil && live == nil {
			s.Object = a.Object
		}
		again, err := k.planner.Annotate(ctx, s, live, rewrite)
		return again.Planned, err
	}})
}
