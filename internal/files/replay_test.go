package files

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// TestReplay merges two branches with hundreds of commits again and again, by git alone and
// by the merge driver. Every commit changes a value that is known, so that the true merge
// is known, too: the driver never gives another one, conflicts in no file where git does
// not, and marks fewer lines than git.
func TestReplay(t *testing.T) {
	r := newReplay(t)
	plain, driver := &tally{name: "git"}, &tally{name: "the driver"}
	for range 24 {
		r.round(6, plain, driver)
	}
	t.Logf("%d commits on two branches, %d files changed on both", r.commits, plain.files)
	t.Logf("%-10s %8s %8s %8s %8s", "", "right", "wrong", "conflict", "lines")
	for _, x := range []*tally{plain, driver} {
		t.Logf("%-10s %8d %8d %8d %8d", x.name, x.files-x.wrong-x.conflicts, x.wrong, x.conflicts, x.lines)
	}
	if driver.wrong > 0 {
		t.Errorf("%d wrong merges", driver.wrong)
	}
	if driver.conflicts >= plain.conflicts || driver.lines >= plain.lines {
		t.Error("the driver is to leave less to the user than git")
	}
	if len(r.worse) > 0 {
		t.Errorf("git merges and the driver does not: %s", strings.Join(r.worse, ", "))
	}
}

// tally counts the outcomes of files that both branches have changed.
type tally struct {
	name                           string
	files, wrong, conflicts, lines int
}

// replay is a repository whose two branches are merged after every few commits.
type replay struct {
	t       *testing.T
	dir     string
	random  *rand.Rand
	texts   map[string]string // where the branches were one
	serial  int
	commits int
	worse   []string
}

func newReplay(t *testing.T) *replay {
	t.Helper()
	texts, err := filepath.Glob("testdata/replay/*.yaml")
	if err != nil || len(texts) == 0 {
		t.Fatalf("nothing to replay: %v", err)
	}
	r := &replay{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(20, 26)), texts: map[string]string{}}
	for _, name := range texts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r.texts[filepath.Base(name)] = string(text)
	}
	r.git("init", "-q", "-b", "main", ".")
	r.git("config", "merge.kubernetes.driver", "kubectl-merge files --driver=%P %O %A %B")
	if err := os.WriteFile(filepath.Join(r.dir, ".git", "driven"), []byte("*.yaml merge=kubernetes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.commit(r.texts)
	return r
}

func (r *replay) git(args ...string) string {
	r.t.Helper()
	out, err := r.try(args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func (r *replay) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "HOME="+r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.Output()
	return string(out), err
}

// commit makes texts the content of the branch that is checked out.
func (r *replay) commit(texts map[string]string) string {
	r.t.Helper()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", ".")
	r.git("commit", "-q", "--allow-empty", "-m", "change")
	r.commits++
	return r.git("rev-parse", "HEAD")
}

// round lets two branches go their ways for some commits, and merges them both ways.
func (r *replay) round(commits int, plain, driver *tally) {
	r.t.Helper()
	base := r.git("rev-parse", "HEAD")
	var heads [2]string
	var edits [2]map[string][]edit
	for side := range 2 {
		r.git("checkout", "-q", "-B", fmt.Sprintf("side%d", side), base)
		texts := maps.Clone(r.texts)
		edits[side] = map[string][]edit{}
		for range commits {
			name := slices.Sorted(maps.Keys(texts))[r.random.IntN(len(texts))]
			r.serial++
			e := drawEdit(name, r.random, r.serial)
			if after := e.on(r.t, texts[name]); after != texts[name] {
				texts[name] = after
				edits[side][name] = append(edits[side][name], e)
			}
			heads[side] = r.commit(texts)
		}
	}
	gitTree := r.mergedTree(false, heads)
	driverTree := r.mergedTree(true, heads)
	for _, name := range slices.Sorted(maps.Keys(r.texts)) {
		truth, overlap := r.truth(name, edits)
		if len(edits[0][name]) > 0 && len(edits[1][name]) > 0 {
			clean := r.count(plain, gitTree, name, truth, overlap)
			if !r.count(driver, driverTree, name, truth, overlap) && clean && !overlap {
				r.worse = append(r.worse, fmt.Sprintf("%s after %d commits", name, r.commits))
			}
		}
		r.texts[name] = truth
	}
	r.git("checkout", "-q", "-B", "main", heads[0])
	r.commit(r.texts)
}

// truth returns a file with the changes of both branches. overlap: both have changed one
// value; text then has the second branch's.
func (r *replay) truth(name string, edits [2]map[string][]edit) (text string, overlap bool) {
	text = r.texts[name]
	for side := range 2 {
		for _, e := range edits[side][name] {
			text = e.on(r.t, text)
			overlap = overlap || slices.ContainsFunc(edits[1-side][name], func(o edit) bool { return o.slot == e.slot })
		}
	}
	return text, overlap
}

// mergedTree merges without touching the work tree.
func (r *replay) mergedTree(driven bool, heads [2]string) string {
	r.t.Helper()
	attributes := "/dev/null"
	if driven {
		attributes = filepath.Join(r.dir, ".git", "driven")
	}
	out, _ := r.try("-c", "core.attributesFile="+attributes, "merge-tree", "--write-tree", "--name-only", heads[0], heads[1])
	tree, _, _ := strings.Cut(out, "\n")
	if len(tree) != 40 {
		r.t.Fatalf("git merge-tree: %s", out)
	}
	return tree
}

// count adds a file's outcome to a tally.
func (r *replay) count(to *tally, tree, name, truth string, overlap bool) (clean bool) {
	r.t.Helper()
	to.files++
	text := r.git("show", tree+":"+name) + "\n"
	if lines := marked(text); strings.Contains(text, "<<<<<<< ") {
		to.conflicts++
		to.lines += lines
		return false
	}
	if got, want := unorderedOf(r.t, text), unorderedOf(r.t, truth); !overlap && got != want {
		to.wrong++
		if to.name == "the driver" {
			r.t.Errorf("%s after %d commits:\n%s\nthe true merge:\n%s", name, r.commits, text, truth)
		}
	}
	return true
}

// marked counts the lines between conflict markers.
func marked(text string) int {
	n, inside := 0, false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "<<<<<<< "):
			inside = true
		case strings.HasPrefix(line, ">>>>>>> "):
			inside = false
		case inside:
			n++
		}
	}
	return n
}

// unorderedOf is the value of a text whatever the order of entries in its lists.
func unorderedOf(t *testing.T, text string) string {
	t.Helper()
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		return err.Error()
	}
	return sorted(f.Documents()[0].Value())
}

// edit is a change of one value in a file. Edits with different slots commute.
type edit struct {
	slot   string
	change func(v any) any
}

// on is the text after the edit.
func (e edit) on(t *testing.T, text string) string {
	t.Helper()
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := f.Documents()[0]
	after, err := d.Edit(yamldoc.Edit{Want: e.change(d.Value())})
	if err != nil {
		t.Fatal(err)
	}
	return string(f.Assemble(map[*yamldoc.Document][]byte{d: after}, nil))
}

// drawEdit draws a change that fits a file. serial makes new names and values differ.
func drawEdit(file string, r *rand.Rand, serial int) edit {
	choices := map[string][]func(n, serial int) edit{
		"deployment.yaml": {
			set("replicas", func(n int) []any { return []any{"spec", "replicas"} }, func(n int) any { return number(n) }),
			set("image", func(n int) []any { return []any{"spec", "template", "spec", "containers", n % 2, "image"} }, version),
			add("env", func(n int) []any { return []any{"spec", "template", "spec", "containers", n % 2, "env"} }, named),
			add("sidecar", func(int) []any { return []any{"spec", "template", "spec", "containers"} }, func(n int) any {
				return map[string]any{"name": fmt.Sprintf("sidecar-%d", n), "image": version(n)}
			}),
			set("label", func(n int) []any { return []any{"metadata", "labels", fmt.Sprintf("team-%d", n)} }, version),
		},
		"configmap.yaml": {
			line("line"), line("line"), line("line"),
			set("key", func(n int) []any { return []any{"data", fmt.Sprintf("KEY_%d", n)} }, version),
		},
		"clusterrole.yaml": {
			set("verbs", func(n int) []any { return []any{"rules", n % 5, "verbs"} }, func(n int) any { return []any{"get", version(n)} }),
			set("resources", func(n int) []any { return []any{"rules", n % 5, "resources"} }, func(n int) any { return []any{version(n)} }),
		},
		"crd.yaml": {
			set("served", func(n int) []any { return []any{"spec", "versions", n % 2, "served"} }, func(n int) any { return n%3 > 0 }),
			set("description", func(n int) []any {
				return []any{"spec", "versions", n % 2, "schema", "openAPIV3Schema", "properties", "spec", "properties", "amount", "description"}
			}, version),
			set("field", func(n int) []any {
				return []any{"spec", "versions", n % 2, "schema", "openAPIV3Schema", "properties", "spec", "properties", fmt.Sprintf("field%d", n)}
			}, func(int) any { return map[string]any{"type": "string"} }),
		},
		"kustomization.yaml": {
			add("resources", func(int) []any { return []any{"resources"} }, func(n int) any { return fmt.Sprintf("file-%d.yaml", n) }),
			add("images", func(int) []any { return []any{"images"} }, func(n int) any {
				return map[string]any{"name": fmt.Sprintf("image-%d", n), "newTag": version(n)}
			}),
			set("tag", func(int) []any { return []any{"images", 0, "newTag"} }, version),
		},
		"prometheusrule.yaml": {
			set("expr", func(n int) []any { return []any{"spec", "groups", 0, "rules", n % 2, "expr"} }, version),
			set("severity", func(int) []any { return []any{"spec", "groups", 1, "rules", 0, "labels", "severity"} }, version),
		},
	}[file]
	return choices[r.IntN(len(choices))](r.IntN(1000), serial)
}

func number(n int) any { return json.Number(fmt.Sprint(n)) }

func version(n int) any { return fmt.Sprintf("v%d", n) }

func named(n int) any {
	return map[string]any{"name": fmt.Sprintf("NAME_%d", n), "value": version(n)}
}

// set puts a new value at a path, of field names and indices.
func set(what string, path func(n int) []any, value func(n int) any) func(n, serial int) edit {
	return func(n, serial int) edit {
		at := path(n)
		return edit{slot: fmt.Sprint(what, at), change: func(v any) any {
			return changedAt(v, at, func(any) any { return value(serial) })
		}}
	}
}

// add puts a new entry at the end of the list at a path.
func add(what string, path func(n int) []any, value func(n int) any) func(n, serial int) edit {
	return func(n, serial int) edit {
		return edit{slot: fmt.Sprint(what, serial), change: func(v any) any {
			return changedAt(v, path(n), func(old any) any {
				list, _ := old.([]any)
				return append(slices.Clone(list), value(serial))
			})
		}}
	}
}

// line changes a line of the configuration file in a ConfigMap. Adjacent lines are one
// place to a merge by lines.
func line(what string) func(n, serial int) edit {
	sections := [][]int{{1, 2}, {5, 6}, {9, 10, 11}}
	return func(n, serial int) edit {
		section := n % len(sections)
		at := sections[section][n/7%len(sections[section])]
		return edit{slot: fmt.Sprint(what, section), change: func(v any) any {
			return changedAt(v, []any{"data", "app.conf"}, func(old any) any {
				lines := strings.Split(old.(string), "\n")
				name, _, _ := strings.Cut(lines[at], " ")
				lines[at] = fmt.Sprintf("%s = %d", name, serial)
				return strings.Join(lines, "\n")
			})
		}}
	}
}

// changedAt is v with another value at a path; what is missing on the way is made.
func changedAt(v any, path []any, change func(old any) any) any {
	if len(path) == 0 {
		return change(v)
	}
	if i, ok := path[0].(int); ok {
		list, _ := v.([]any)
		out := slices.Clone(list)
		out[i] = changedAt(out[i], path[1:], change)
		return out
	}
	m, _ := v.(map[string]any)
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	name := path[0].(string)
	out[name] = changedAt(out[name], path[1:], change)
	return out
}
