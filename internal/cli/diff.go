package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/outcome"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

const diffLong = `Show what a merge would change in the cluster, as a unified diff of live against the
result. Without a file, what was applied last is used as local. Needs only permission to
get the objects. The values of Secrets are not shown.

With --dry-run=server the server is asked what it would make of the result, with its
defaults and webhooks; that needs permission to write, and writes nothing.

-o prints another report instead of the diff; -o plan prints one that a run can be bound to
with --plan.

KUBECTL_EXTERNAL_DIFF names a program, and its arguments, that shows the differences between
two folders instead. It has to exit with 0 for none, 1 for some, and more for errors.

Exit code 0: nothing would change; 1: something would; 2: an error; 3: conflicts are left.`

const diffExample = `  kubectl merge diff -f web.yaml
  kubectl merge diff deployment/web
  kubectl merge diff -f web.yaml -o plan > plan.yaml
  kubectl merge diff -f web.yaml --live live.yaml
  KUBECTL_EXTERNAL_DIFF="colordiff -N -u" kubectl merge diff -f web.yaml`

// Unlike kubectl: it merges here rather than in a dry run of the server, so that permission to get
// the objects is enough.
var _ = registerVerb(verb{
	use: "diff (-f FILE | -k DIRECTORY | TYPE/NAME...)", short: "Show what a merge would change in the cluster", long: diffLong, example: diffExample,
	inputs: "diff", previews: true, failure: diffFailed, args: objectArgs, takes: (*call).checkNamed, run: (*call).diff, sum: (*call).printed,
})

// diff runs the verb; on a terminal, its output is shown page by page.
func (c *call) diff(ctx context.Context) error {
	done := c.page()
	differs, left, err := c.differs(ctx)
	err = c.guarded(errors.Join(err, done()))
	switch {
	case err == nil && left > 0:
		return &exit{Code: conflicted}
	case err == nil && differs:
		return &exit{Code: failed}
	}
	return err
}

// differs prints the diff, or another report, of every object, even if others have errors. left
// counts the objects that are left to the user.
func (c *call) differs(ctx context.Context) (differs bool, left int, err error) {
	t, err := c.results(ctx)
	if err != nil {
		return false, 0, err
	}
	r, err := c.request(ctx)
	if err != nil {
		return false, 0, err
	}
	r.Render = rendering(t.out, t.notes, c.mode)
	s, err := t.begin(ctx, r)
	if err != nil {
		return false, 0, err
	}
	c.finish(ctx, s.Plan, s.Preview, func(item *run.Item) {
		differs = differs || item.Action().Writes()
		t.item(item)
	})
	left = t.close(ctx, s, outcome.Ended{Plan: s.Plan, DryRun: true})
	if d, ok := t.out.(*differ); ok {
		differs = d.differs
	}
	return differs, left, errors.Join(s.Failed(), errors.Join(t.errs...))
}

// differ is the printer of objects in two forms, live and written or expected: it prints each diff, or passes all at once, in close, to the
// program that KUBECTL_EXTERNAL_DIFF names.
type differ struct {
	view
	program []string // and its arguments; none: it prints them itself
	texts   []texts  // for the program
	differs bool     // an object does
}

// texts holds the two forms of one object, as they may be shown.
type texts struct{ name, live, result string }

func (v view) differ() *differ {
	if v.found != nil { // what several clusters share is found in texts
		return &differ{view: v}
	}
	return &differ{view: v, program: strings.Fields(os.Getenv("KUBECTL_EXTERNAL_DIFF"))}
}

// render returns the text of an item's diff; nil if a program makes it.
func (d *differ) render(item *run.Item) any {
	if len(d.program) > 0 {
		return nil
	}
	var text bytes.Buffer
	if _, err := diff.Unified(&text, d.doc(item), d.options()); err != nil {
		return nil // it is reported when the item is shown
	}
	return text.Bytes()
}

// printObject shows an item, whose diff may have been rendered before.
func (d *differ) printObject(item *run.Item) error {
	text, made := item.Rendered.([]byte)
	switch {
	case item.Result.Outcome == write.Unchanged:
		return nil
	case !made:
		return d.show(d.doc(item))
	}
	_, err := d.Out.Write(text)
	d.differs = d.differs || len(text) > 0
	return err
}

func (d *differ) options() diff.Options {
	return diff.Options{Color: d.colored(), ShowManagedFields: d.managedFields, ShowSecrets: d.secrets}
}

// show prints an object's diff. With a program, close does.
func (d *differ) show(doc diff.Doc) error {
	o := d.options()
	if len(d.program) == 0 {
		differs, err := diff.Unified(d.Out, doc, o)
		d.differs = d.differs || differs
		return err
	}
	live, result, err := diff.Texts(doc, o)
	if err != nil {
		return fmt.Errorf("%s: %w", doc.Name, err)
	}
	if live != result {
		d.texts = append(d.texts, texts{doc.Name, live, result})
	}
	return nil
}

// close runs the program on two folders, with a file for each object that differs. Its exit code is
// read as kubectl reads it: 0 no differences, 1 differences, anything else an error.
func (d *differ) close(ctx context.Context) (err error) {
	if len(d.texts) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "kubectl-merge-diff-*") // 0700
	if err != nil {
		return fmt.Errorf("KUBECTL_EXTERNAL_DIFF: no folder for its files: %w", err)
	}
	// Removed at once when the run is interrupted: the program may take its time to end.
	stop := context.AfterFunc(ctx, func() { _ = os.RemoveAll(dir) })
	defer func() {
		stop()
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	live, merged := filepath.Join(dir, "LIVE"), filepath.Join(dir, "MERGED")
	if err := writeTexts(live, merged, d.texts); err != nil {
		return fmt.Errorf("KUBECTL_EXTERNAL_DIFF: %w", err)
	}
	return d.run(ctx, live, merged)
}

// diffPatience is how long an interrupted diff program may take to end.
const diffPatience = 2 * time.Second

// run calls the program as kubectl does, with the folders before the arguments
// that the user gave.
//
// Unlike kubectl: arguments with a dot, a slash or another sign in them are passed
// on too (kubectl leaves them out without a word; no shell reads them), and the
// program has standard input, so that it may be one that is used by hand.
func (d *differ) run(ctx context.Context, live, merged string) error {
	cmd := exec.CommandContext(ctx, d.program[0], append([]string{live, merged}, d.program[1:]...)...)
	cmd.Stdout, cmd.Stderr = d.Out, term.Direct(d.ErrOut)
	if f, ok := d.In.(*os.File); ok { // any other reader would have to be copied, and waited for
		cmd.Stdin = f
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = diffPatience
	err := cmd.Run()
	var code *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &code) && code.ExitCode() == 1:
		d.differs = true
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("KUBECTL_EXTERNAL_DIFF: %s: there is no such program on PATH: install it, or unset the variable", d.program[0])
	case err != nil:
		return fmt.Errorf("KUBECTL_EXTERNAL_DIFF: %s: %w: it is to exit with 0 or 1", d.program[0], err)
	}
	return nil
}

// writeTexts creates the folders and files, readable only by the user.
func writeTexts(live, merged string, all []texts) error {
	for _, dir := range []string{live, merged} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	taken := map[string]bool{}
	for _, t := range all {
		name := fileName(t.name, taken)
		if err := errors.Join(
			os.WriteFile(filepath.Join(live, name), []byte(t.live), 0o600),
			os.WriteFile(filepath.Join(merged, name), []byte(t.result), 0o600),
		); err != nil {
			return err
		}
	}
	return nil
}

// longestName leaves space for a number after it: file systems allow 255 bytes.
const longestName = 240

// fileName returns a unique file name for the object: names come from files that anyone may have
// written.
func fileName(name string, taken map[string]bool) string {
	name = escape.FileName(name)
	name = name[:min(len(name), longestName)]
	unique := name
	for n := 2; taken[strings.ToLower(unique)]; n++ { // some file systems ignore case
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}
