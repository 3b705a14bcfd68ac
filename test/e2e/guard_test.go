package e2e

import (
	"strings"
	"testing"
)

// TestGuardIsSilent merges changed objects of every template as kubectl apply and kubectl
// create have made them, and as people have edited them: nobody else manages any, and no note
// says so. With -soak=2 and above they are more than 500.
func TestGuardIsSilent(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	all := templates(t)
	each := 1
	if *soak > 1 {
		each = 500/len(all) + 1
	}
	n := seed(t)
	for _, made := range []string{"apply", "create"} {
		u := s.user(t, "guarded-"+made)
		objects := draws(t, all, n, each, u.ns, 0)
		u.file("all.yaml", string(document(t, objects...)))
		cleanUp(t, u, objects)
		u.does("kubectl", made, "-f", "all.yaml")
		u.does("kubectl", "annotate", "-f", "all.yaml", "edited=by-hand")
		for _, o := range objects {
			meta := o.value["metadata"].(map[string]any)
			labels, _ := meta["labels"].(map[string]any)
			if labels == nil {
				labels = map[string]any{}
			}
			labels["changed"], meta["labels"] = "yes", labels
		}
		u.file("all.yaml", string(document(t, objects...)))
		got := u.tries("kubectl-merge", "diff", "-f", "all.yaml", "--notes=json")
		if got.code != 1 {
			t.Errorf("%s: %s", made, got)
		}
		for line := range strings.Lines(got.stderr) {
			if strings.Contains(line, `"kind":"guard"`) {
				t.Errorf("%s: %s", made, line)
			}
		}
		t.Logf("%s: %d objects of %d templates", made, len(objects), len(all))
	}
}
