package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestSilent plants random values in Secrets and looks for them in everything that
// the program says and leaves: output, notes, conflicts, errors about bad input
// and from the server, logs at -v=9, questions, temporary files, what a diff
// program is given, and the caches in HOME. Whatever was not asked for in so many
// words (-o yaml, json, patch, --show-secrets) may not show.
func TestSilent(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	n := seed(t)
	for round := range *soak {
		p := &planter{Rand: rand.New(rand.NewPCG(n, uint64(round)))}
		u := s.user(t, "silent")
		for _, name := range []string{"v1.yaml", "v2.yaml", "theirs.yaml"} {
			u.file(name, p.secrets(t))
		}
		u.file("bad.yaml", p.refused(t))
		h := hush{planter: p, user: u, tmp: filepath.Join(u.dir, "tmp"), printed: shownForms(t, u)}
		h.scenes(t)
		h.mutants(t)
		h.left(t)
		if t.Failed() {
			return
		}
	}
}

// hush looks at what is said.
type hush struct {
	*planter
	user    *user
	tmp     string
	printed []shownForm
	program string // KUBECTL_EXTERNAL_DIFF
}

// run runs a command and searches what it says; stdout only where nothing was
// asked for in so many words.
func (h hush) run(t *testing.T, asked bool, name string, args ...string) {
	t.Helper()
	cmd := h.user.command(t.Context(), name, args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+h.tmp, "KUBECTL_EXTERNAL_DIFF="+h.program)
	s := h.user.ends(cmd)
	h.search(t, s.line+": stderr", s.stderr)
	if !asked {
		h.search(t, s.line+": stdout", s.stdout)
	}
}

func (h hush) search(t *testing.T, where, text string) {
	t.Helper()
	if found := h.find(text); found != "" {
		t.Errorf("%s: shows a planted value: …%q…", where, found)
	}
}

// scenes plays what people do with Secrets, everything logged.
func (h hush) scenes(t *testing.T) {
	if err := os.Mkdir(h.tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	h.run(t, false, "kubectl-merge", "-f", "v1.yaml", "-v=9")
	h.user.does("kubectl", "apply", "--field-manager=rival", "-f", "theirs.yaml") // its annotation has the values
	h.user.file("live.yaml", h.user.does("kubectl", "get", "secrets", "-o", "yaml", "--show-managed-fields").stdout)
	for _, from := range [][]string{{}, {"--live", "live.yaml"}} {
		h.forms(t, from)
	}
	h.run(t, false, "kubectl-merge", "diff", "-f", "v2.yaml", "--dry-run=server", "--show-managed-fields", "-v=9")
	for _, o := range []string{"yaml", "json", "patch", "jsonpath={.data}"} {
		h.run(t, true, "kubectl-merge", "-f", "v2.yaml", "--dry-run", "-o", o, "-v=9")
	}
	h.run(t, false, "kubectl-merge", "-f", "bad.yaml", "-v=9")
	h.run(t, false, "kubectl-merge", "-f", "bad.yaml", "-v=9", "--validate=ignore", "--preflight=false")
	h.run(t, false, "kubectl-merge", "diff", "-f", "bad.yaml", "-v=9")
	h.run(t, false, "kubectl-merge", "-f", "v2.yaml", "-v=9", "--as=nobody")
	h.overtaken(t)
	h.external(t)
	h.asked(t)
	h.run(t, false, "kubectl-merge", "-f", "v2.yaml", "-v=9")
	h.run(t, false, "kubectl-merge", "-f", "v2.yaml", "-v=9", "--dry-run=server")
}

var ways = []string{"--policy=apply", "--policy=live", "--policy=diff3", "--original=none", "--original=managed-fields", "--strategy=strategic", "--strategy=json"}

// forms looks at every form that hides.
func (h hush) forms(t *testing.T, from []string) {
	for _, f := range h.printed {
		if f.asked || !f.takes("live") {
			continue
		}
		how := []string{"--policy=strict", ways[h.IntN(len(ways))]}[h.IntN(2)]
		h.run(t, false, "kubectl-merge", slices.Concat(f.verb, f.output(), []string{"-f", "v2.yaml", how, "-v=9"}, f.dry(), from)...)
	}
}

// overtaken has others write between reading and writing.
func (h hush) overtaken(t *testing.T) {
	p, err := newProxy(h.user.server.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	patch := fmt.Sprintf(`{"stringData":{"password":%q,"gone":%q}}`, h.mark(), h.mark())
	direct := h.user.admin()
	p.times = 3
	p.rival = func(int) error {
		for _, name := range []string{"one", "two", "three", "four"} {
			cmd := direct.command(context.Background(), "kubectl", "patch", "secret/"+name, "--type=merge", "--field-manager=rival", "-p", patch)
			if err := cmd.Run(); err != nil {
				return err
			}
		}
		return nil
	}
	overtaken := *h.user
	overtaken.dir = t.TempDir() // for its kubeconfig
	overtaken.through(p)
	overtaken.dir = h.user.dir
	over := h
	over.user = &overtaken
	over.run(t, false, "kubectl-merge", "-f", "v2.yaml", "-v=9", "--preflight=false")
	if p.rivalled == 0 {
		t.Error("no run was overtaken")
	}
}

// external has a diff program keep a copy of what it is given.
func (h hush) external(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	kept := filepath.Join(h.user.dir, "kept")
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	script := h.user.file("keep", "#!/bin/sh\ncp -r \"$1\" \"$2\" "+kept+"\n")
	h.program = filepath.Join(h.user.dir, script)
	if err := os.Chmod(h.program, 0o700); err != nil {
		t.Fatal(err)
	}
	h.run(t, false, "kubectl-merge", "diff", "-f", "theirs.yaml", "--show-managed-fields", "-v=9")
	h.searchFiles(t, kept)
}

// asked settles conflicts at a terminal.
func (h hush) asked(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	h.user.file("answers", "Take which => d\nTake which => e\nValue => "+h.mark()+"\nTake which => q\n")
	h.run(t, false, "tty", "answers", "kubectl-merge", "-f", "theirs.yaml", "--policy=ask", "-v=9")
}

// mutants are a file after an accident: cut off, or with a letter too many, or
// another one.
func (h hush) mutants(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(h.user.dir, "v2.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const odd = "\"'`*&!%@{}[]:,|>#-?\t\n\x00"
	for range 60 * *soak {
		at, letter := h.IntN(len(text)), string(odd[h.IntN(len(odd))])
		if line := lineAt(string(text), at); strings.Contains(line, "kind:") || strings.Contains(line, "apiVersion:") {
			continue // it would be no Secret any more
		}
		before, after := string(text[:at]), string(text[at:])
		h.user.file("mutant.yaml", []string{before, before + letter + after, before + letter + after[1:]}[h.IntN(3)])
		h.run(t, false, "kubectl-merge", "diff", "-f", "mutant.yaml", "--live", "live.yaml")
	}
}

// lineAt is the line around a place.
func lineAt(text string, at int) string {
	from := strings.LastIndex(text[:at], "\n") + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return line
}

// left searches what is left behind.
func (h hush) left(t *testing.T) {
	entries, err := os.ReadDir(h.tmp)
	if err != nil || len(entries) > 0 {
		t.Errorf("temporary files are left: %v %v", entries, err)
	}
	h.searchFiles(t, h.user.home)
}

func (h hush) searchFiles(t *testing.T, dir string) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		found++
		h.search(t, path, string(text))
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%s: %d files looked at: %v", dir, found, err)
	}
}

// TestSilentLooks keeps the search honest.
func TestSilentLooks(t *testing.T) {
	p := &planter{Rand: rand.New(rand.NewPCG(1, 1))}
	mark := p.mark()
	for _, said := range []string{mark, "xx" + mark[:9] + "…", encoded(mark), encoded("a" + mark), encoded("ab" + mark + "c"), encoded("abc" + mark)} {
		if p.find("before "+said+" after") == "" {
			t.Errorf("%q was not found", said)
		}
	}
	if found := p.find("before and after"); found != "" {
		t.Errorf("%q was found where nothing was", found)
	}
}
