package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

var adoptRow = verb{
	use: "adopt NAME (TYPE/NAME... | -l SELECTOR | --from=SET)", short: "Add objects to a set, so that it prunes them",
	long: `Add objects to a set, which is created if it does not exist. They are named, or selected by their labels:
with -l, objects of all kinds in the namespace, or with -A in all, that were applied and that have
no owner; in this way, what kubectl apply --prune -l has managed is added to a set.

An object that belongs to another set is an error, unless --from names that set. With --from alone, all
members of that set move.`,
	example: `  # Move over from kubectl apply --prune -l app=shop
  kubectl merge applyset adopt shop -l app=shop

  # Move one object from another set
  kubectl merge applyset adopt shop deployment/web --from=old`,
	takes: func(c *call) error {
		switch named := len(c.args) > 1; {
		case len(c.args) == 0:
			return oneSet(c)
		case c.inputs.Selector != "" && named:
			return errors.New("only one of TYPE/NAME and -l can be given")
		case c.inputs.Selector == "" && !named && c.fromSet == "":
			return fmt.Errorf("%s is the set: name the objects behind it, TYPE/NAME, or choose them with -l SELECTOR or --from=SET", c.args[0])
		}
		return nil
	},
	args: (*complete.Server).SetOrObject, run: onSet((*setCall).adopt),
}

func (v *setCall) adopt(ctx context.Context) error {
	s, err := v.open(ctx, (*prune.Set).Writable)
	if err != nil {
		return err
	}
	from, other, err := v.former(ctx, s)
	if err != nil {
		return err
	}
	found, err := v.adoptees(ctx, s, other)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("no objects found to adopt: check -l or --from, and the namespace (-n chooses another), or name them, as TYPE/NAME")
	}
	joined, err := s.Join(ctx, found, prune.Labelling{From: from, DryRun: v.mode == dryServer, Nothing: v.mode == dryClient})
	for _, m := range joined {
		v.outcome(m.Target, "adopted")
	}
	if err == nil && len(joined) < len(found) {
		v.note(s.Target.String(), fmt.Sprintf("%d of the objects are part of the set already", len(found)-len(joined)))
	}
	return err
}

// former returns the set that --from names: its id and, unless only an id was given, the set.
func (v *setCall) former(ctx context.Context, s *prune.Set) (id string, other *prune.Set, err error) {
	switch {
	case v.fromSet == "":
		return "", nil, nil
	case strings.HasPrefix(v.fromSet, "applyset-") && strings.HasSuffix(v.fromSet, "-v1") && !strings.Contains(v.fromSet, "/"):
		return v.fromSet, nil, nil
	}
	f := setFlags{name: v.fromSet, namespace: s.Target.Namespace}
	if other, err = v.readSet(ctx, f, v.api); err != nil {
		return "", nil, fmt.Errorf("--from: %w", err)
	}
	other.Note = s.Note
	return other.Parent.ID(), other, cmp.Or(other.Existing(), other.Writable())
}

// adoptees returns the objects: the named ones, those with the labels, or all of the other set.
func (v *setCall) adoptees(ctx context.Context, s, other *prune.Set) ([]prune.Member, error) {
	ns, err := v.ownNamespace()
	if err != nil {
		return nil, err
	}
	switch {
	case len(v.args) > 1:
		return v.named(ctx, cluster.Query{Args: v.args[1:], Namespace: ns})
	case v.inputs.Selector != "":
		if v.namespaces {
			ns = ""
		}
		found, others, err := s.Applied(ctx, v.inputs.Selector, ns)
		if others > 0 {
			s.Note(s.Target.String(), diff.Count(others, "more object has", "more objects have")+" these labels, and nobody has applied it, or another object owns it: name those that are to be members, as TYPE/NAME")
		}
		return found, err
	case other == nil:
		return nil, errors.New("--from: an id alone does not locate the set's members: name the objects, or the set")
	}
	return other.Everyone(ctx)
}

func (v *setCall) named(ctx context.Context, q cluster.Query) ([]prune.Member, error) {
	found, err := v.api.Query(ctx, v.flags, q)
	if err != nil {
		return nil, err
	}
	var out []prune.Member
	var errs []error
	for _, f := range found {
		obj, err := v.api.GetMetadata(ctx, f.Target)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Target, err))
			continue
		}
		out = append(out, prune.Member{Member: applyset.ReadMember(f.GroupKind(), obj), Target: f.Target})
	}
	return out, errors.Join(errs...)
}

var verifyRow = verb{
	use: "verify NAME", short: "Compare what a set's parent lists with its members",
	long: `Compare the kinds and namespaces that a set's parent lists with the objects that carry its label, in all
kinds that you may list. A member of a kind that is not listed would never be pruned.

Exit code 0: they agree, or --fix has made them agree; 3: they do not.`,
	example: "  kubectl merge applyset verify shop --fix", takes: oneSet, args: (*complete.Server).OneSet, run: onSet((*setCall).verify),
}

func (v *setCall) verify(ctx context.Context) error {
	s, err := v.open(ctx)
	contents, unread := errors.AsType[*applyset.ContentsError](err)
	if err != nil && !unread {
		return err
	}
	if err := cmp.Or(s.Existing(), s.Writable()); err != nil {
		return err
	}
	want, problems, failed := s.Verify(ctx)
	if failed != nil {
		return failed
	}
	if contents != nil {
		problems = append([]string{contents.Problem}, problems...)
	}
	for _, p := range problems {
		fmt.Fprintf(v.Out, "%s: %s\n", escape.Line(s.Target.String()), escape.Line(p))
	}
	switch {
	case len(problems) == 0:
		v.outcome(s.Target, "is as it should be")
		return nil
	case !v.fix:
		return &exit{Code: conflicted}
	}
	if err := s.Store(ctx, func(applyset.Parent) applyset.Parent { return want }); err != nil {
		return err
	}
	v.outcome(s.Target, "fixed")
	return nil
}

var disbandRow = verb{
	use: "disband NAME", short: "Dissolve a set: its objects stay, and belong to no set",
	long: `Take all members out of a set and delete its parent. The objects themselves stay as they are, and so does a
parent that holds anything else, owns a member or is a custom resource: it loses the set's label and annotations. To delete
the objects, see "kubectl merge applyset delete".`,
	example: "  kubectl merge applyset disband shop", takes: oneSet, args: (*complete.Server).OneSet, run: onSet((*setCall).disband),
}

func (v *setCall) disband(ctx context.Context) error {
	s, err := v.open(ctx, (*prune.Set).Existing, (*prune.Set).Writable)
	if err != nil {
		return err
	}
	members, err := s.Everyone(ctx)
	if err != nil {
		return err
	}
	s.Stays = func(parent map[string]any) bool { // what it owns is deleted after it
		owns := func(o applyset.Owner) bool { return o.UID == s.Parent.UID }
		return s.Parent.Shared(parent) || slices.ContainsFunc(members, func(m prune.Member) bool { return slices.ContainsFunc(m.Owners, owns) })
	}
	if v.mode != dryClient { // everything is tried before anything is written
		if err := errors.Join(s.Leave(ctx, members, prune.Labelling{DryRun: true}), s.Remove(ctx, true)); err != nil {
			return err
		}
	}
	for _, m := range members {
		if v.mode == dryNone {
			if err := s.Leave(ctx, []prune.Member{m}, prune.Labelling{}); err != nil {
				return err
			}
		}
		v.outcome(m.Target, "left")
	}
	if v.mode == dryNone {
		if err := (&prune.Pruner{Set: s}).Dissolve(ctx); err != nil {
			return err
		}
	}
	v.outcome(s.Target, "disbanded")
	return nil
}
