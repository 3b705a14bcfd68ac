package e2e

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// presetGroups are the groups of stories that are played once more with --server-side: those
// that say what a merge leads to.
var presetGroups = []string{
	"atomic-map", "conflict", "container-removed", "crd", "equality", "hpa", "identity", "no-original", "null", "numbers", "one-of", "table",
}

// TestStoriesServerSide plays stories with --server-side and, where the story names no policy,
// --force-conflicts, which is the policy that they are played by otherwise. What is live
// afterwards, who has written it and the exit codes have to be the same; what is printed is
// another text, and not looked at.
//
// A story of testdata/server-side.yaml cannot be played so, for the reason given there: it has
// to fail, and say so, or it is to be taken off the list.
func TestStoriesServerSide(t *testing.T) {
	s := server.need(t)
	known, played := presetKnown(t), 0
	t.Run("group", func(t *testing.T) {
		for _, group := range presetGroups {
			t.Run(group, func(t *testing.T) {
				dir := t.TempDir()
				played += presetStories(t, group, dir)
				testscript.RunT(presetT{T: t, group: group, known: known}, testscript.Params{
					Dir: dir, Cmds: storyCommands, RequireExplicitExec: true, RequireUniqueNames: true,
					Setup: func(e *testscript.Env) error { return s.setUp(e, "ss-"+group) },
				})
			})
		}
	})
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // only some are played
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !known[name].met {
			t.Errorf("testdata/server-side.yaml names %s, and there is no such story", name)
		}
	}
	t.Logf("%d stories with --server-side; %d of them cannot be played so, each for a reason", played, len(known))
}

// expected is what is said of a story that cannot be played with --server-side.
type expected struct {
	said    string // what the run of it says
	because string
	met     bool
}

func presetKnown(t *testing.T) map[string]*expected {
	t.Helper()
	text, err := os.ReadFile("testdata/server-side.yaml")
	if err != nil {
		t.Fatal(err)
	}
	v, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*expected{}
	for name, row := range v.(map[string]any) {
		m, _ := row.(map[string]any)
		said, _ := m["said"].(string)
		because, _ := m["because"].(string)
		if said == "" || because == "" {
			t.Fatalf("testdata/server-side.yaml: %s: a story has what is said, and because of what", name)
		}
		known[name] = &expected{said: said, because: because}
	}
	return known
}

// presetStories writes the stories of a group as they are played with --server-side, and
// counts them.
func presetStories(t *testing.T, group, dir string) int {
	t.Helper()
	stories, err := filepath.Glob(filepath.Join("testdata", group, "*.txtar"))
	if err != nil || len(stories) == 0 {
		t.Fatalf("no stories of %s (%v)", group, err)
	}
	for _, story := range stories {
		text, err := os.ReadFile(story)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(story)), []byte(serverSideStory(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return len(stories)
}

var (
	// worded are the lines of a story that look at what is printed.
	worded = regexp.MustCompile(`^(\[[^]]*\] )*(! )?(stdout|stderr|cmp (stdout|stderr)|reqcount \w+=|grep)\b`)

	// merging is a call of the program, with the verbs that know --server-side.
	merging = regexp.MustCompile(`\bkubectl-merge( (diff|explain|drift))?( -|$)`)
)

// serverSideStory is a story with --server-side.
func serverSideStory(story string) string {
	var b strings.Builder
	files := false
	for line := range strings.Lines(story) {
		files = files || strings.HasPrefix(line, "-- ")
		switch {
		case files:
		case worded.MatchString(line):
			continue
		case !strings.HasPrefix(line, "#"):
			flags := " --server-side"
			if !strings.Contains(line, "--policy") && !strings.Contains(line, "--overwrite") && !strings.Contains(line, "drift") {
				flags += " --force-conflicts"
			}
			line = merging.ReplaceAllString(line, "kubectl-merge$1"+flags+"$3")
		}
		b.WriteString(line)
	}
	return b.String()
}

// presetT is a test of testscript's that knows which stories have to fail.
type presetT struct {
	*testing.T
	group    string
	known    map[string]*expected
	expected *expected // nil: the story has to succeed
	log      *strings.Builder
}

// failed is the panic that ends a story that has to fail.
type failed struct{}

func (p presetT) Run(name string, f func(testscript.T)) {
	p.T.Run(name, func(t *testing.T) {
		e := p.known[p.group+"/"+name]
		one := presetT{T: t, expected: e, log: &strings.Builder{}}
		if e == nil {
			f(one)
			return
		}
		e.met = true
		defer func() {
			is := recover()
			if _, ends := is.(failed); !ends && is != nil {
				panic(is)
			}
			switch {
			case t.Skipped():
			case is == nil:
				t.Errorf("can be played with --server-side by now: take it off testdata/server-side.yaml (%s)", e.because)
			case !strings.Contains(one.log.String(), e.said):
				t.Errorf("fails, and does not say %q:\n%s", e.said, one.log)
			}
		}()
		f(one)
	})
}

func (p presetT) Log(args ...any) {
	if p.expected == nil {
		p.T.Log(args...)
		return
	}
	fmt.Fprintln(p.log, args...)
}

func (p presetT) FailNow() {
	if p.expected == nil {
		p.T.FailNow()
	}
	panic(failed{})
}

func (p presetT) Fatal(args ...any) { p.Log(args...); p.FailNow() }

func (p presetT) Verbose() bool { return testing.Verbose() }
