package ask

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
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
	return slices.ContainsFunc(slices.Concat(p.Items, p.Others), func(i *run.Item) bool { return acts[i.Action()] != "" })
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
		answer, err := r.Terminal.Prompt(ctx, "Write this: [y]es / [n]o / [a]sk per change? ")
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return nil
		case "n", "no":
			return ErrNo
		case "a", "ask":
			return r.each(ctx, p)
		}
		r.print("y - write all of it\nn - write nothing at all\na - decide about every change by itself")
	}
}

func (r *Reviewer) print(line string) { fmt.Fprintln(r.Out, line) }

func (r *Reviewer) each(ctx context.Context, p *run.Plan) error {
	for _, item := range p.Items {
		if acts[item.Action()] == "" {
			continue
		}
		if err := r.item(ctx, p, item); err != nil {
			return err
		}
	}
	for _, item := range p.Others {
		if item.Action() != apply.Delete {
			continue
		}
		wanted, err := r.reviewObject(ctx, item)
		if err != nil {
			return err
		}
		if item.Skipped = !wanted; !wanted {
			item.Surplus = &run.Surplus{Keep: true, Reason: "skipped: you left it as it is"}
		}
	}
	return nil
}

// reviewObject asks about an object as a whole.
func (r *Reviewer) reviewObject(ctx context.Context, item *run.Item) (wanted bool, err error) {
	r.print("")
	answer, err := r.choose(ctx, escape.Line(item.Target.String())+": "+acts[item.Action()], [][2]string{
		{"y", "yes"}, {"n", "no: leave it as it is"}, {"q", "quit: write nothing at all"},
	})
	return answer == "y", err
}

// choose asks until the answer is one of the keys; q is ErrQuit.
func (r *Reviewer) choose(ctx context.Context, question string, keys [][2]string) (string, error) {
	var names, help []string
	for _, k := range append(keys, [2]string{"?", "help: show this"}) {
		names, help = append(names, k[0]), append(help, k[0]+" - "+k[1])
	}
	for {
		answer, err := r.Terminal.Prompt(ctx, fmt.Sprintf("%s [%s]? ", question, strings.Join(names, ",")))
		answer = strings.ToLower(answer)
		switch {
		case err != nil:
			return "", err
		case answer == "q":
			return "", ErrQuit
		case answer != "?" && slices.Contains(names, answer):
			return answer, nil
		}
		r.print(strings.Join(help, "\n"))
	}
}

// item asks about an object: about each change, if it exists and is changed.
func (r *Reviewer) item(ctx context.Context, p *run.Plan, item *run.Item) error {
	if item.Action() != apply.Change {
		wanted, err := r.reviewObject(ctx, item)
		item.Skipped = !wanted
		return err
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
		wanted, err := r.reviewObject(ctx, item)
		item.Skipped = !wanted
		return nil, err
	}
	for i, c := range changes {
		path, err := c.ParsedPath()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", item.Target, err)
		}
		r.show(item, c)
		answer, err := r.choose(ctx, fmt.Sprintf("(%d/%d) Write it", i+1, len(changes)), [][2]string{
			{"y", "yes"}, {"n", "no: leave what live has there"}, {"a", "all: this change and the rest of this object's"},
			{"s", "skip: leave this object as it is in the cluster"}, {"q", "quit: write nothing at all"},
		})
		switch {
		case err != nil:
			return nil, err
		case answer == "n":
			unwanted = append(unwanted, path)
		case answer == "a":
			return unwanted, nil
		case answer == "s":
			item.Skipped = true
			return nil, nil
		}
	}
	return unwanted, nil
}

// Each asks the same question about each of the texts, and returns the places of the rejected ones.
// The error is ErrQuit, or the terminal's.
func (r *Reviewer) Each(ctx context.Context, question string, texts []string) (unwanted []int, err error) {
	for i, text := range texts {
		r.print("")
		r.print(escape.Line(text))
		answer, err := r.choose(ctx, fmt.Sprintf("(%d/%d) %s", i+1, len(texts), question), [][2]string{
			{"y", "yes"}, {"n", "no"}, {"a", "all: this one and the rest"}, {"q", "quit: write nothing at all"},
		})
		switch {
		case err != nil:
			return nil, err
		case answer == "n":
			unwanted = append(unwanted, i)
		case answer == "a":
			return unwanted, nil
		}
	}
	return unwanted, nil
}

// show prints a change, and its reason.
func (r *Reviewer) show(item *run.Item, c plandoc.ChangeOf) {
	r.print("")
	what := c.Sides.String()
	if c.Order != nil {
		what = "another order of its entries"
	}
	r.print(escape.Line(item.Target.String()) + ": " + c.Path + ": " + what)
	if c.Reason != "" {
		r.print("  " + escape.Line(c.Reason))
	}
}
