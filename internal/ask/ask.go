// Package ask has the user settle conflicts on a terminal, one after the other, and confirm a run.
// It asks, puts each answer into the plan of the object, and saves answers as rules. It refuses to
// decide a conflict, and to write objects.
package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// ErrQuit is the error of a user who wants nothing to be done.
var ErrQuit = errors.New("quit: nothing was written")

// ErrNo is the error of a user who was asked to confirm a run, and has answered no.
var ErrNo = errors.New("you answered no: nothing was written")

// Terminal asks the user. Each method asks for one line; the error is that of a terminal that is
// gone, or of a user who has interrupted the program.
type Terminal interface {
	Prompt(ctx context.Context, text string) (string, error)
	Hidden(ctx context.Context, text string) (string, error) // the answer is not shown
}

// Asker asks about the conflicts of a run.
type Asker struct {
	Terminal Terminal
	Out      io.Writer // output of questions
	Color    bool
	Width    int // 0 if unknown

	// Report returns the report of an object's plan, with or without its secrets.
	Report func(apply.Planned) diff.Report

	rules   []any    // the answers, as --rules
	passing []string // printed at the end: answers unknown to the next merge
}

// Needed reports whether an item of the run has a conflict.
func Needed(p *run.Plan) bool { return slices.ContainsFunc(p.Items, conflicts) }

func conflicts(i *run.Item) bool { return len(i.Planned.Conflicts) > 0 }

// Settle asks about every conflict of the run and merges the objects again with the
// answers, which it appends to the file of rules; "" asks for the file's name. An object
// that the user skips keeps its conflicts. The error ends the run: ErrQuit, the terminal's,
// or that of a merge.
func (a *Asker) Settle(ctx context.Context, p *run.Plan, file string) error {
	for _, item := range p.Items {
		if err := a.item(ctx, p, item); err != nil {
			return err
		}
	}
	for _, note := range a.passing {
		a.print("note: " + note)
	}
	return a.save(ctx, file)
}

func (a *Asker) print(line string) { fmt.Fprintln(a.Out, line) }

// item asks about one object until it has no conflict, or the user skips it. Answers may open other
// conflicts: a single value may become several.
func (a *Asker) item(ctx context.Context, p *run.Plan, item *run.Item) error {
	asked := map[string]bool{}
	for conflicts(item) {
		before := len(asked)
		notes := diff.Conflicts(a.Report(item.Planned))
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

// choices lists the answers that can be kept as rules. The return to what was applied last cannot:
// the next merge has another original.
var choices = map[string]merge.Choice{"l": merge.TakeLocal, "v": merge.TakeLive}

func (a *Asker) question(ctx context.Context, q question) (skip bool, err error) {
	a.show(q)
	for {
		answer, err := menu{fmt.Sprintf("(%d/%d) Take which", q.nth, q.of), q.keys()}.ask(ctx, a.Terminal, a.Out)
		if err != nil {
			return false, err
		}
		switch answer {
		case "l", "v":
			a.settle(q, choices[answer])
			a.remember(q, choices[answer])
			return false, nil
		case "o":
			a.settle(q, merge.TakeOriginal)
			if q.conflict.Local.Set {
				a.pass(q, "what was applied last")
			}
			return false, nil
		case "e":
			if done, err := a.edit(ctx, q); done || err != nil {
				return false, err
			}
		case "d":
			if err := q.note.Compare(a.Out, a.Color); err != nil {
				return false, err
			}
		case "s":
			return true, nil
		}
	}
}

// show prints the values, and their owners.
func (a *Asker) show(q question) {
	a.print("")
	a.print(diff.Paint(escape.Line(q.item.Target.String())+": "+q.note.Path.String()+": "+diff.Moved(q.conflict), diff.Bold, a.Color))
	for _, l := range q.note.Sides(a.Width - 2) {
		a.print("  " + l)
	}
}

// settle keeps the answer and merges with it.
func (a *Asker) settle(q question, c merge.Choice) {
	q.item.Own()
	q.item.Answers = append(q.item.Answers, apply.Answer{Path: q.conflict.Path, Choice: c, Live: q.conflict.Live})
}

// keys returns the keys that the question takes, and explains them. There may be no original to return
// to, or one equal to local's value; and a variant that local does not state is not a value to edit.
func (q question) keys() [][2]string {
	local, live := "take local's value", "keep live's value"
	if !q.conflict.Local.Set || q.conflict.Local.Value == nil {
		local = "remove it, as local does"
	}
	if !q.conflict.Live.Set {
		live = "leave it out, as live does"
	}
	keys := [][2]string{{"l", "local: " + local}, {"v", "live: " + live}}
	if q.conflict.Original.Set && q.conflict.Kind != merge.Drift && !q.blanked() {
		keys = append(keys, [2]string{"o", "original: go back to what was applied last"})
	}
	if q.conflict.Local.Set || q.conflict.Kind == merge.Dropped {
		keys = append(keys, [2]string{"e", "edit: type another value"})
	}
	return append(keys, [][2]string{
		{"d", "diff: show the whole of live's value against local's"},
		{"s", "skip: leave this object as it is in the cluster, with all of its conflicts"},
		{"q", "quit: write nothing at all"},
	}...)
}

// blanked reports whether the last applied value was not kept, as for every Secret.
func (q question) blanked() bool { return q.conflict.Original.Set && q.conflict.Original.Value == nil }

// pass notes a value that the file does not have.
func (a *Asker) pass(q question, what string) {
	a.passing = append(a.passing, fmt.Sprintf("%s: %s: %s is not in %s: write it there, or the next merge takes the file's",
		escape.Line(q.item.Target.String()), q.conflict.Path, what, escape.Line(q.item.Object.Origin.File)))
}

// edit asks for a value and puts it into local, so that it counts as applied. An empty line is not
// a value, and repeats the question. A Secret's value is typed unseen, and nothing is written to a
// file.
func (a *Asker) edit(ctx context.Context, q question) (done bool, err error) {
	t, path := q.item.Target, q.conflict.Path
	secret := redact.IsSecretKind(t.Group, t.Kind) && len(path) == 2 && path[0].Name == "data"
	var text string
	if secret {
		path = merge.Path{merge.Named("stringData"), path[1]} // it overrides data, and needs no base64
		text, err = a.Terminal.Hidden(ctx, "Value (as text, not shown; empty: back): ")
	} else {
		text, err = a.Terminal.Prompt(ctx, "Value (YAML on one line; empty: back): ")
	}
	if err != nil || text == "" {
		return false, err
	}
	var value any = text
	if !secret {
		if value, err = q.parse(text); err != nil {
			a.print("error: " + escape.Line(err.Error()))
			return false, nil
		}
	}
	local, err := merge.Put(q.item.Object.Value, path, value)
	if err != nil {
		a.print("error: cannot be put into local: " + escape.Line(err.Error()))
		return false, nil
	}
	q.item.Object.Value = local
	a.settle(q, merge.TakeLocal)
	a.pass(q, "the value typed")
	return true, nil
}

// parse reads the typed text as YAML. If both sides have text it is text, so that 5 need not be
// quoted to become an environment variable's value.
func (q question) parse(typed string) (any, error) {
	docs, err := source.Decode([]byte(typed))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("is not one value")
	}
	v := docs[0].Value
	if _, text := v.(string); !text && merge.IsScalar(v) && isText(q.conflict.Local) && isText(q.conflict.Live) {
		return strings.TrimSpace(typed), nil
	}
	return v, nil
}

func isText(o merge.Opt) bool {
	_, text := o.Value.(string)
	return text || !o.Set || o.Value == nil
}

// remember keeps an answer as a rule. If a rule asked for the conflict, that rule is kept: its
// author wants to be asked.
func (a *Asker) remember(q question, winner merge.Choice) {
	if q.conflict.Rule != "" {
		return
	}
	rule := map[string]any{
		"path":     q.conflict.Path.String(),
		"kind":     q.item.Target.Kind,
		"apiGroup": q.item.Target.Group,
		"name":     q.item.Target.Name,
		"winner":   winner.String(),
	}
	if ns := q.item.Target.Namespace; ns != "" {
		rule["namespace"] = ns
	}
	a.rules = append(a.rules, rule)
}

// save appends the answers to a file of rules: the named one, or one that the user names.
func (a *Asker) save(ctx context.Context, file string) error {
	if len(a.rules) == 0 {
		return nil
	}
	if file == "" {
		var err error
		a.print("")
		if file, err = a.Terminal.Prompt(ctx, "Save the answers as rules for --rules? FILE (empty: no): "); err != nil || file == "" {
			return err
		}
	}
	if err := appendRules(ctx, file, a.rules); err != nil {
		return err
	}
	a.print(fmt.Sprintf("note: %d of the answers are in %s: merge with --rules=%s, and they are not asked again", len(a.rules), escape.Line(file), escape.Line(file)))
	return nil
}

// appendRules adds a document of rules to a file, which must contain only rules.
func appendRules(ctx context.Context, file string, rules []any) error {
	was, err := source.ReadNamed(ctx, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the answers cannot be saved: %w", err)
	}
	if err == nil && was == nil {
		was = []byte{} // an empty file is valid
	}
	if _, err := schema.ParseRules(was); err != nil {
		return fmt.Errorf("the answers cannot be saved: %s: %w: name a file of rules, or a new one", file, err)
	}
	text, err := yamldoc.Encode(rules)
	if err != nil {
		return err
	}
	now := string(was)
	if now != "" {
		now = strings.TrimSuffix(now, "\n") + "\n---\n"
	}
	edited := &filemerge.Edited{Name: file, Old: was, Now: []byte(now + string(text))}
	if err := filemerge.ReplaceAll([]*filemerge.Edited{edited}); err != nil {
		return fmt.Errorf("the answers cannot be saved: %w", err)
	}
	return nil
}
