package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-merge/kubectl-merge/test/part"
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
	t.Parallel()
	known := presetKnown(t)
	files, played := storyFiles(t, presetGroups...), part.Chosen(t)
	for i, file := range files {
		e := known[storyName(file)]
		if e != nil {
			e.met = true
		}
		if !played.Has(i) {
			continue
		}
		t.Run(storyName(file), func(t *testing.T) {
			t.Parallel()
			presetStory(t, file, e)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !known[name].met {
			t.Errorf("testdata/server-side.yaml names %s, and there is no such story", name)
		}
	}
	t.Logf("a part of %d stories with --server-side; %d of them cannot be played so, each for a reason", len(files), len(known))
}

// expected is the message about a story that cannot be played with --server-side.
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

// presetStory plays a story as it is played with --server-side.
func presetStory(t *testing.T, file string, e *expected) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(written, []byte(serverSideStory(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	p := testscript.Params{Setup: func(env *testscript.Env) error { return server.setUp(env, "ss-"+groupOf(file)) }}
	if e == nil {
		runStory(t, storyT{t}, written, p)
		return
	}
	log := &strings.Builder{}
	defer func() {
		is := recover()
		if _, ends := is.(failed); !ends && is != nil {
			panic(is)
		}
		switch {
		case t.Skipped():
		case is == nil:
			t.Errorf("can be played with --server-side by now: take it off testdata/server-side.yaml (%s)", e.because)
		case !strings.Contains(log.String(), e.said):
			t.Errorf("fails, and does not say %q:\n%s", e.said, log)
		}
	}()
	runStory(t, failingT{storyT{t}, log}, written, p)
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

// failingT is the test of a story that has to fail: it notes how it does.
type failingT struct {
	storyT
	log *strings.Builder
}

// failed is the panic that ends a story that has to fail.
type failed struct{}

func (f failingT) Run(_ string, play func(testscript.T)) { play(f) }

func (f failingT) Log(args ...any) { fmt.Fprintln(f.log, args...) }

func (f failingT) FailNow() { panic(failed{}) }

func (f failingT) Fatal(args ...any) { f.Log(args...); f.FailNow() }
