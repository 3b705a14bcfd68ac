package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var update = flag.Bool("update", false, "rewrite the files that stories compare output with")

// TestStories plays testdata/<group>/<story>.txtar, one subtest per story:
// go test ./test/e2e -run 'TestStories/table/maps'. The stories of all groups are in
// one pool, so that none waits for the slowest of another group.
//
// A story finds: $NS, a namespace of its own, also the kubeconfig's default;
// kubectl (the peer) and kubectl-merge on PATH; $SHARED, the files of
// testdata/shared; and the commands of storyCommands. See README.md.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, file := range storyFiles(t) {
		s := serverOf(groupOf(file))
		playStory(t, file, testscript.Params{
			Setup:         func(e *testscript.Env) error { return s.setUp(e, groupOf(file)) },
			UpdateScripts: *update,
		})
	}
}

// storyFiles are the files of the stories of some groups (none: of all), the longest
// stories first.
func storyFiles(t *testing.T, groups ...string) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	length := map[string]int{}
	all = slices.DeleteFunc(all, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		length[file] = len(commandLine.FindAll(text, -1))
		return len(groups) > 0 && !slices.Contains(groups, groupOf(file))
	})
	if len(all) == 0 {
		t.Fatalf("no stories of %v in testdata", groups)
	}
	slices.SortStableFunc(all, func(a, b string) int { return length[b] - length[a] })
	return all
}

// commandLine begins a line of a story that runs a program.
var commandLine = regexp.MustCompile(`(?m)^(\[[^]]*\] )?(! )?(exec|exits|until|race|action|gitlab|hook|k9s) `)

func groupOf(file string) string { return filepath.Base(filepath.Dir(file)) }

// storyName is group/story, the name of the subtest.
func storyName(file string) string {
	return groupOf(file) + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
}

// playStory plays a story as a subtest of its name, beside all that are played in parallel.
func playStory(t *testing.T, file string, p testscript.Params) {
	t.Run(storyName(file), func(t *testing.T) {
		t.Parallel()
		runStory(t, storyT{t}, file, p)
	})
}

// runStory plays a story as the test that is running.
func runStory(t *testing.T, as testscript.T, file string, p testscript.Params) {
	p.Files, p.Cmds, p.RequireExplicitExec, p.RequireUniqueNames = []string{file}, storyCommands, true, true
	p.Deadline, _ = t.Deadline()
	testscript.RunT(as, p)
}

// serverOf is the server on which a group of stories is played. While a part of a server is
// down, the contents of its namespaces are not known, and none is pruned: so stories about that
// are not played beside those about namespaces.
func serverOf(group string) *apiServer {
	if group == "wait" || group == "prune-down" {
		return &staffed
	}
	return &server
}

// TestStoriesSayWhy holds the one rule of form: a story begins with what it is
// about and why the outcome is right.
func TestStoriesSayWhy(t *testing.T) {
	stories, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		b, err := os.ReadFile(story)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitN(string(b), "\n", 3)
		if len(lines) < 3 || !strings.HasPrefix(lines[0], "# ") || !strings.HasPrefix(lines[1], "# why: ") {
			t.Errorf("%s: the first line is `# what it is about`, the second `# why: the reason`", story)
		}
	}
}

// setUp makes a story's namespace and surroundings.
func (s *apiServer) setUp(e *testscript.Env, group string) error {
	if err := s.up(); err != nil {
		return err
	}
	shared, err := filepath.Abs("testdata/shared")
	if err != nil {
		return err
	}
	// WORK ends in script-<story>; names are at most 63 characters long.
	name := strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")
	ns := unused(fmt.Sprintf("%.20s-%.30s", group, strings.ReplaceAll(name, "_", "-")))
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	if _, err := s.client.CoreV1().Namespaces().Create(context.Background(), object, metav1.CreateOptions{}); err != nil {
		return err
	}
	file := filepath.Join(e.WorkDir, ".kubeconfig")
	if err := s.kubeconfigFor(file, ns, nil); err != nil {
		return err
	}
	e.Setenv("NS", ns)
	e.Setenv("PATH", os.Getenv("PATH")) // has kubectl since the server is up
	e.Setenv("KUBECTL_MERGE_COMPLETION_TIMEOUT", patience.String())
	e.Setenv("PAGER", "cat") // no user is there to turn a page
	e.Setenv("KUBECONFIG", file)
	e.Setenv("HOME", s.home)
	e.Setenv("SHARED", shared)
	e.Values[storyKey{}] = &story{server: s, ns: ns}
	return nil
}
