package ask

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/record"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Reviewer asks the user to confirm a run that was shown, as a whole or change by change.
type Reviewer struct {
	Terminal Terminal
	Out      io.Writer        // output of questions
	Spelling plandoc.Spelling // how values are shown; without secrets a salt is needed
}

// Writes reports whether the run would write or delete anything.
func Writes(p *run.Plan) bool {
	return slices.ContainsFunc(slices.Concat(p.Items, p.Others), func(i *run.Item) bool { return i.Action().Writes() })
}

// acts names the actions of a run on an object, for questions.
var acts = map[apply.Action]string{
	apply.Create: "create it", apply.Change: "change it", apply.Recreate: "delete it and create it again", apply.Delete: "delete it",
}

// Confirm asks about a run. Rejected changes are removed from its plan: values stay as live has
// them, objects are skipped, or kept. The error ends the run: ErrNo, ErrQuit, the terminal's, or
// that of a merge.
func (r *Reviewer) Confirm(ctx context.Context, p *run.Plan) error {
	for {
		answer, err := r.Terminal.Prompt(ctx, "Write this: [y]es / [n]o / [a]sk per change / [q]uit? ")
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return nil
		case "n", "no":
			return ErrNo
		case "q", "quit":
			return ErrQuit
		case "a", "ask":
			return r.each(ctx, p)
		}
		r.print("y - write all of it\nn - write nothing at all\na - decide about every change by itself\nq - quit: write nothing at all")
	}
}

func (r *Reviewer) print(line string) { fmt.Fprintln(r.Out, line) }

func (r *Reviewer) each(ctx context.Context, p *run.Plan) error {
	for _, item := range p.Items {
		if !item.Action().Writes() {
			continue
		}
		if err := r.item(ctx, p, item); err != nil {
			return err
		}
	}
	for _, item := range run.Deletions(p.Others) {
		if err := r.reviewObject(ctx, item); err != nil {
			return err
		}
		if item.Skipped {
			item.Surplus = &run.Surplus{Keep: true, Reason: "skipped: you left it as it is"}
		}
	}
	return nil
}

// reviewObject asks about an object as a whole, and skips it if it is not wanted.
func (r *Reviewer) reviewObject(ctx context.Context, item *run.Item) error {
	r.print("")
	m := menu{escape.Line(item.Target.String()) + ": " + acts[item.Action()], [][2]string{
		{"y", "yes"}, {"n", "no: leave it as it is"}, {"q", "quit: write nothing at all"},
	}}
	answer, err := m.ask(ctx, r.Terminal, r.Out)
	item.Skipped = answer != "y"
	return err
}

// menu is a question that one of a few keys answers; each has its meaning beside it.
type menu struct {
	question string
	keys     [][2]string
}

// ask asks until the answer is one of the keys, and explains them otherwise; q is ErrQuit.
func (m menu) ask(ctx context.Context, t Terminal, out io.Writer) (string, error) {
	var names, help []string
	for _, k := range append(m.keys, [2]string{"?", "help: show this"}) {
		names, help = append(names, k[0]), append(help, k[0]+" - "+k[1])
	}
	for {
		answer, err := t.Prompt(ctx, fmt.Sprintf("%s [%s]? ", m.question, strings.Join(names, ",")))
		answer = strings.ToLower(answer)
		switch {
		case err != nil:
			return "", err
		case answer == "q":
			return "", ErrQuit
		case answer != "?" && slices.Contains(names, answer):
			return answer, nil
		}
		fmt.Fprintln(out, strings.Join(help, "\n"))
	}
}

// item asks about an object: about each change, if it exists and is changed.
func (r *Reviewer) item(ctx context.Context, p *run.Plan, item *run.Item) error {
	if item.Action() != apply.Change {
		return r.reviewObject(ctx, item)
	}
	changes := r.changes(item)
	unwanted, err := r.choices(ctx, item, changes)
	switch {
	case err != nil || len(unwanted) == 0:
		return err
	case len(unwanted) == len(changes):
		item.Skipped = true
		return nil
	}
	for _, path := range unwanted {
		item.Own()
		item.Answers = append(item.Answers, apply.Answer{Path: path, Choice: merge.TakeLive, Always: true})
	}
	if p.Replan(ctx, item); item.Err != nil {
		return item.Err
	}
	for _, c := range r.changes(item) {
		if path, err := c.ParsedPath(); err != nil || slices.ContainsFunc(unwanted, func(u merge.Path) bool { return u.String() == path.String() }) {
			item.Skipped = true
			r.print(fmt.Sprintf("note: %s: %s cannot be left out by itself: the object is left as it is", escape.Line(item.Target.String()), c.Path))
		}
	}
	return nil
}

// changes returns those of an item, except for those of the last-applied annotation. The order of a
// list follows its entries, unless nothing else of it changes.
func (r *Reviewer) changes(item *run.Item) []plandoc.ChangeOf {
	all := r.Spelling.Item(record.Subject(item, item.Planned)).Changes
	return slices.DeleteFunc(slices.Clone(all), func(c plandoc.ChangeOf) bool {
		return c.Order != nil && slices.ContainsFunc(all, func(other plandoc.ChangeOf) bool {
			return other.Order == nil && strings.HasPrefix(other.Path, c.Path+"[")
		})
	})
}

// choices asks about each change, and returns the paths of the rejected ones.
func (r *Reviewer) choices(ctx context.Context, item *run.Item, changes []plandoc.ChangeOf) (unwanted []merge.Path, err error) {
	if len(changes) == 0 { // only the last-applied annotation changes
		return nil, r.reviewObject(ctx, item)
	}
	paths, texts := make([]merge.Path, len(changes)), make([]string, len(changes))
	for i, c := range changes {
		if paths[i], err = c.ParsedPath(); err != nil {
			return nil, fmt.Errorf("%s: %w", item.Target, err)
		}
		texts[i] = change(item, c)
	}
	rejected, skip, err := r.rejected(ctx, texts, menu{"Write it", [][2]string{
		{"y", "yes"}, {"n", "no: leave what live has there"}, {"a", "all: this change and the rest of this object's"},
		{"s", "skip: leave this object as it is in the cluster"}, {"q", "quit: write nothing at all"},
	}})
	item.Skipped = item.Skipped || skip
	return object.Each(rejected, func(i int) merge.Path { return paths[i] }), err
}

// rejected asks the same question about each of the texts, and returns the places of those that are
// answered with no; skip states that the user has left out all of them.
func (r *Reviewer) rejected(ctx context.Context, texts []string, m menu) (unwanted []int, skip bool, err error) {
	for i, text := range texts {
		r.print("\n" + text)
		answer, err := menu{fmt.Sprintf("(%d/%d) %s", i+1, len(texts), m.question), m.keys}.ask(ctx, r.Terminal, r.Out)
		switch {
		case err != nil || answer == "s":
			return nil, err == nil, err
		case answer == "n":
			unwanted = append(unwanted, i)
		case answer == "a":
			return unwanted, false, nil
		}
	}
	return unwanted, false, nil
}

// Each asks the same question about each of the texts, and returns the places of the rejected ones.
// The error is ErrQuit, or the terminal's.
func (r *Reviewer) Each(ctx context.Context, question string, texts []string) ([]int, error) {
	unwanted, _, err := r.rejected(ctx, object.Each(texts, escape.Line), menu{question, [][2]string{
		{"y", "yes"}, {"n", "no"}, {"a", "all: this one and the rest"}, {"q", "quit: write nothing at all"},
	}})
	return unwanted, err
}

// change returns a change as it is shown, and its reason.
func change(item *run.Item, c plandoc.ChangeOf) string {
	what := c.Sides.String()
	if c.Order != nil {
		what = "another order of its entries"
	}
	text := escape.Line(item.Target.String()) + ": " + c.Path + ": " + what
	if c.Reason != "" {
		text += "\n  " + escape.Line(c.Reason)
	}
	return text
}
