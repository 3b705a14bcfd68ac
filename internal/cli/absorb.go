package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/internal/absorb"
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

const absorbLong = `Take what was changed by hand on the cluster into the files: replicas that were scaled,
an image that was set, an edit at night. Comments, order and every other byte of the
files stay. Without -w the edits are shown, as a diff of the files.

Taken are the values that kubectl's commands have set (kubectl edit, scale, set, patch,
label, annotate and others), and removed values of objects that no other program writes.
Values of controllers, autoscalers and admission stay on the cluster, and so do values
that only the file has changed since it was applied. FIELD names what to take, whoever
has set it; --manager names whose values to take. -v=1 lists what is left, and why.

Without -w, the exit code is 0: no edits; 1: edits; 2: an error. docs/absorb.md has more.`

const absorbExample = `  # What was changed by hand, as edits of the files
  kubectl merge absorb -f web.yaml

  # Write them
  kubectl merge absorb -f web.yaml -w

  # One value, whoever has set it
  kubectl merge absorb -f web.yaml -w spec.replicas

  # What an operator has set
  kubectl merge absorb -f web.yaml --manager=my-operator

  # Without a cluster: live objects from files
  kubectl merge absorb -f web.yaml --live live.yaml`

var _ = registerVerb(verb{
	use: "absorb -f FILE [TYPE/NAME...] [FIELD...]", short: "Take changes made by hand on the cluster into the files", long: absorbLong, example: absorbExample,
	inputs: "edit", failure: diffFailed, args: func(s *complete.Server) cobra.CompletionFunc { return s.Explained },
	run: func(c *call, ctx context.Context) error { return (&absorbing{call: c}).run(ctx) },
})

var _ = registerFlags(
	flagRow{verbs: "absorb", name: "kustomize", short: "k", bare: "true",
		advice: "a value that kustomize has built has its source in a file that is not known here: give the resources of the kustomization with -f, or edit it by hand"},
	flagRow{verbs: "absorb", name: "output", group: "show", short: "o", def: "diff", at: func(c *call) any { return &c.output },
		words: of("diff\tof the files", "json\tevery value, on one line", "markdown\ta comment for a pull request"), help: "diff, json (one line) or markdown"},
	flagRow{verbs: "absorb", name: "manager", group: "apply", at: func(c *call) any { return &c.fromManagers },
		help: "field managers whose values are taken, instead of those of kubectl's commands"},
	flagRow{verbs: "absorb", name: "secrets", group: "apply", at: func(c *call) any { return &c.ofSecrets }, help: "take values of Secrets, too; they are not shown"},
	flagRow{verbs: "absorb", name: "write", group: "safety", short: "w", at: func(c *call) any { return &c.write },
		help: "write the files: all or, if one cannot be written, none"},
	flagRow{verbs: "absorb", name: "interactive", group: "safety", short: "i", at: func(c *call) any { return &c.interactive }, help: "ask about each value"},
)

// absorbing takes values of live objects into their files.
type absorbing struct {
	*call
	choice  absorb.Choice
	names   []string // TYPE/NAME
	kinds   []string // those of names, without short names
	found   []bool   // those of names that the input has
	objects []*absorb.Object
	rules   schema.Rules
}

// run compares, chooses, and prints or writes the edits.
func (a *absorbing) run(ctx context.Context) error {
	if err := a.choose(); err != nil {
		return err
	}
	if err := a.take(ctx); err != nil {
		return err
	}
	if a.interactive {
		if err := a.confirm(ctx); err != nil {
			return err
		}
	}
	files, err := absorb.Edits(a.objects, a.inputs.Files)
	if err != nil {
		return err
	}
	if a.write {
		if err := filemerge.ReplaceAll(files); err != nil {
			return err
		}
	}
	if err := a.print(files); err != nil {
		return err
	}
	a.report(len(files))
	if len(files) > 0 && !a.write {
		return &exit{Code: failed}
	}
	return nil
}

// choose reads the arguments.
func (a *absorbing) choose() error {
	var fields []string
	a.names, fields = namesAndFields(a.args)
	a.args, a.found = nil, make([]bool, len(a.names)) // none is looked for in the cluster
	a.choice = absorb.Choice{Managers: a.fromManagers, Secrets: a.ofSecrets}
	for _, text := range fields {
		path, err := merge.ParsePath(text)
		if err != nil {
			return err
		}
		a.choice.Fields = append(a.choice.Fields, path)
	}
	for _, name := range a.inputs.Files {
		switch {
		case name == "-":
			return errors.New("-f -: standard input cannot be written back: name the file")
		case strings.Contains(name, "://"):
			return fmt.Errorf("%s: cannot be written back: download it, and give the file", name)
		}
	}
	if !a.inputs.given() {
		return errors.New("name the files to edit with -f")
	}
	return nil
}

// take compares the objects, and lists their differences.
func (a *absorbing) take(ctx context.Context) error {
	a.original, a.policy, a.overwrite, a.force, a.guard = string(apply.Auto), merge.Policies[0].Name, true, true, "off" // as for drift
	r, err := a.request(ctx, nil)
	if err != nil {
		return err
	}
	r.Planner.Compare, r.Needs, r.Asked = true, run.Everything, true
	s, err := a.open(ctx, r)
	if err != nil {
		return err
	}
	if err := s.Failed(); err != nil {
		return err
	}
	for _, text := range a.names {
		kind, _, _ := strings.Cut(text, "/")
		a.kinds = append(a.kinds, inFull(ctx, s.api, kind))
	}
	a.choice.Applier, a.rules = r.Planner.Manager, r.Planner.Rules.All()
	notes := a.reporter()
	var errs []error
	for _, item := range s.Items {
		if !a.named(item) {
			continue
		}
		notes.problems(item)
		o, err := a.choice.Take(ctx, s.Plan, item)
		if errs = append(errs, err); err == nil {
			a.objects = append(a.objects, o)
		}
	}
	for i, found := range a.found {
		if !found {
			errs = append(errs, fmt.Errorf("%s: is none of the objects given with -f", a.names[i]))
		}
	}
	notes.unused(r.Planner.Rules)
	return errors.Join(errs...)
}

// named reports whether the object is to be edited: one of those that the arguments name, if any.
func (a *absorbing) named(item *run.Item) bool {
	t := item.Target
	named := len(a.names) == 0
	for i, text := range a.names {
		if _, name, _ := strings.Cut(text, "/"); name == t.Name && run.IsKind(t.Resource, a.kinds[i]) {
			named, a.found[i] = true, true
		}
	}
	return named
}

// confirm asks about each chosen value.
func (a *absorbing) confirm(ctx context.Context) error {
	t := a.terminal(slices.Contains(a.live, "-"))
	if t == nil {
		return errors.New("-i: there is no terminal to ask on: standard input and standard error must be one: leave it out, and name fields instead")
	}
	defer t.Close()
	r := ask.Reviewer{Terminal: t, Out: t.Out}
	for _, o := range a.objects {
		var questions []string
		var at []int
		for i, value := range o.Values {
			if value.Left == "" {
				questions, at = append(questions, value.Text()), append(at, i)
			}
		}
		unwanted, err := r.Each(ctx, "Take it into "+escape.Line(o.Origin.File), questions)
		if err != nil {
			return a.quit(err)
		}
		for _, i := range unwanted {
			o.Values[at[i]].Left = "declined"
		}
	}
	return nil
}

// print prints the edits, or all values.
func (a *absorbing) print(files []*filemerge.Edited) error {
	if a.output == "json" {
		report := absorb.Report(a.objects)
		report["written"] = a.write
		return escape.WriteJSON(a.Out, report, "")
	}
	var b strings.Builder
	for _, f := range files {
		if a.write && a.output == "diff" {
			continue
		}
		text, err := filemerge.Diff(filemerge.Texts{From: "a/" + f.Name, To: "b/" + f.Name, Old: string(f.Old), Now: string(f.Now)}, filemerge.Hiding{Rules: a.rules})
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		b.WriteString(text)
	}
	text := b.String()
	switch {
	case text == "":
		return nil
	case a.output == "markdown":
		text = diff.Fenced("diff", text)
	case a.colored():
		text = diff.Colored(text)
	}
	_, err := fmt.Fprint(a.Out, text)
	return err
}

// report prints what is left, and the summary.
func (a *absorbing) report(files int) {
	if a.quiet {
		return
	}
	for _, o := range a.objects {
		for _, value := range o.Values {
			if value.Left != "" && (klog.V(1).Enabled() || a.json) {
				a.note(value.Title, value.Place()+": left: "+value.Left)
			}
		}
	}
	for _, p := range a.choice.Unused(a.objects) {
		a.note(p.String(), "no difference is found there: kubectl merge drift lists them")
	}
	text := absorb.Summary(a.objects, files, a.write)
	_ = a.remark(diff.Note{Object: "absorb", Kind: noteAbsorbed, Message: text}, text) // only stdout matters
}

// noteAbsorbed is the kind of the note that summarizes what was taken.
const noteAbsorbed diff.NoteKind = "absorbed"
