// Command replay plays the merges of git histories again: each YAML file that both sides
// of a merge commit have changed, by git merge-file and by the merge driver. It counts what
// each leaves to the user, which results are those that people committed, and what the
// driver has lost: a change of one side that is neither in the result nor in a conflict.
// Files that the driver leaves to git are counted and not compared. It refuses to ask the
// engine what is right; the law is computed from the texts alone.
//
//	go run ./test/replay [-show FOLDER] CLONE...
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

func main() {
	show := flag.String("show", "", "write each merge that is worse than git's into this FOLDER")
	flag.Parse()
	if err := run(flag.Args(), *show); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run(clones []string, show string) error {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "repository\tleft to git\tmerges\tgit clean\tdriver clean\tclean where git conflicts\tconflict where git is clean\twrong\tas committed: git\tdriver\tslowest\tseconds")
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var all tally
	for _, clone := range clones {
		var one tally
		if err := history(clone, func(t triple) error { return one.count(t, dir, show) }); err != nil {
			return fmt.Errorf("%s: %w", clone, err)
		}
		one.print(out, clone)
		all.add(one)
		out.Flush()
	}
	all.print(out, "all")
	return out.Flush()
}

// tally counts the files that both sides have changed.
type tally struct {
	left, merges, gitClean, clean, better, worse, wrong, gitSame, same int
	took, slowest                                                      time.Duration // of the driver
}

func (t *tally) add(o tally) {
	t.left += o.left
	t.merges += o.merges
	t.gitClean += o.gitClean
	t.clean += o.clean
	t.better += o.better
	t.worse += o.worse
	t.wrong += o.wrong
	t.gitSame += o.gitSame
	t.same += o.same
	t.took += o.took
	t.slowest = max(t.slowest, o.slowest)
}

func (t tally) print(w *tabwriter.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t%.1f\n", name, t.left, t.merges, t.gitClean, t.clean,
		t.better, t.worse, t.wrong, t.gitSame, t.same, t.slowest.Seconds(), t.took.Seconds())
}

// triple is one file of one merge commit.
type triple struct {
	commit, path                  string
	base, ours, theirs, committed []byte
}

// count merges a file both ways. dir is for git's files.
func (t *tally) count(c triple, dir, show string) error {
	began := time.Now()
	got, says, ok := byDriver(c)
	took := time.Since(began)
	if !ok {
		t.left++
		return nil
	}
	git, err := byGit(c, dir)
	if err != nil {
		return err
	}
	t.took, t.slowest = t.took+took, max(t.slowest, took)
	lost := lost(c, got)
	t.merges++
	add := func(to *int, yes bool) {
		if yes {
			*to++
		}
	}
	add(&t.gitClean, git.clean)
	add(&t.clean, got.clean)
	add(&t.better, got.clean && !git.clean)
	add(&t.worse, git.clean && !got.clean)
	add(&t.wrong, len(lost) > 0)
	add(&t.gitSame, git.clean && alike(git.text, string(c.committed)))
	add(&t.same, got.clean && alike(got.text, string(c.committed)))
	if show != "" && (len(lost) > 0 || git.clean && !got.clean) {
		c.write(show, map[string]string{"git": git.text, "got": got.text, "lost": strings.Join(lost, "\n") + "\n" + says})
	}
	return nil
}

// byDriver merges as the driver does; ok is false where it leaves the file to git.
func byDriver(c triple) (got merged, says string, ok bool) {
	sides := make([]*files.Set, 3)
	for i, text := range [][]byte{c.base, c.theirs, c.ours} {
		var err error
		if sides[i], err = files.Parse(c.path, text); err != nil {
			return merged{}, "", false
		}
	}
	if !files.Kubernetes(sides...) {
		return merged{}, "", false
	}
	policy, _ := merge.PolicyNamed("diff3")
	out, err := files.Merge(files.Job{Original: sides[0], Updated: sides[1], Dest: sides[2], Policy: policy, Infer: true, Schema: builtin})
	if err != nil {
		return merged{}, "", false
	}
	got = views(string(c.ours))
	if len(out.Files) > 0 {
		got = views(string(out.Files[0].Text))
	}
	got.clean = len(out.Conflicts) == 0
	for _, n := range out.Conflicts {
		says += n.String() + "\n"
	}
	return got, says, true
}

func builtin(group, version, kind string) *merge.Type {
	t, _ := schema.Builtin(group, version, kind)
	return t
}

// write stores a merge to look at.
func (c triple) write(folder string, more map[string]string) {
	dir := filepath.Join(folder, c.commit[:10]+"-"+strings.ReplaceAll(c.path, "/", "_"))
	if os.MkdirAll(dir, 0o755) != nil {
		return
	}
	more["base"], more["ours"], more["theirs"], more["committed"] = string(c.base), string(c.ours), string(c.theirs), string(c.committed)
	for name, text := range more {
		_ = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	}
}

// merged is a merged text, and what it would be if the user took one side of each conflict.
type merged struct {
	text, ours, theirs string
	clean              bool
}

// byGit merges by lines.
func byGit(c triple, dir string) (merged, error) {
	args := []string{"merge-file", "-p", "-q", "-L", "dest", "-L", "original", "-L", "updated"}
	for i, text := range [][]byte{c.ours, c.base, c.theirs} {
		name := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return merged{}, err
		}
		args = append(args, name)
	}
	out, err := exec.Command("git", args...).Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 127) {
		return merged{}, fmt.Errorf("git merge-file: %s of %s: %w", c.path, c.commit, err)
	}
	return merged{text: string(out), clean: err == nil}, nil
}

// views reads a text with conflict markers.
func views(text string) merged {
	var a, b strings.Builder
	ours, theirs := true, true
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "<<<<<<< "):
			theirs = false
		case strings.TrimRight(line, "\r\n") == "=======" && !theirs:
			ours, theirs = false, true
		case strings.HasPrefix(line, ">>>>>>> "):
			ours, theirs = true, true
		default:
			if ours {
				a.WriteString(line)
			}
			if theirs {
				b.WriteString(line)
			}
		}
	}
	return merged{text: text, ours: a.String(), theirs: b.String()}
}

// alike: two texts hold the same, whatever the order of documents and entries.
func alike(a, b string) bool {
	if bytes.Equal([]byte(a), []byte(b)) {
		return true
	}
	x, y := names{}.facts(a), names{}.facts(b)
	if !isYAML(a) || !isYAML(b) || len(x) != len(y) {
		return false
	}
	for f, n := range x {
		if y[f] != n {
			return false
		}
	}
	return true
}
