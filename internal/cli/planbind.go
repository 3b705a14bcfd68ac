package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/record"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// binding binds a run to a plan.
type binding struct {
	file  string         // --plan
	plan  *plandoc.Bound // nil: the run is bound to none
	shown bool           // it is bound to the run that the user has confirmed
}

// readPlan reads the plan of --plan. It is done before anything is read from the cluster.
func (c *call) readPlan(ctx context.Context) error {
	if c.plan == "" {
		return nil
	}
	doc, err := readPlan(ctx, c.plan, advice{"check its name", madeAgain, madeAgain})
	switch {
	case err != nil:
	case doc.Record:
		err = fmt.Errorf("%s: is a record of a run: %s", c.plan, madeAgain)
	default:
		c.bound.file = c.plan
		if c.bound.plan, err = plandoc.Bind(doc); err != nil {
			err = fmt.Errorf("%s: %w", c.plan, err)
		}
	}
	if err != nil {
		return mark("plan-unusable", fmt.Errorf("--plan: %w", err))
	}
	return c.unrecreated()
}

// madeAgain says what to do about an unusable plan.
const madeAgain = "a plan is made by kubectl merge diff -o plan"

// advice ends the error of a plan or record that is missing, of another file, and of one that cannot be used.
type advice struct{ missing, other, unusable string }

// readPlan reads a plan or a record.
func readPlan(ctx context.Context, name string, or advice) (*plandoc.Document, error) {
	if name == "-" {
		return nil, errors.New("a plan or a record is read from a file, and not from standard input: name one")
	}
	text, err := source.ReadNamed(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the file %q does not exist; %s", name, or.missing)
	case err != nil:
		return nil, err
	}
	doc, err := plandoc.Parse(name, text)
	if errors.Is(err, plandoc.ErrOther) {
		or.unusable = or.other
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, or.unusable)
	}
	return doc, nil
}

// recreated returns the kinds of the objects that the plan recreates.
func (f *binding) recreated() (kinds []string) {
	if f.plan == nil || f.shown {
		return nil
	}
	for _, item := range f.plan.Items {
		if item.Action == apply.Recreate {
			kinds = append(kinds, strings.TrimSuffix(item.Kind+"."+item.Versionless().APIVersion, "."))
		}
	}
	return kinds
}

// bind returns the check that every merge plan of a job has to pass; nil if there is none.
func (f *binding) bind() func(*run.Item, apply.Planned) error {
	if f.plan == nil {
		return nil
	}
	return func(item *run.Item, p apply.Planned) error {
		if item.ActionOf(p) == apply.Nothing {
			return surplus(item, f.plan.Lost(record.Identity(item), p))
		}
		return surplus(item, f.plan.Surplus(record.Subject(item, p)))
	}
}

func surplus(item *run.Item, lines []string) error {
	return errors.Join(each(lines, func(line string) error { return &surplusError{errors.New(item.Target.String() + ": " + line)} })...)
}

// surplusError reports an action of a run beyond the plan that it is bound to.
type surplusError struct{ error }

// confirmed binds a run to the run that the user has confirmed: later changes of others may change
// the writes.
func (f *binding) confirmed(s *session) (err error) {
	doc := &plandoc.Document{Header: plandoc.Header{Spelling: plandoc.Spelling{Salt: salt(), ShowSecrets: true}}}
	for _, item := range slices.Concat(s.Items, s.Others) {
		if item.Action().Writes() {
			doc.Items = append(doc.Items, doc.Item(record.Subject(item, item.Planned)))
		}
	}
	if f.plan, err = plandoc.Bind(doc); err != nil {
		return err
	}
	f.shown, s.Bind = true, f.bind()
	return nil
}

// check returns an error if the run is not the plan's: on another cluster, with another set, or
// written in another way. It reports objects of the plan that are missing in the input.
func (f *binding) check(ctx context.Context, s *session, notes *reporter) error {
	if f.plan == nil {
		return nil
	}
	err := s.checkCluster(ctx, f.plan.Cluster)
	if err == nil {
		err = errors.Join(f.checkSet(s), f.checkWriting(s))
	}
	if err != nil {
		return &exit{Code: conflicted, Err: mark("plan-unusable", fmt.Errorf("--plan: %s: %w: nothing was written", f.file, err))}
	}
	f.missing(s, notes)
	return nil
}

// missing reports the objects of the plan that are missing in the input.
func (f *binding) missing(s *session, notes *reporter) {
	at := map[plandoc.Identity]bool{}
	for _, item := range s.Items {
		at[record.Identity(item).Versionless()] = true
	}
	for _, id := range f.plan.Missing(func(id plandoc.Identity) bool { return at[id.Versionless()] }) {
		id = id.Versionless()
		t := cluster.Target{Resource: cluster.Resource{Group: id.APIVersion, Kind: id.Kind}, Name: id.Name}
		notes.hint(diff.Note{Object: t.String(), Namespace: id.Namespace, Kind: noteKept, Message: "is in the plan, and not in the input: nothing is done with it"})
	}
}

// checkWriting returns an error if the plan was made for another way of writing.
func (f *binding) checkWriting(s *session) error {
	switch is := s.serverSide(); {
	case f.plan.ServerSide && !is:
		return errors.New("was made with --server-side: give it, too")
	case is && !f.plan.ServerSide:
		return errors.New("was made without --server-side: make it again with it, which changes who owns the fields")
	}
	return nil
}

// serverSide reports whether the objects are written by server-side apply.
func (s *session) serverSide() bool {
	_, is := s.Planner.Writing.(apply.ServerSide)
	return is
}

// checkCluster returns an error if a document is not about the cluster of the session.
func (s *session) checkCluster(ctx context.Context, want plandoc.Cluster) error {
	is, err := s.cluster(ctx, want)
	switch {
	case err != nil:
		return err
	case want.Offline:
		return errors.New("was made from saved objects (--live), and so is bound to no cluster: make it again with kubectl merge diff -o plan, without --live")
	case is == plandoc.Cluster{}:
		return errors.New("is bound to the UID of a cluster, and you cannot read this one's: ask for permission to get the namespace kube-system")
	case is != want:
		return errors.New("was made for another cluster: choose that one with --context or --kubeconfig")
	}
	return nil
}

func (f *binding) checkSet(s *session) error {
	set := s.set()
	switch want := f.plan.Set; {
	case want == nil && set == nil || want != nil && set != nil && *want == *set:
		return nil
	case want == nil:
		return fmt.Errorf("was made without a set, and this run is one of %s", set.Parent)
	case set == nil:
		return fmt.Errorf("was made for the set %s: give --prune --applyset=%s, too", want.Parent, want.Parent)
	default:
		return fmt.Errorf("was made for the set %s%s, and this run is one of %s%s", want.Parent, object.Within(want.Namespace), set.Parent, object.Within(set.Namespace))
	}
}

// ended returns the error that a run ends with: exit code 3 if it only reports surplus actions.
func (f *binding) ended(err error) error {
	found := false
	for _, one := range leaves(err) {
		switch {
		case errors.As(one, new(*surplusError)):
			found = true
		case errors.As(one, new(*run.NotReached)), errors.Is(one, run.ErrNotPruned):
		default:
			return err
		}
	}
	if !found {
		return err
	}
	if f.shown {
		return &exit{Code: conflicted, Err: errors.Join(err, mark("beyond-plan", errors.New("-i: what is listed is not what you have confirmed: others have changed it meanwhile: start again")))}
	}
	return &exit{Code: conflicted, Err: errors.Join(err, mark("beyond-plan", fmt.Errorf("--plan: %s does not have what is listed: review it with kubectl merge diff -o plan, and merge with that plan", f.file)))}
}
