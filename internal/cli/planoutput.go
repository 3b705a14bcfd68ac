package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/record"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

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
