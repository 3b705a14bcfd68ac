// Command replay plays the merges of git histories again: each YAML file that both sides
// of a merge commit have changed, by lines as git merges it, and by the merge driver. It
// counts what each leaves to the user, and what the driver has lost: a change of one side
// that is neither in the result nor in a conflict. It refuses to ask the engine what is
// right; the law is computed from the texts alone.
//
//	go run ./test/replay [-show FOLDER] CLONE...
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/pkg/linemerge"
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
	fmt.Fprintln(out, "repository\tmerges\tgit clean\tdriver clean\tclean where git conflicts\tconflict where git is clean\twrong\tas committed: git\tdriver\tseconds")
	var all tally
	for _, clone := range clones {
		triples, err := history(clone)
		if err != nil {
			return fmt.Errorf("%s: %w", clone, err)
		}
		var one tally
		began := time.Now()
		for _, t := range triples {
			one.count(t, show)
		}
		one.took = time.Since(began)
		one.print(out, clone)
		all.add(one)
		out.Flush()
	}
	all.print(out, "all")
	return out.Flush()
}

// tally counts the files that both sides have changed.
type tally struct {
	merges, gitClean, clean, better, worse, wrong, gitSame, same int
	took                                                         time.Duration
}

func (t *tally) add(o tally) {
	t.merges += o.merges
	t.gitClean += o.gitClean
	t.clean += o.clean
	t.better += o.better
	t.worse += o.worse
	t.wrong += o.wrong
	t.gitSame += o.gitSame
	t.same += o.same
	t.took += o.took
}

func (t tally) print(w *tabwriter.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\n", name, t.merges, t.gitClean, t.clean, t.better, t.worse, t.wrong, t.gitSame, t.same, t.took.Seconds())
}

// triple is one file of one merge commit.
type triple struct {
	commit, path                  string
	base, ours, theirs, committed []byte
}

// count merges a file both ways. A file that is no Kubernetes YAML the driver leaves to git.
func (t *tally) count(c triple, show string) {
	sides := make([]*files.Set, 3)
	for i, text := range [][]byte{c.base, c.theirs, c.ours} {
		var err error
		if sides[i], err = files.Parse(c.path, text); err != nil {
			return
		}
	}
	if !files.Kubernetes(sides...) {
		return
	}
	policy, _ := merge.PolicyNamed("diff3")
	out, err := files.Merge(files.Job{Original: sides[0], Updated: sides[1], Dest: sides[2], Policy: policy, Infer: true, Schema: builtin})
	git := byLines(c)
	got, says := git, ""
	if err == nil {
		got = merged{ours: string(c.ours), theirs: string(c.ours), text: string(c.ours), clean: len(out.Conflicts) == 0}
		if len(out.Files) > 0 {
			got = views(string(out.Files[0].Text))
			got.clean = len(out.Conflicts) == 0
		}
		for _, n := range out.Conflicts {
			says += n.String() + "\n"
		}
	} else {
		says = "by lines: " + err.Error() + "\n"
	}
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

func byLines(c triple) merged {
	m := merged{clean: true}
	for _, k := range linemerge.Merge(string(c.base), string(c.ours), string(c.theirs)) {
		m.clean = m.clean && !k.Conflict
		m.ours += k.Ours
		if m.theirs += k.Theirs; !k.Conflict {
			m.text += k.Ours
			continue
		}
		m.text += "<<<<<<< dest\n" + k.Ours + "=======\n" + k.Theirs + ">>>>>>> updated\n"
	}
	return m
}

// views reads a text with conflict markers.
func views(text string) merged {
	m := merged{text: text, clean: true}
	ours, theirs := true, true
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "<<<<<<< "):
			m.clean, theirs = false, false
		case strings.TrimRight(line, "\r\n") == "=======" && !theirs:
			ours, theirs = false, true
		case strings.HasPrefix(line, ">>>>>>> "):
			ours, theirs = true, true
		default:
			if ours {
				m.ours += line
			}
			if theirs {
				m.theirs += line
			}
		}
	}
	return m
}

// alike: two texts hold the same, whatever the order of documents and entries.
func alike(a, b string) bool {
	if bytes.Equal([]byte(a), []byte(b)) {
		return true
	}
	x, ok := facts(a)
	y, ok2 := facts(b)
	if !ok || !ok2 || len(x) != len(y) {
		return false
	}
	for f, n := range x {
		if y[f] != n {
			return false
		}
	}
	return true
}
