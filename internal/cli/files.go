package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

var _ = registerVerb(verb{
	use: "files SOURCE DEST", short: "Merge YAML files or folders, two-way or three-way",
	long: `Merge YAML files or folders into others, with the comments and the layout of DEST kept.

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
>>>>>>>, and the exit code is 3. With --driver it is git's merge driver, by --policy=diff3:
what is not Kubernetes YAML is merged by lines, as git does.`,
	example: `  # what base.yaml states, into mine.yaml
  kubectl merge files base.yaml mine.yaml -w
  # a patch written for kustomize, or for kubectl patch
  kubectl merge files patch.yaml deploy.yaml -w
  # what changed between two releases of a folder, into mine
  kubectl merge files --original v1/ v2/ mine/ -o diff
  # as a merge driver, in git's config:
  # driver = kubectl merge files --driver=%P %O %A %B`,
	takes: twoSides, args: anyFile,
	run: func(c *call, ctx context.Context) error { return c.mergeFiles(ctx, c.args[0], c.args[1]) },
})

// gitsOwn reports whether a file is one of those that git gives to a merge driver.
func gitsOwn(name string) bool { return strings.HasPrefix(filepath.Base(name), ".merge_file_") }

// asDriver takes what git gives, in the order in which git names it. Git takes a driver that writes
// nothing for one that keeps the current side: what the other side has changed would be lost.
func asDriver(c *call) error {
	switch {
	case c.driver != "" && len(c.args) == 3:
		c.original, c.path, c.write = c.args[0], c.driver, true
		c.args = []string{c.args[2], c.args[1]}
		if !c.given("policy") {
			c.policy = "diff3"
		}
	case c.driver != "", slices.ContainsFunc(c.args, gitsOwn) && (!c.write || c.original == ""):
		return errors.New("git's merge driver takes the three files that git gives it: its line is `kubectl merge files --driver=%P %O %A %B`: the file has one side alone now: git merge --abort, correct the line, and merge again")
	}
	return nil
}

func twoSides(c *call) error {
	if err := asDriver(c); err != nil {
		return err
	}
	got := diff.Count(len(c.args), "argument", "arguments")
	switch len(c.args) {
	case 2:
		if c.asks() {
			return errors.New("--policy=ask: asks about live objects only: for files use --policy=diff3, and settle what stands between the markers")
		}
		return nil
	case 3:
		got += "; did you mean `--original ORIGINAL SOURCE DEST`?"
	}
	return c.usage("expected SOURCE and DEST, got " + got)
}

// mergeFiles merges files into files.
func (v *call) mergeFiles(ctx context.Context, source, dest string) error {
	notes := v.reporter()
	if err := v.checkSides(source, dest); err != nil {
		return err
	}
	job, err := v.filesJob(ctx)
	if err != nil {
		return err
	}
	driver := v.write && v.original != "" && job.Policy.Name == "diff3" && filemerge.IsFile(dest) // git has no folders to merge
	err = v.readSides(ctx, &job, source, dest)
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

// checkSides reports invalid combinations before anything is read.
func (v *call) checkSides(source, dest string) error {
	stdin := 0
	for _, name := range []string{source, dest, v.original} {
		if name == "-" {
			stdin++
		}
	}
	switch err := v.emptied(source, dest, v.original); {
	case err != nil:
		return err
	case stdin > 1:
		return errors.New("only one of SOURCE, DEST and --original can be - (standard input)")
	case dest == "-" && v.write:
		return errors.New("-w: DEST is standard input, and cannot be written; leave -w out")
	}
	return nil
}

// filesJob returns the merge that the flags ask for, without the sides.
func (v *call) filesJob(ctx context.Context) (filemerge.Job, error) {
	policy := filemerge.TwoWay
	if v.original != "" || v.given("policy") {
		var err error
		if policy, err = merge.PolicyNamed(v.policy); err != nil {
			return filemerge.Job{}, err
		}
	}
	policy.Prepend = v.prepend
	rules, err := v.readRules(ctx)
	if err != nil {
		return filemerge.Job{}, err
	}
	defs, err := v.definitions(ctx)
	if err != nil {
		return filemerge.Job{}, err
	}
	types := defs.Around(func(_ context.Context, group, version, kind string) (*merge.Type, error) {
		t, _ := schema.Builtin(group, version, kind)
		return t, nil
	})
	return filemerge.Job{Policy: policy, Rules: rules, Infer: v.infer, Schema: func(group, version, kind string) *merge.Type {
		t, _ := types(ctx, group, version, kind) // with an error it is not known
		return t
	}}, nil
}

func (v *call) readSides(ctx context.Context, job *filemerge.Job, source, dest string) error {
	var errs [3]error
	in := term.Stdin(ctx, v.In)
	keeps := filemerge.Templates
	if v.original != "" {
		keeps = filemerge.Everything
		job.Original, errs[0] = filemerge.Read(ctx, v.original, in, keeps)
	}
	job.Updated, errs[1] = filemerge.Read(ctx, source, in, keeps)
	job.Dest, errs[2] = filemerge.Read(ctx, dest, in, keeps)
	which := []string{"after --original", "of SOURCE", "of DEST"}
	if v.path != "" {
		which = []string{"in the place of %O", "in the place of %B", "in the place of %A"}
	}
	if err := errors.Join(checkName(errs[0], which[0]), checkName(errs[1], which[1]), checkName(errs[2], which[2])); err != nil {
		return err
	}
	for name, side := range map[string]*filemerge.Set{"SOURCE": job.Updated, "DEST": job.Dest, "--original": job.Original} {
		switch none := side != nil && side.Empty(); {
		case none && job.Original == nil && side == job.Updated:
			return fmt.Errorf("no document passed to merge: %s: holds none", sideName(side))
		case none && side.Name == "-":
			v.note(name, "standard input holds no document")
		}
	}
	if v.path != "" {
		job.Original.Call(v.path + " (original)")
		job.Updated.Call(v.path + " (updated)")
		job.Dest.Call(v.path)
	}
	return nil
}

func sideName(s *filemerge.Set) string {
	if s.Name == "-" {
		return "standard input"
	}
	return s.Name
}

// checkName adds to the error of a file that does not exist which name to check.
func checkName(err error, which string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: check the name %s", err, which)
	}
	return err
}

// deliver writes or prints the results, and reports the settled conflicts.
func (v *call) deliver(notes *reporter, job filemerge.Job, out *filemerge.Outcome, driver bool) error {
	if err := v.deliverFiles(job, out.Files, driver); err != nil {
		return err
	}
	if !notes.quiet {
		notes.brief("note", out.Notes)
		if out.Reversed && len(out.Files) > 0 {
			v.note(sideName(job.Dest), "states only a part of what SOURCE does: a patch is SOURCE, and what it changes DEST, as in files PATCH FILE")
		}
		if out.Apart && len(out.Files) > 0 {
			v.note(sideName(job.Updated), "DEST has none of its objects: they are added to it; check their names and namespaces, and that DEST is the file that is meant")
		}
	}
	for i, n := range out.Conflicts {
		if n.Merged != "" && !v.write { // the file has no markers
			out.Conflicts[i].Merged = "the result for " + n.Merged
		}
	}
	notes.brief("error", out.Conflicts)
	if len(out.Conflicts) > 0 {
		return &exit{Code: conflicted}
	}
	return nil
}

// deliverFiles prints the changed files, or writes them. quiet states that written ones are not reported.
func (c *call) deliverFiles(job filemerge.Job, changed []filemerge.Changed, quiet bool) error {
	dest := job.Dest
	if c.output == "diff" {
		hiding := filemerge.Hiding{ShowSecrets: c.secrets, Rules: job.Rules}.With(job.Original, job.Updated, job.Dest)
		for _, one := range changed {
			text, err := one.Diff(hiding)
			if err != nil {
				return err
			}
			if err := c.printDiff(text); err != nil {
				return err
			}
		}
	}
	if c.output == "yaml" || c.output == "" && !c.write {
		if _, err := c.Out.Write(dest.Stream(changed)); err != nil {
			return err
		}
	}
	if !c.write {
		return nil
	}
	if err := filemerge.Write(dest, changed); err != nil || quiet || c.output != "" {
		return err
	}
	return sayWritten(c.Out, dest, changed)
}

func (c *call) printDiff(text string) error {
	if c.colored() {
		text = diff.Colored(text)
	}
	_, err := io.WriteString(c.Out, text)
	return err
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
func (v *call) asText(ctx context.Context, notes *reporter, p filemerge.Paths, why error) error {
	name := cmp.Or(v.path, p.Dest)
	if errors.Is(why, fs.ErrNotExist) {
		return why
	}
	conflicts, err := filemerge.TextMerge(ctx, p)
	switch {
	case errors.Is(err, filemerge.ErrBinary):
		notes.brief("error", []diff.Note{{Object: name, Kind: diff.NoteConflict, Message: "the file " + err.Error() +
			", and both sides have changed it: dest's is kept. Leave such files to git: " + escape.Text(filepath.Base(name)) + " binary, in .gitattributes"}})
	case err != nil:
		return errors.Join(why, err)
	case !notes.quiet:
		first, _, _ := strings.Cut(why.Error(), "\n")
		called := strings.NewReplacer()
		if v.path != "" {
			called = strings.NewReplacer(p.Dest, name, p.Updated, name+" (updated)", p.Original, name+" (original)")
		}
		notes.note("note", diff.Note{Object: name, Kind: noteProblem, Message: "merged by lines, as git does: " + called.Replace(oneLine(first))})
	}
	if conflicts {
		return &exit{Code: conflicted}
	}
	return nil
}
