package drift

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// ofContexts is a report about so many clusters, n rows of each: the first are the same in all, the others
// have the number of the cluster.
func ofContexts(t *testing.T, clusters, n int) *Report {
	t.Helper()
	web := Object{Resource: cluster.Resource{Group: "apps", Version: "v1", Kind: "Deployment"}, Namespace: "shop", Name: "web"}
	names, reports := make([]string, clusters), make([]*Report, clusters)
	for i := range clusters {
		names[i], reports[i] = fmt.Sprint("prod-", i), &Report{}
		var rows []Row
		for j := range n {
			path, err := merge.ParsePath(fmt.Sprintf("metadata.annotations.a%d", j))
			if err != nil {
				t.Fatal(err)
			}
			live := "same"
			if j >= n/2 {
				live = fmt.Sprint("of ", i)
			}
			rows = append(rows, Row{Object: web, Drift: Changed, Path: path, Wanted: merge.Some("x"), Live: merge.Some(live),
				Owner: &merge.Owner{Manager: "kubectl-edit", Operation: "Update", Time: time.Date(2026, 1, 2, 3, i, 0, 0, time.UTC)}})
		}
		reports[i].add(web, rows)
	}
	return Join(names, reports)
}

// TestContexts: for people, what is the same is one row, with the latest time; for programs each
// row has its context, and its own time.
func TestContexts(t *testing.T) {
	r := ofContexts(t, 3, 2)
	var table, doc strings.Builder
	if err := writeTable(&table, r, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `CONTEXT          NAMESPACE   OBJECT                DRIFT     FIELD                     WANTED   LIVE     BY             SINCE
all 3 contexts   shop        deployment.apps/web   changed   metadata.annotations.a0   "x"      "same"   kubectl-edit   2026-01-02 03:02Z
prod-0           shop        deployment.apps/web   changed   metadata.annotations.a1   "x"      "of 0"   kubectl-edit   2026-01-02 03:00Z
prod-1           shop        deployment.apps/web   changed   metadata.annotations.a1   "x"      "of 1"   kubectl-edit   2026-01-02 03:01Z
prod-2           shop        deployment.apps/web   changed   metadata.annotations.a1   "x"      "of 2"   kubectl-edit   2026-01-02 03:02Z
`
	if table.String() != want {
		t.Errorf("printed is\n%swant\n%s", table.String(), want)
	}
	if got := r.Summary(); got != "3 objects in 3 contexts compared, 3 drifted: 6 changed" {
		t.Error(got)
	}
	if err := writeJSON(&doc, r, Options{Now: time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := published(t)(doc.String()); err != nil {
		t.Errorf("%v\n%s", err, doc.String())
	}
	var printed struct {
		Rows []struct{ Context, Time string }
	}
	if err := json.Unmarshal([]byte(doc.String()), &printed); err != nil {
		t.Fatal(err)
	}
	for i, row := range printed.Rows {
		if row.Context != fmt.Sprint("prod-", i/2) || row.Time != fmt.Sprintf("2026-01-02T03:0%d:00Z", i/2) {
			t.Errorf("row %d: %+v", i, row)
		}
	}
	if len(printed.Rows) != 6 {
		t.Errorf("%d rows, want 6", len(printed.Rows))
	}
}

// TestContextsComment: a comment on many clusters has less than 64 KB, and counts what it leaves out.
func TestContextsComment(t *testing.T) {
	const clusters, n = 20, 400
	r := ofContexts(t, clusters, n)
	r.Errors = append(r.Errors, "context gone: "+strings.Repeat("x", 100))
	var b strings.Builder
	if err := writeMarkdown(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	rows, left := strings.Count(b.String(), "\n| `"), 0
	if _, text, ok := strings.Cut(b.String(), "\nAnd "); ok {
		_, _ = fmt.Sscanf(text, "%d more: the comment", &left) // 0 is an error below
	}
	if want := n/2 + clusters*n/2; rows+left != want || left == 0 || rows == 0 {
		t.Errorf("%d rows and %d left out, want %d together", rows, left, want)
	}
	if b.Len() >= 65536 || !strings.Contains(b.String(), "| `all 20 contexts` |") || !strings.Contains(b.String(), "Not compared:\n\n- `context gone: ") {
		t.Errorf("%d bytes; it begins with\n%s and ends with\n%s", b.Len(), b.String()[:500], b.String()[b.Len()-300:])
	}
}
