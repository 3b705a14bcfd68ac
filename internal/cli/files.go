package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// filesVerb merges files into files.
type filesVerb struct {
	*env
	notes    noteFlags
	original string
	plan     planFlags // policy, rules and schema of it
	infer    bool
	prepend  bool
	secrets  bool
	path     string
	fileOutput
}

// fileOutput states where changed files are written.
type fileOutput struct {
	write  bool
	output string
}

var _ = registerVerb(verb{open: newFiles, args: fileArgs, flags: map[string]cobra.CompletionFunc{
	"output":   complete.Words("yaml\tthe merged text", "diff\twhat the merge changes in DEST"),
	"original": complete.Files,
	"policy":   complete.Words(complete.Policies()...),
}})

func newFiles(e *env) *cobra.Command {
	v := &filesVerb{env: e}
	cmd := &cobra.Command{
		Use:   "files SOURCE DEST",
		Short: "Merge YAML files or folders into others, two-way or three-way",
		Long: `Merge YAML files or folders into others, with the comments and the layout of DEST kept.

In a two-way merge, what SOURCE states is merged into DEST; null clears, and the directives of a
strategic merge patch ($patch, $retainKeys, $setElementOrder/…, $deleteFromPrimitiveList/…)
are followed. In a three-way merge, with --original, SOURCE is the updated ORIGINAL, and
what changed between the two is merged into DEST. The result is printed, or with -w
written into DEST: all files, or none.

Objects are paired by group, kind, namespace and name, wherever they are; entries of lists
by the keys of their schema, else by the first of mountPath, devicePath, ip, type,
topologyKey, name and containerPort that every entry has. In a three-way merge, all other
files of a folder are merged too, by lines as git does; in a two-way merge they are left alone.

Conflicts that the policy leaves (see --policy) are put into the text between <<<<<<< and
>>>>>>>, and the exit code is 3. With --policy=diff3, --original and -w it is a merge
driver for git: what is not Kubernetes YAML is merged by lines, as git does.`,
		Example: `  # what base.yaml states, into mine.yaml
  kubectl merge files base.yaml mine.yaml -w
  # a patch written for kustomize, or for kubectl patch
  kubectl merge files patch.yaml deploy.yaml -w
  # what changed between two releases of a folder, into mine
  kubectl merge files --original v1/ v2/ mine/ -o diff
  # as a merge driver, in git's config:
  #   driver = kubectl merge files --policy=diff3 -w --path=%P --original=%O %B %A`,
		Args: twoSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd.Context(), args[0], args[1], cmd.Flags().Changed("policy"))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&v.original, "original", "", "file or folder that SOURCE and DEST are both derived from: makes the merge three-way")
	flags.StringVar(&v.plan.policy, "policy", "merge3", "which side wins where updated and dest disagree: "+policies()+"; merge3 takes updated, diff3 leaves a conflict where both changed")
	flags.StringVar(&v.plan.rules, "rules", "", "FILE with rules that decide which side wins, and how lists are split, for single fields")
	flags.StringSliceVar(&v.plan.schemas, "schema", nil, "FILE with CustomResourceDefinitions or an OpenAPI document, for kinds that are not built in")
	flags.BoolVar(&v.infer, "infer", true, "infer the keys of lists that no schema knows")
	flags.BoolVar(&v.prepend, "prepend", false, "put new list entries first rather than last")
	flags.StringVar(&v.path, "path", "", "`NAME` of DEST in messages: %P in a merge driver, where DEST is a temporary file")
	flags.BoolVar(&v.secrets, "show-secrets", false, "show the values of Secrets in a diff")
	v.fileOutput.add(cmd, "DEST")
	v.notes.add(flags)
	return cmd
}

func twoSides(cmd *cobra.Command, args []string) error {
	if len(args) == 2 {
		return nil
	}
	got := fmt.Sprintf("%d arguments", len(args))
	switch len(args) {
	case 1:
		got = "1 argument"
	case 3:
		got += "; did you mean `--original ORIGINAL SOURCE DEST`?"
	}
	return fmt.Errorf("expected SOURCE and DEST, got %s\nSee '%s --help' for usage", got, cmd.CommandPath())
}

func (o *fileOutput) add(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVarP(&o.write, "write", "w", false, "write the result into "+what+" rather than print it")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "what is printed: yaml (all of it, the default without -w) or diff")
}

func (v *filesVerb) run(ctx context.Context, source, dest string, policyGiven bool) error {
	notes := v.notes.reporter(v.env, outputFlags{secrets: v.secrets}, dryNone)
	if err := v.check(source, dest); err != nil {
		return err
	}
	job, err := v.job(ctx, policyGiven)
	if err != nil {
		return err
	}
	driver := v.write && v.original != "" && job.Policy.Name == "diff3" && filemerge.IsFile(dest) // git has no folders to merge
	err = v.read(ctx, &job, source, dest)
	switch {
	case driver && err == nil && !filemerge.Kubernetes(job.Original, job.Updated, job.Dest):
		err = errors.New("is not all Kubernetes YAML")
	case err == nil:
		var out *filemerge.Outcome
		if out, err = filemerge.Merge(job); err == nil {
			return v.deliver(notes, job, out, driver)
		}
	}
	if driver {
		return v.asText(ctx, notes, filemerge.Paths{Original: v.original, Updated: source, Dest: dest}, err)
	}
	return err
}

// check reports invalid combinations before anything is read.
func (v *filesVerb) check(source, dest string) error {
	stdin := 0
	for _, name := range []string{source, dest, v.original} {
		if name == "-" {
			stdin++
		}
	}
	switch {
	case stdin > 1:
		return errors.New("only one of SOURCE, DEST and --original can be - (standard input)")
	case dest == "-" && v.write:
		return errors.New("-w: DEST is standard input, and cannot be written; leave -w out")
	case v.plan.policy == "ask":
		return errors.New("--policy=ask: asks about live objects only; for files use --policy=diff3, and settle what stands between the markers")
	}
	return v.fileOutput.check()
}

func (o *fileOutput) check() error {
	switch o.output {
	case "", "yaml", "diff":
		return nil
	}
	return fmt.Errorf("-o %s: must be yaml or diff", o.output)
}

// job returns the merge that the flags ask for, without the sides.
func (v *filesVerb) job(ctx context.Context, policyGiven bool) (filemerge.Job, error) {
	policy := filemerge.TwoWay
	if v.original != "" || policyGiven {
		var err error
		if policy, err = knownPolicy(v.plan.policy); err != nil {
			return filemerge.Job{}, err
		}
	}
	policy.Prepend = v.prepend
	rules, err := v.plan.readRules(ctx)
	if err != nil {
		return filemerge.Job{}, err
	}
	defs, err := v.plan.definitions(ctx)
	if err != nil {
		return filemerge.Job{}, err
	}
	types := defs.Around(func(_ context.Context, group, version, kind string) (*merge.Type, error) {
		t, _ := schema.Builtin(group, version, kind)
		return t, nil
	})
	return filemerge.Job{Policy: policy, Rules: rules, Infer: v.infer, Schema: known(ctx, types)}, nil
}

// known returns the type of a kind for files; nil if it cannot be found.
func known(ctx context.Context, ask apply.Schemas) func(group, version, kind string) *merge.Type {
	return func(group, version, kind string) *merge.Type {
		t, err := ask(ctx, group, version, kind)
		if err != nil {
			return nil
		}
		return t
	}
}

func (v *filesVerb) read(ctx context.Context, job *filemerge.Job, source, dest string) error {
	var errs [3]error
	in := term.Stdin(ctx, v.In)
	read := filemerge.ReadSide
	if v.original != "" {
		read = filemerge.ReadTree
		job.Original, errs[0] = read(ctx, v.original, in)
	}
	job.Updated, errs[1] = read(ctx, source, in)
	job.Dest, errs[2] = read(ctx, dest, in)
	if v.path != "" {
		job.Original.Call(v.path + " (original)")
		job.Updated.Call(v.path + " (updated)")
		job.Dest.Call(v.path)
	}
	return errors.Join(errs[:]...)
}

// deliver writes or prints the results, and reports the settled conflicts.
func (v *filesVerb) deliver(notes *reporter, job filemerge.Job, out *filemerge.Outcome, driver bool) error {
	if err := v.fileOutput.deliver(v.Out, job.Dest, out.Files, delivery{hides: filemerge.Hiding{ShowSecrets: v.secrets, Rules: job.Rules}, quiet: driver, color: v.colored()}); err != nil {
		return err
	}
	if !notes.quiet {
		notes.brief("note", out.Notes)
	}
	notes.brief("error", out.Conflicts)
	if len(out.Conflicts) > 0 {
		return &exit{Code: conflicted}
	}
	return nil
}

// delivery holds the options of the output.
type delivery struct {
	hides filemerge.Hiding // in a diff
	quiet bool             // written files are not reported
	color bool             // of a diff
}

func (o *fileOutput) deliver(w io.Writer, dest *filemerge.Set, changed []filemerge.Changed, d delivery) error {
	if o.output == "diff" {
		for _, c := range changed {
			text, err := c.Diff(d.hides)
			if err != nil {
				return err
			}
			if d.color {
				text = diff.Colored(text)
			}
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
	}
	if o.output == "yaml" || o.output == "" && !o.write {
		if _, err := w.Write(dest.Stream(changed)); err != nil {
			return err
		}
	}
	if !o.write {
		return nil
	}
	if err := filemerge.Write(dest, changed); err != nil {
		return err
	}
	if d.quiet || o.output != "" {
		return nil
	}
	return sayWritten(w, dest, changed)
}

// sayWritten reports the outcome of each file, in the words used for objects.
func sayWritten(w io.Writer, dest *filemerge.Set, changed []filemerge.Changed) error {
	if len(changed) == 0 {
		_, err := fmt.Fprintf(w, "%s unchanged\n", escape.Line(dest.Name))
		return err
	}
	for _, c := range changed {
		name, word := dest.Name, "configured"
		if dest.Folder {
			name = filepath.Join(dest.Name, filepath.FromSlash(c.Name))
		}
		switch {
		case c.Text == nil:
			word = "deleted"
		case c.File == nil:
			word = "created"
		}
		if _, err := fmt.Fprintf(w, "%s %s\n", escape.Line(name), word); err != nil {
			return err
		}
	}
	return nil
}

// asText is the fallback of a merge driver: if a driver fails, git keeps the current side
// unchanged, so files that cannot be merged as YAML are merged by lines.
func (v *filesVerb) asText(ctx context.Context, notes *reporter, p filemerge.Paths, why error) error {
	conflicts, err := filemerge.TextMerge(ctx, p)
	if err != nil {
		return errors.Join(why, err)
	}
	if !notes.quiet {
		called := strings.NewReplacer()
		name := p.Dest
		if v.path != "" {
			name = v.path
			called = strings.NewReplacer(p.Dest, name, p.Updated, name+" (updated)", p.Original, name+" (original)")
		}
		notes.note("note", diff.Note{Object: name, Kind: noteProblem, Message: "merged by lines, as git does: " + called.Replace(oneLine(strings.ReplaceAll(why.Error(), "\n", "; ")))})
	}
	if conflicts {
		return &exit{Code: conflicted}
	}
	return nil
}
