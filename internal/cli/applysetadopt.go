package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
)

// adoptVerb takes objects into a set.
type adoptVerb struct {
	membersVerb
	selector string
	all      bool
	from     string
}

func newSetAdopt(e *env) *cobra.Command {
	v := &adoptVerb{membersVerb: membersVerb{env: e}}
	cmd := &cobra.Command{
		Use:   "adopt NAME (TYPE/NAME... | -l SELECTOR | --from=SET)",
		Short: "Add objects to a set, so that it prunes them",
		Long: `Add objects to a set, which is created if it does not exist. They are named, or selected by their labels:
with -l, objects of all kinds in the namespace, or with -A in all, that somebody has applied and that have
no owner; in this way, what kubectl apply --prune -l has managed is added to a set.

An object that belongs to another set is an error, unless --from names that set. With --from alone, all
members of that set move.`,
		Example: `  # Move over from kubectl apply --prune -l app=shop
  kubectl merge applyset adopt shop -l app=shop

  # Move one object from another set
  kubectl merge applyset adopt shop deployment/web --from=old`,
		Args: func(cmd *cobra.Command, args []string) error {
			return oneSet(cmd, args[:min(len(args), 1)])
		},
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args[0], args[1:]) },
	}
	flags := cmd.Flags()
	v.add(flags)
	addDryRun(flags, &v.dryRun)
	flags.StringVarP(&v.selector, "selector", "l", "", "objects of all kinds whose labels match")
	flags.BoolVarP(&v.all, "all-namespaces", "A", false, "with -l: the objects of all namespaces")
	flags.StringVar(&v.from, "from", "", "the set that the objects belong to now: [KIND[.GROUP]/]NAME, or an id")
	return cmd
}

func (v *adoptVerb) run(ctx context.Context, name string, objects []string) error {
	mode, err := parseDryRun(v.dryRun.text)
	switch {
	case err != nil:
		return err
	case v.selector != "" && len(objects) > 0:
		return errors.New("only one of TYPE/NAME and -l can be given")
	case v.selector == "" && len(objects) == 0 && v.from == "":
		return errors.New("name the objects, TYPE/NAME, or choose them with -l SELECTOR or --from=SET")
	}
	s, err := v.open(ctx, name)
	if err != nil {
		return err
	}
	if err := s.Writable(); err != nil {
		return err
	}
	from, other, err := v.former(ctx, s)
	if err != nil {
		return err
	}
	found, err := v.find(ctx, s, other, objects)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("no objects found to adopt")
	}
	joined, err := s.Join(ctx, found, prune.Labelling{From: from, Manager: defaultManager, DryRun: mode == dryServer, Nothing: mode == dryClient})
	for _, m := range joined {
		v.line(m.Target, "adopted", mode)
	}
	if err == nil && len(joined) < len(found) {
		v.note(s.Target.String(), fmt.Sprintf("%d of the objects are part of the set already", len(found)-len(joined)))
	}
	return err
}

// former returns the set that --from names: its id and, unless only an id was given, the set.
func (v *adoptVerb) former(ctx context.Context, s *prune.Set) (id string, other *prune.Set, err error) {
	switch {
	case v.from == "":
		return "", nil, nil
	case strings.HasPrefix(v.from, "applyset-") && strings.HasSuffix(v.from, "-v1") && !strings.Contains(v.from, "/"):
		return v.from, nil, nil
	}
	f := setFlags{name: v.from, namespace: s.Target.Namespace}
	if other, err = f.read(ctx, v.env, v.api); err != nil {
		return "", nil, fmt.Errorf("--from: %w", err)
	}
	other.Note = s.Note
	return other.Parent.ID(), other, errors.Join(other.Existing(), other.Writable())
}

// find returns the objects: the named ones, those with the labels, or all of the other set.
func (v *adoptVerb) find(ctx context.Context, s, other *prune.Set, names []string) ([]prune.Member, error) {
	ns, err := v.ownNamespace()
	if err != nil {
		return nil, err
	}
	switch {
	case len(names) > 0:
		return v.named(ctx, cluster.Query{Args: names, Namespace: ns})
	case v.selector != "":
		l := prune.Labelled{Selector: v.selector, Namespace: ns, Limit: v.concurrency}
		if v.all {
			l.Namespace = ""
		}
		found, others, err := s.Applied(ctx, l)
		if others > 0 {
			s.Note(s.Target.String(), fmt.Sprintf("%d more objects have these labels, and were applied by nobody, or are owned by others: they are left out", others))
		}
		return found, err
	case other == nil:
		return nil, errors.New("--from: an id alone does not locate the set's members: name the objects, or the set")
	}
	return other.Everyone(ctx, v.concurrency)
}

func (v *adoptVerb) named(ctx context.Context, q cluster.Query) ([]prune.Member, error) {
	found, err := v.api.Query(ctx, v.flags, q)
	if err != nil {
		return nil, err
	}
	var (
		out  []prune.Member
		errs []error
	)
	for _, f := range found {
		obj, err := v.api.GetMetadata(ctx, f.Target)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Target, err))
			continue
		}
		out = append(out, prune.Member{Member: applyset.ReadMember(applyset.GroupKind{Group: f.Group, Kind: f.Kind}, obj), Target: f.Target})
	}
	return out, errors.Join(errs...)
}
