package cli

import (
	"bufio"
	"context"
	"crypto/rand"
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
		return nil, fmt.Errorf("the file %q does not exist; %s%.0w", name, or.missing, err) // .0: the cause without its text
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

var _ = registerPrinter(printerRow{
	name: "plan", help: "a document to review, which --plan binds a run to", values: true, report: true, conflicts: true, needs: run.Changes, merges: true,
	kept: true, open: func(v view) (printer, error) {
		return &planPrinter{view: v, spell: plandoc.Spelling{Salt: salt(), ShowSecrets: v.secrets}}, nil
	},
})

// planPrinter prints the run as a document, object by object.
type planPrinter struct {
	view
	spell plandoc.Spelling
	to    *bufio.Writer
	out   *plandoc.Writer
}

func (f *planPrinter) begin(ctx context.Context, s *session) error {
	if f.verb.name() == "merge" && !f.given("dry-run") {
		f.note("", "-o plan writes nothing to the cluster: kubectl merge -f FILE --plan PLAN does")
	}
	f.to = bufio.NewWriter(f.Out)
	h, err := s.header(ctx, f.spell)
	if err == nil {
		f.out, err = plandoc.NewWriter(f.to, h)
	}
	return err
}

// salt returns a salt for the hashes of one document.
func salt() []byte {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return b
}

// header returns the identity of the run: its cluster and set.
func (s *session) header(ctx context.Context, spell plandoc.Spelling) (plandoc.Header, error) {
	c, err := s.cluster(ctx, plandoc.Cluster{UID: "?"})
	if err == nil && c == (plandoc.Cluster{}) {
		c, err = s.cluster(ctx, plandoc.Cluster{Server: "?"})
	}
	return plandoc.Header{Cluster: c, Set: s.set(), Rules: s.Planner.Rules.All(), ServerSide: s.serverSide(), Manager: s.Planner.Manager, Spelling: spell}, err
}

// set returns the set that the objects become part of; nil for none.
func (s *session) set() *plandoc.Set {
	set := prunerOf(s.Plan)
	if set == nil {
		return nil
	}
	return &plandoc.Set{ID: set.Parent.ID(), Parent: set.Target.String(), Namespace: set.Target.Namespace}
}

// cluster identifies the cluster that the run reads, with the same field as like. It is the zero
// value if the user may not read the required objects.
func (s *session) cluster(ctx context.Context, like plandoc.Cluster) (plandoc.Cluster, error) {
	switch {
	case s.api == nil:
		return plandoc.Cluster{Offline: true}, nil
	case like.UID == "":
		return plandoc.Cluster{Server: s.api.Fingerprint}, nil
	}
	uid, err := s.api.UID(ctx)
	return plandoc.Cluster{UID: uid}, err
}

func (f *planPrinter) printObject(item *run.Item) error {
	if item.Action() == apply.Nothing {
		f.out.Unchanged()
		return nil
	}
	made, ok := item.Rendered.(planned)
	if !ok {
		var err error
		if made, err = f.planned(item); err != nil {
			return err
		}
	}
	notes := each(guardNotes(item), func(n diff.Note) string { return strings.TrimPrefix(n.Text(), n.Object+": ") })
	f.out.Count(made.action)
	return f.out.Raw(slices.Concat(made.head, plandoc.Notes(notes), made.tail))
}

// planned is an item in its document form, without its notes.
type planned struct {
	action     apply.Action
	head, tail []byte
}

func (f *planPrinter) planned(item *run.Item) (planned, error) {
	doc := f.spell.Item(record.Subject(item, item.Result.Planned))
	head, tail, err := doc.Parts()
	if err != nil {
		return planned{}, fmt.Errorf("%s %s: %w", doc.Kind, doc.Name, err)
	}
	return planned{doc.Action, head, tail}, nil
}

// render returns a planned.
func (f *planPrinter) render(item *run.Item) any {
	made, err := f.planned(item)
	if err != nil {
		return nil // it is reported when the item is printed
	}
	return made
}

func (f *planPrinter) close(context.Context) error {
	if err := f.out.Close(); err != nil {
		return err
	}
	return f.to.Flush()
}
