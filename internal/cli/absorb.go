package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
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

With -k, each value goes to where the kustomization sets it: images, replicas, labels,
literals and files of a generator, a patch, or a resource that no other overlay uses.

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

  # Into the images, replicas and patches of an overlay
  kubectl merge absorb -k overlays/prod -w

  # What an operator has set
  kubectl merge absorb -f web.yaml --manager=my-operator

  # Without a cluster: live objects from files
  kubectl merge absorb -f web.yaml --live live.yaml`

var _ = registerVerb(verb{
	use: "absorb (-f FILE | -k DIRECTORY) [TYPE/NAME...] [FIELD...]", short: "Take changes made by hand on the cluster into the files", long: absorbLong, example: absorbExample,
	inputs: "edit", failure: diffFailed, args: func(s *complete.Server) cobra.CompletionFunc { return s.Explained },
	run: func(c *call, ctx context.Context) error { return (&absorbing{call: c}).run(ctx) },
})

var _ = registerFlags(
	flagRow{verbs: "absorb", name: "output", group: "show", short: "o", def: "diff", at: func(c *call) any { return &c.output },
		words: of("diff\tof the files", "patch\tthe diff as git apply takes it, or nothing", "json\tevery value, on one line", "markdown\ta comment for a pull request"),
		help:  "diff, patch (for git apply), json (one line) or markdown"},
	flagRow{verbs: "absorb", name: "manager", group: "apply", at: func(c *call) any { return &c.fromManagers },
		help: "field managers whose values are taken, instead of those of kubectl's commands"},
	flagRow{verbs: "absorb", name: "secrets", group: "apply", at: func(c *call) any { return &c.ofSecrets }, help: "take values of Secrets, too; they are not shown"},
	flagRow{verbs: "absorb", name: "new", group: "sets", at: func(c *call) any { return &c.newFile }, completes: manifests,
		help:     "FILE that takes the members of the set (--applyset) that are in no file, at its end",
		needs:    []tie{{"applyset", "it takes members of a set that are in no file: give --applyset=NAME"}},
		excludes: []tie{{"kustomize", "what a kustomization would make of a new file is not known: leave it out, and add the file to the resources"}}},
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
	edits := func() ([]*filemerge.Edited, error) { return absorb.Edits(a.objects, a.inputs.Files) }
	if a.inputs.Kustomize != "" {
		edits = func() ([]*filemerge.Edited, error) {
			return (&absorb.Kustomization{Folder: a.inputs.Kustomize}).Edits(ctx, a.objects)
		}
	}
	files, err := edits()
	if err == nil && a.newFile != "" {
		files, err = absorb.Append(files, a.newFile, a.objects)
	}
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
	if info, err := os.Stat(a.inputs.Kustomize); a.inputs.Kustomize != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("-k %s: is not a folder here: what it is built of cannot be written", a.inputs.Kustomize)
	}
	if !a.inputs.given() {
		return errors.New("name the files to edit with -f, or a kustomization with -k")
	}
	return a.validateInput()
}

// take compares the objects, and lists their differences.
func (a *absorbing) take(ctx context.Context) error {
	a.original, a.policy, a.overwrite, a.force, a.guard = string(apply.Auto), merge.Policies[0].Name, true, true, "off" // as for drift
	r, err := a.request(ctx, nil)
	if err != nil {
		return err
	}
	r.Planner.Compare, r.Needs, r.Asked, r.note = true, run.Everything, true, a.reporter().set()
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
	for _, item := range s.Others {
		if a.named(item) {
			o, err := a.choice.New(ctx, s.Plan, item, a.newFile)
			a.objects, errs = append(a.objects, o), append(errs, err)
		}
	}
	for i, found := range a.found {
		if !found {
			errs = append(errs, fmt.Errorf("%s: is none of the objects given with -f", a.names[i]))
		}
	}
	notes.unused(r.Planner.Rules)
	a.unowned(s.Items)
	return errors.Join(append(errs, a.misspelt(s.Items))...)
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
		if f.Hidden && a.output == "patch" {
			return fmt.Errorf("%s: -o patch: %s", f.Name, unprintable)
		}
		if f.Hidden {
			fmt.Fprintf(&b, "--- a/%s\n+++ b/%[1]s\n(values of a Secret, which are not shown)\n", escape.Line(f.Name))
			continue
		}
		texts := filemerge.Texts{From: "a/" + f.Name, To: "b/" + f.Name, Old: string(f.Old), Now: string(f.Now)}
		if f.Old == nil {
			texts.From = "/dev/null"
		}
		text, err := filemerge.Diff(texts, filemerge.Hiding{Rules: a.rules})
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if a.output == "patch" && text != diff.Text(texts, 3) {
			return fmt.Errorf("%s: -o patch: %s", f.Name, unprintable)
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

// unprintable is the reason why a text has no patch.
const unprintable = "a patch would print a value of a Secret, or control characters: write the file with -w"

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
	if klog.V(1).Enabled() || a.json {
		text = strings.TrimSuffix(text, "; -v=1 names them")
	}
	_ = a.remark(diff.Note{Object: "absorb", Kind: noteAbsorbed, Message: text}, text) // only stdout matters
}

// noteAbsorbed is the kind of the note that summarizes what was taken.
const noteAbsorbed diff.NoteKind = "absorbed"
