package e2e

import (
	"strings"
	"testing"
)

// TestCreatedIsSilent merges objects of every template for the first time with the very
// file that they were created from: kubectl create owns the server's defaults too, and
// none of them is taken for something that somebody set. The objects are the same each
// time; with -soak they are drawn anew.
func TestCreatedIsSilent(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	all, n := templates(t), max(*seedFlag, 1)
	if *soak > 1 {
		n = seed(t)
	}
	u := s.user(t, "created")
	objects := draws(t, all, n, 2, u.ns, 0)
	u.file("all.yaml", string(document(t, objects...)))
	cleanUp(t, u, objects)
	u.does("kubectl", "create", "-f", "all.yaml")
	for _, args := range [][]string{{"diff", "-f", "all.yaml"}, {"-f", "all.yaml"}} {
		got := u.tries("kubectl-merge", args...)
		for line := range strings.Lines(got.stderr) {
			if strings.Contains(line, " stays: not in local") {
				t.Errorf("%v: %s", args, line)
			}
		}
		if got.code != 0 && (args[0] != "diff" || got.code != 1) {
			t.Errorf("%v: %s", args, got)
		}
	}
	t.Logf("seed %d, %d objects of %d templates", n, len(objects), len(all))
}
