package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/internal/absorb"
	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ask"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/drift"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
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
	flagRow{verbs: "absorb", name: "dry-run", bare: "client", advice: "without -w nothing is written"},
	flagRow{verbs: "absorb", name: "interactive", group: "safety", short: "i", at: func(c *call) any { return &c.interactive }, help: "ask about each value"},
)

// absorbing takes values of live objects into their files.
type absorbing struct {
	*call
	choice  absorb.Choice
	names   map[string]bool // TYPE/NAME, and whether the input has it
	asked   []asked         // FIELD
	objects []*absorb.Object
	rules   schema.Rules
}

// run compares, chooses, and prints or writes the edits.
func (a *absorbing) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{a.choose, a.take, a.confirm} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	files, err := a.choice.Edits(ctx, a.inputs, a.objects)
	if err == nil && a.write {
		err = filemerge.ReplaceAll(files)
	}
	if err == nil {
		err = a.print(files)
	}
	if err != nil {
		return err
	}
	a.report(len(files))
	if len(files) > 0 && !a.write {
		return &exit{Code: failed}
	}
	return nil
}

// choose reads the arguments.
func (a *absorbing) choose(context.Context) error {
	names, fields := namesAndFields(a.args)
	a.inputs.Edited = true
	a.args, a.names = nil, map[string]bool{} // none is looked for in the cluster
	for _, name := range names {
		a.names[name] = false
	}
	var err error
	if a.asked, err = askedFields(fields); err != nil {
		return err
	}
	paths := each(a.asked, func(f asked) merge.Path { return f.Path })
	if strings.EqualFold(filepath.Ext(a.newFile), ".json") {
		return fmt.Errorf("--new=%s: objects are added to it as YAML: name a .yaml file", a.newFile)
	}
	a.choice = absorb.Choice{Managers: a.fromManagers, Secrets: a.ofSecrets, Fields: paths}
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
	if !a.hasInput() {
		return a.noInput()
	}
	if a.newFile != "" {
		a.choice.File = a.inputs.With(a.newFile) // what it has is in a file
	}
	return a.validateInput()
}

// take compares the objects, and lists their differences.
func (a *absorbing) take(ctx context.Context) error {
	a.compares()
	r, err := a.request(ctx)
	if err != nil {
		return err
	}
	r.Planner.Compare, r.Needs, r.Asked, r.note = true, run.Everything, true, a.reporter().set()
	s, err := a.open(ctx, r)
	if err == nil {
		err = s.Failed()
	}
	if err != nil {
		return err
	}
	a.choice.Applier, a.rules = r.Planner.Manager, r.Planner.Rules.All()
	notes := a.reporter()
	var errs []error
	for _, item := range slices.Concat(s.Items, s.Others) {
		if !a.named(ctx, s, item) {
			continue
		}
		notes.problems(item)
		o, err := a.choice.Take(ctx, s.Plan, item)
		if a.objects, errs = append(a.objects, o), append(errs, err); err == nil && item.Surplus == nil {
			a.look(o, item.Planned)
		}
	}
	for _, f := range a.asked {
		if is := slices.IndexFunc(s.Items, func(i *run.Item) bool { return i.Target.Name == f.typed }); is >= 0 && !f.found {
			f.near = "; an object is named with its type: " + s.Items[is].Target.String()
		}
		if !f.found && (f.near != "" || !f.known) {
			errs = append(errs, fmt.Errorf("%s: no object has it, neither in the files nor in live%s", f.Path, f.near))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.names)) {
		if !a.names[name] {
			hint := ""
			given := each(s.Items, func(i *run.Item) string { return i.Target.Name })
			if near := suggest.Name(name[strings.LastIndex(name, "/")+1:], given); near != "" {
				hint = fmt.Sprintf("; did you mean %s?", s.Items[slices.Index(given, near)].Target)
			}
			errs = append(errs, fmt.Errorf("%s: is none of the objects given with -f%s", name, hint))
		}
	}
	notes.unused(r.Planner)
	managers := &ownership.Managers{Names: a.fromManagers, Subresources: true}
	for _, item := range s.Items {
		managers.Look(item.Planned.Live)
	}
	managers.Missing(func(name, text string, _ bool) { a.note("--manager="+name, text) })
	return errors.Join(errs...)
}

// named reports whether the object is to be edited: one of those that the arguments name, if any.
func (a *absorbing) named(ctx context.Context, s *session, item *run.Item) bool {
	named := len(a.names) == 0
	for text := range a.names {
		if kind, name, _ := strings.Cut(text, "/"); name == item.Target.Name && run.IsKind(item.Target.Resource, inFull(ctx, s.api, kind)) {
			named, a.names[text] = true, true
		}
	}
	return named
}

// confirm asks about each chosen value, with -i.
func (a *absorbing) confirm(ctx context.Context) error {
	if !a.interactive {
		return nil
	}
	t := term.Open(a.In, a.ErrOut, slices.Contains(a.live, "-"))
	if t == nil {
		return errors.New("-i: there is no terminal to ask on: standard input and standard error must be one: leave it out, and name fields instead")
	}
	defer t.Close()
	r := ask.Reviewer{Terminal: t, Out: t.Out}
	for _, o := range a.objects {
		chosen := o.Chosen()
		unwanted, err := r.Each(ctx, "Take it into "+escape.Line(o.Origin.File), each(chosen, question))
		if err != nil {
			return a.quit(err)
		}
		for _, i := range unwanted {
			chosen[i].Reason = "declined"
		}
	}
	return nil
}

// question is a value in one line: the field, both values, and who has set live's.
func question(v *absorb.Value) string {
	what := plandoc.Sides{Before: v.Wanted, After: v.Live}.String()
	switch {
	case v.Drift == drift.Orphaned:
		what = "is in no file"
	case v.Order != nil:
		what = "another order of its entries"
	}
	if by := diff.OwnerName(v.Owner); by != "" {
		what += " (" + by + ")"
	}
	return v.Row.Object.String() + ": " + v.Place() + ": " + what
}

// print prints the edits, or all values.
func (a *absorbing) print(files []*filemerge.Edited) error {
	if a.output == "json" {
		report := absorb.Report(a.objects)
		report["written"] = a.write
		return escape.WriteJSON(a.Out, report, "")
	}
	if a.write && a.output == "diff" {
		return nil
	}
	var all string
	for _, f := range files {
		if a.output == "patch" && !filepath.IsLocal(f.Name) {
			return fmt.Errorf("%s: -o patch: git apply writes below the folder that it is run in: name the files from one that has them all", f.Name)
		}
		text, whole := f.Diff(filemerge.Hiding{Rules: a.rules})
		if !whole && a.output == "patch" {
			return fmt.Errorf("%s: -o patch: a patch would print a value of a Secret, or control characters: write the file with -w", f.Name)
		}
		all += text
	}
	if all != "" && a.output == "markdown" {
		_, err := io.WriteString(a.Out, diff.Fenced("diff", all))
		return err
	}
	return a.printDiff(all)
}

// report prints what is left, and the summary.
func (a *absorbing) report(files int) {
	if a.quiet {
		return
	}
	all, named := klog.V(1).Enabled() || a.json, true
	for _, o := range a.objects {
		for _, value := range o.Values {
			switch {
			case value.Reason == "":
			case all || value.Unplaced || value.Reason != "not named" && len(a.asked)+len(a.names) > 0:
				a.note(value.Row.Object.String(), value.Place()+": left: "+value.Reason)
			default:
				named = false
			}
		}
	}
	for _, p := range a.choice.Unused(a.objects) {
		a.note(p.String(), "no difference is found there: kubectl merge drift lists them")
	}
	text := absorb.Summary(a.objects, files, a.write, named)
	_ = a.remark(diff.Note{Object: "absorb", Kind: noteAbsorbed, Message: text}, text) // only stdout matters
}

// noteAbsorbed is the kind of the note that summarizes what was taken.
const noteAbsorbed diff.NoteKind = "absorbed"

// look notes which of the named fields an object has.
func (a *absorbing) look(o *absorb.Object, p apply.Planned) {
	for i := range a.asked {
		f := &a.asked[i]
		_, stated := merge.Lookup(o.Value, lastapplied.StatedAt(o.Value, f.Path), p.Type)
		_, there := merge.Lookup(p.Live, f.Path, p.Type)
		if f.found = f.found || stated || there; !f.found {
			f.miss(p.Type, o.Value, p.Live)
		}
	}
}
