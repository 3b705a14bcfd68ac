package e2e

import (
	"slices"
	"strings"
	"testing"
)

// unownedRow is a way in which objects come about that no other manager has written, and a note
// that must not be printed about them.
type unownedRow struct {
	name, made string // kubectl's verb that makes them
	edited     bool   // a person annotates them, and the file changes
	each       int    // objects of each template; with -soak in soakEach
	soakEach   int
	runs       [][]string
	not        string
}

var unownedRows = []unownedRow{
	// kubectl create owns the server's defaults, too: they are not taken for others' values.
	{name: "created", made: "create", each: 2, soakEach: 2, runs: [][]string{{"diff"}, {}}, not: " stays: not in local"},
	{name: "created and edited", made: "create", edited: true, each: 1, soakEach: 16, runs: [][]string{{"diff", "--notes=json"}}, not: `"kind":"guard"`},
	{name: "applied and edited", made: "apply", edited: true, each: 1, soakEach: 16, runs: [][]string{{"diff", "--notes=json"}}, not: `"kind":"guard"`},
}

// TestUnownedIsSilent merges objects of every template that only kubectl and people have
// written: no note takes a value in them for that of another manager. With -soak they are more
// than 500, and drawn anew.
func TestUnownedIsSilent(t *testing.T) {
	t.Parallel()
	s, all, n := server.need(t), templates(t), seed(t)
	for _, row := range unownedRows {
		each := row.each
		if *soak > 1 {
			each = row.soakEach
		}
		u := s.user(t, "unowned")
		objects := draws(t, all, n, each, u.ns, 0)
		u.file("all.yaml", string(document(t, objects...)))
		cleanUp(t, u, objects)
		u.does("kubectl", row.made, "-f", "all.yaml")
		if row.edited {
			u.does("kubectl", "annotate", "-f", "all.yaml", "edited=by-hand")
			for _, o := range objects {
				relabel(o.value)
			}
			u.file("all.yaml", string(document(t, objects...)))
		}
		for _, args := range row.runs {
			got := u.tries("kubectl-merge", slices.Concat(args, []string{"-f", "all.yaml"})...)
			for line := range strings.Lines(got.stderr) {
				if strings.Contains(line, row.not) {
					t.Errorf("%s: %v: %s", row.name, args, line)
				}
			}
			if differs := len(args) > 0 && got.code == 1; got.code != 0 && !differs || row.edited && !differs {
				t.Errorf("%s: %v: %s", row.name, args, got)
			}
		}
		t.Logf("%s: %d objects of %d templates", row.name, len(objects), len(all))
	}
}

// relabel gives an object one more label.
func relabel(o map[string]any) {
	meta := o["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
	}
	labels["changed"], meta["labels"] = "yes", labels
}
