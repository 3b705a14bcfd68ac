package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// askRequest is what a run that asks was given.
type askRequest struct {
	inputs  *inputFlags
	plan    *planFlags
	secrets bool // show the values of Secrets
}

// errQuit: the user wants nothing to be done.
var errQuit = errors.New("quit: nothing was written")

// asker has the user settle conflicts, one after the other.
type asker struct {
	*term.Terminal
	secrets bool
	rules   []any    // what was answered, in the language of --rules
	passing []string // reported at the end: what the next merge will not know of
}

// ask settles the conflicts of the items on the terminal. Without one they stay
// conflicts, as with --policy=strict. The error ends the run.
func (e *env) ask(ctx context.Context, s *session, r askRequest) error {
	if !r.plan.asks() || s.Failed() != nil {
		return nil // nothing will be written, whatever the answers
	}
	var open []*run.Item
	for _, item := range s.Items {
		if len(item.Planned.Conflicts) > 0 {
			open = append(open, item)
		}
	}
	if len(open) == 0 {
		return nil
	}
	t := term.Open(e.In, e.ErrOut, r.inputs.stdin() || r.plan.replace.stdin())
	if t == nil {
		const text = "there is no terminal to ask on; conflicts are left to you, as with --policy=strict"
		return e.remark(diff.Note{Object: "--policy=ask", Kind: noteProblem, Message: text}, "note: --policy=ask: "+text)
	}
	defer t.Close()
	a := &asker{Terminal: t, secrets: r.secrets}
	for _, item := range open {
		if err := a.item(ctx, s.Plan, item); err != nil {
			return err
		}
	}
	for _, note := range a.passing {
		a.Print("note: " + note)
	}
	return a.save(ctx, r.plan.saveRules)
}

// item asks about one object until it has no conflict, or the user skips it.
// Answers may open other conflicts: what was one value has then become several.
func (a *asker) item(ctx context.Context, p *run.Plan, item *run.Item) error {
	asked := map[string]bool{}
	for len(item.Planned.Conflicts) > 0 {
		before := len(asked)
		notes := diff.Conflicts(reportOf(item.Planned, a.secrets))
		for i, n := range notes {
			if asked[n.Path.String()] {
				continue
			}
			asked[n.Path.String()] = true
			q := question{item: item, conflict: item.Planned.Conflicts[i], note: n, nth: i + 1, of: len(notes)}
			skip, err := a.question(ctx, q)
			if item.Skipped = skip; skip || err != nil {
				return err
			}
		}
		if len(asked) == before {
			return nil
		}
		if p.Replan(ctx, item); item.Err != nil {
			return item.Err
		}
	}
	return nil
}

// question is one conflict.
type question struct {
	item     *run.Item
	conflict merge.Disagreement
	note     diff.Note
	nth, of  int
}

// choices are the answers that can be kept as rules. Going back to what was applied
// last cannot: the next merge has another original.
var choices = map[string]struct {
	choice merge.Choice
	winner string // in the language of --rules
}{
	"l": {merge.TakeLocal, "local"},
	"v": {merge.TakeLive, "live"},
}

func (a *asker) question(ctx context.Context, q question) (skip bool, err error) {
	a.show(q)
	for {
		answer, err := a.Prompt(ctx, fmt.Sprintf("(%d/%d) Take which [%s]? ", q.nth, q.of, strings.Join(q.answers(), ",")))
		if err != nil {
			return false, err
		}
		answer = strings.ToLower(answer)
		c, side := choices[answer]
		switch {
		case !q.takes(answer):
			a.Print(q.help())
		case side:
			a.settle(q, c.choice)
			a.remember(q, c.winner)
			return false, nil
		case answer == "o":
			a.settle(q, merge.TakeOriginal)
			if q.conflict.Local.Set {
				a.pass(q, "what was applied last")
			}
			return false, nil
		case answer == "e":
			if done, err := a.edit(ctx, q); done || err != nil {
				return false, err
			}
		case answer == "d":
			if err := q.note.Compare(a.Out, a.Color); err != nil {
				return false, err
			}
		case answer == "s":
			return true, nil
		case answer == "q":
			return false, &exit{Code: conflicted, Err: errQuit}
		default:
			a.Print(q.help())
		}
	}
}

// show prints the values, and whose they are.
func (a *asker) show(q question) {
	a.Print("")
	a.Print(a.Bold(oneLine(q.item.Target.String()) + ": " + q.note.Path.String() + ": " + moved(q.conflict.Kind)))
	for _, l := range q.note.Sides(a.Width - 2) {
		a.Print("  " + l)
	}
}

func moved(k merge.DisagreementKind) string {
	switch k {
	case merge.Drift:
		return "only live moved"
	case merge.Both:
		return "local and live both moved"
	}
	return "local removed what live changed"
}

// settle keeps the answer and merges with it.
func (a *asker) settle(q question, c merge.Choice) {
	q.item.Answers = append(q.item.Answers, apply.Answer{Path: q.conflict.Path, Choice: c, Live: q.conflict.Live})
}

// answers are the keys that the question takes. There may be nothing to go back
// to, or just what local has; and a variant that local does not speak of is no
// value to edit.
func (q question) answers() []string {
	keys := []string{"l", "v"}
	if q.conflict.Original.Set && q.conflict.Kind != merge.Drift && !q.blanked() {
		keys = append(keys, "o")
	}
	if q.conflict.Local.Set || q.conflict.Kind == merge.Dropped {
		keys = append(keys, "e")
	}
	return append(keys, "d", "s", "q", "?")
}

// blanked: the value applied last was not kept, as no Secret's is.
func (q question) blanked() bool { return q.conflict.Original.Value == "" }

// pass notes a value that the file does not have.
func (a *asker) pass(q question, what string) {
	a.passing = append(a.passing, fmt.Sprintf("%s: %s: %s is not in %s: write it there, or the next merge takes the file's",
		oneLine(q.item.Target.String()), q.conflict.Path, what, oneLine(q.item.Object.Origin.File)))
}

func (q question) takes(answer string) bool {
	for _, k := range q.answers() {
		if k == answer {
			return true
		}
	}
	return false
}

// help explains the keys that the question takes.
func (q question) help() string {
	local, live := "take local's value", "keep live's value"
	if !q.conflict.Local.Set || q.conflict.Local.Value == nil {
		local = "remove it, as local does"
	}
	if !q.conflict.Live.Set {
		live = "leave it out, as live does"
	}
	help := map[string]string{
		"l": "local: " + local,
		"v": "live: " + live,
		"o": "original: go back to what was applied last",
		"e": "edit: type another value",
		"d": "diff: show the whole of live's value against local's",
		"s": "skip: leave this object as it is in the cluster, with all of its conflicts",
		"q": "quit: write nothing at all",
		"?": "help: show this",
	}
	lines := make([]string, 0, len(help))
	for _, k := range q.answers() {
		lines = append(lines, k+" - "+help[k])
	}
	return strings.Join(lines, "\n")
}
