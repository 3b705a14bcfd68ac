package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// storyT is the running test as testscript's: the story is no subtest of its own, and
// where it fails, no more is printed than is needed.
type storyT struct{ *testing.T }

func (s storyT) Run(_ string, f func(testscript.T)) { f(s) }

func (s storyT) Parallel() {} // it is

// Verbose asks for the log of the whole story, which validPrinted reads.
func (s storyT) Verbose() bool { return true }

func (s storyT) Log(args ...any) {
	s.Helper()
	text := fmt.Sprint(args...)
	for _, err := range validPrinted(text) {
		s.T.Error(err)
	}
	if !testing.Verbose() {
		text = failure(text)
	}
	s.T.Log(text)
}

// The lines of a failing story that are printed at most: of what the last program run
// printed, and of the live object.
const printedLines, liveLines = 30, 20

// failure shortens the log of a story that failed: what its part is about, the last
// program that was run and what it printed, and the step that failed, with what was
// expected and found.
func failure(log string) string {
	before, failed, ok := strings.Cut(log, "\nFAIL: ")
	if !ok {
		return log
	}
	lines := strings.Split(before, "\n")
	about, ran := "", 0
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "# "):
			about, ran = line, i+1
		case strings.HasPrefix(line, "> ") && commandLine.MatchString(line[2:]):
			ran = i
		}
	}
	return about + "\n" + shortened(strings.Join(lines[ran:], "\n"), printedLines) + "\nFAIL: " + failed
}

// shortened is a text with its first and last lines, n together.
func shortened(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if left := len(lines) - n; left > 0 {
		middle := fmt.Sprintf("… %d more lines: go test -v prints all", left)
		lines = append(append(lines[:n/2:n/2], middle), lines[len(lines)-n/2:]...)
	}
	return strings.Join(lines, "\n")
}

// liveAt shows a live object where a path in it is not as expected: the object or list that
// the path's first two fields lead to.
func liveAt(object map[string]any, path string) string {
	var part any = object
	at := ""
	for _, name := range regexp.MustCompile(`\w+`).FindAllString(path, 2) {
		m, _ := part.(map[string]any)
		if _, scalar := m[name].(string); m[name] == nil || scalar {
			break
		}
		part, at = m[name], at+"."+name
	}
	text, err := json.MarshalIndent(part, "", "  ")
	if err != nil {
		return err.Error()
	}
	return "live" + at + ": " + shortened(string(text), liveLines)
}

// TestFailingStory: a story that fails prints the step, what was expected and found, and
// the live object, in less than 60 lines, however much it has printed before.
func TestFailingStory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file  string
		shows []string
	}{
		{"testdata/fails-live.txtar", []string{
			"# the part that fails", "> exec kubectl-merge -f a.yaml -o yaml", "more lines: go test -v prints all", "> wantlive configmap/a want.yaml",
			`fails-live.txtar:8: configmap/a data.k: want "2", is "1"`, "live.data: {\n  \"k\": \"1\",",
		}},
		{"testdata/fails-printed.txtar", []string{
			"# what is printed", "> exec kubectl-merge -f a.yaml", "configmap/a created", "> stdout configured", "no match for `configured` found in stdout",
		}},
	} {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			t.Parallel()
			log := &strings.Builder{}
			defer func() {
				if is := recover(); is != (failed{}) {
					t.Fatalf("did not fail: %v", is)
				}
				text := failure(log.String())
				for _, shows := range tt.shows {
					if !strings.Contains(text, shows) {
						t.Errorf("lacks %q:\n%s", shows, text)
					}
				}
				if lines := strings.Count(text, "\n"); lines >= 60 || strings.Contains(text, "the part that succeeded printed") {
					t.Errorf("%d lines:\n%s", lines, text)
				}
			}()
			runStory(t, failingT{storyT{t}, log}, tt.file, testscript.Params{
				Setup: func(e *testscript.Env) error { return server.setUp(e, "failing") },
			})
		})
	}
}
