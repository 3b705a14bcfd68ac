package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/wait"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
)

// waitVerb waits for the objects that files name.
type waitVerb struct {
	*env
	inputs inputFlags
	set    setFlags
	rules  planFlags // --rules and --schema of them
	limits waitFlags
	notes  noteFlags
	args   []string // TYPE/NAME, instead of files
}

const waitLong = `Wait until the objects that files or arguments name, or the members of a set, are ready, as
the cluster has them now. Nothing is written. What ready means depends on the kind;
docs/wait.md has the table.

The wait ends at once when an object has failed for good, and after --patience where one
has a problem that lasts longer: an image that cannot be pulled, a container that crashes
repeatedly, a pod that fits on no node. The error names object, pod,
container and the server's message, and the latest warnings about them.

Only permission to list and watch the kinds, and the pods, is needed; where watching is
forbidden, the objects are read every two seconds.

Exit code 0: all are ready; 1: an error; 4: not ready: one has failed, or the time is over.`

const waitExample = `  # After a merge, until everything is ready
  kubectl merge wait -f web.yaml

  # Objects of the cluster by their names
  kubectl merge wait deployment/web

  # At most five minutes, with the end of the log of a container that crashes
  kubectl merge wait -f web.yaml --timeout=5m --logs`

var _ = registerVerb(verb{open: newWait, args: objectArgs})

// newWait returns the verb.
//
// Unlike kubectl: which waits for a condition that the user has to know.
func newWait(e *env) *cobra.Command {
	v := &waitVerb{env: e}
	cmd := &cobra.Command{
		Use:     "wait (-f FILE | -k DIRECTORY | TYPE/NAME... | --applyset=NAME)",
		Short:   "Wait until objects are ready, or report why they are not",
		Long:    waitLong,
		Example: waitExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := spaced(cmd.Flags(), args); err != nil {
				return err
			}
			v.args = args
			return v.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	v.inputs.add(flags, "wait for")
	v.set.add(flags)
	v.limits.add(flags)
	flags.StringVar(&v.rules.rules, "rules", "", "FILE with rules; those with ready and wait are used")
	v.notes.add(flags)
	return cmd
}

func (v *waitVerb) run(ctx context.Context) error {
	if err := errors.Join(v.validate(), v.limits.validate()); err != nil {
		return err
	}
	notes := v.notes.reporter(v.env, outputFlags{}, dryNone)
	rules, err := v.rules.readRules(ctx)
	if err != nil {
		return err
	}
	api, err := v.connect()
	if err != nil {
		return err
	}
	find := v.filed
	switch {
	case v.set.name != "":
		find = v.members
	case len(v.args) > 0:
		find = v.listed
	}
	objects, err := find(ctx, api)
	if err != nil {
		return err
	}
	for i := range objects {
		objects[i].Rule = waitRule(rules, objects[i].Target)
	}
	v.line = v.progress(v.notes.quiet)
	docs := &apply.Documents{Fetch: api.OpenAPI}
	return v.wait(ctx, waiting{waitFlags: &v.limits, api: api, types: docs.Type, notes: notes, stdout: true}, objects)
}

func (v *waitVerb) validate() error {
	switch {
	case v.set.name == "" && v.set.namespace != "":
		return errors.New("--applyset-namespace requires --applyset=NAME")
	case v.set.name == "" && len(v.args) > 0:
		return v.named().check()
	case v.set.name == "" && !v.inputs.given():
		return errors.New("must specify one of -f, -k, TYPE/NAME and --applyset")
	case v.set.name == "":
		return v.inputs.validate()
	case v.inputs.given(), len(v.args) > 0:
		return errors.New("--applyset: the set knows its members: leave out -f, -k and names")
	}
	return nil
}

func (v *waitVerb) named() namedArgs {
	return namedArgs{verb: "wait", args: v.args, inputs: &v.inputs}
}

// listed returns the objects that the arguments name.
func (v *waitVerb) listed(ctx context.Context, _ *cluster.Cluster) (all []wait.Object, err error) {
	_, targets, err := v.named().find(ctx, v.env)
	for _, t := range targets {
		all = append(all, wait.Object{Target: t.Target})
	}
	return all, err
}

// filed returns the objects that the files name.
func (v *waitVerb) filed(ctx context.Context, api *cluster.Cluster) ([]wait.Object, error) {
	in, err := v.local(ctx, &v.inputs)
	if err != nil {
		return nil, err
	}
	objects, bad := source.Read(ctx, in)
	if bad == nil && len(objects) == 0 {
		bad = v.inputs.none()
	}
	if bad != nil {
		return nil, bad
	}
	ns, err := v.namespacing()
	if err != nil {
		return nil, err
	}
	located, err := (&live.Server{API: api, Namespaces: ns}).Resolve(ctx, objects)
	var all []wait.Object
	for _, l := range located {
		all = append(all, wait.Object{Target: l.Target})
	}
	return all, err
}

// members returns the members of the set.
func (v *waitVerb) members(ctx context.Context, api *cluster.Cluster) ([]wait.Object, error) {
	set, err := v.set.read(ctx, v.env, api)
	if err == nil {
		err = set.Existing()
	}
	if err != nil {
		return nil, err
	}
	found, err := set.Everyone(ctx, parallel.Limit)
	var all []wait.Object
	for _, m := range found {
		o := wait.Object{Target: m.Target}
		if m.Deleting == "" { // otherwise it is read again: no kind is ready while it is deleted
			o.UID = m.UID
		}
		all = append(all, o)
	}
	return all, err
}
