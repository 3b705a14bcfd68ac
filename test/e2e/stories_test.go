package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var update = flag.Bool("update", false, "rewrite the files that stories compare output with")

// TestStories plays testdata/<group>/<story>.txtar, one subtest per group and one
// per story: go test ./test/e2e -run 'TestStories/table/maps'.
//
// A story finds: $NS, a namespace of its own, also the kubeconfig's default;
// kubectl (the peer) and kubectl-merge on PATH; $SHARED, the files of
// testdata/shared; and the commands of storyCommands. See README.md.
func TestStories(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]bool{}
	for _, story := range dirs {
		groups[filepath.Base(filepath.Dir(story))] = true
	}
	if len(groups) == 0 {
		t.Fatal("no stories in testdata")
	}
	for group := range groups {
		t.Run(group, func(t *testing.T) {
			s := serverOf(group).need(t)
			testscript.Run(t, testscript.Params{
				Dir:                 filepath.Join("testdata", group),
				Setup:               func(e *testscript.Env) error { return s.setUp(e, group) },
				Cmds:                storyCommands,
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				UpdateScripts:       *update,
			})
		})
	}
}

// serverOf is the server on which a group of stories is played. While a part of a server is
// down nobody knows what its namespaces hold, and none is pruned: so stories about that are
// not played beside those about namespaces.
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
	e.Setenv("PAGER", "cat") // nobody is there to turn a page
	e.Setenv("KUBECONFIG", file)
	e.Setenv("HOME", s.home)
	e.Setenv("SHARED", shared)
	e.Values[storyKey{}] = &story{server: s, ns: ns}
	return nil
}
