package diff_test

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestContested: a diff shows what either side asks for where they are in conflict, and no
// Secret's value; what is not in conflict is shown as ever.
func TestContested(t *testing.T) {
	for _, tt := range []struct{ reason, original, local, live, want string }{
		{"a value", `{"a":"1","b":"1"}`, `{"a":"2","b":"2"}`, `{"a":"3","b":"1"}`,
			" data:\n+<<<<<<< live\n   a: \"3\"\n-  b: \"1\"\n+=======\n+  a: \"2\"\n+>>>>>>> local\n+  b: \"2\"\n"},
		{"local removed it", `{"a":"1","z":"1"}`, `{"z":"1"}`, `{"a":"3","z":"1"}`,
			" data:\n+<<<<<<< live\n   a: \"3\"\n+=======\n+>>>>>>> local\n   z: \"1\"\n"},
		{"live removed it", `{"a":"1","z":"1"}`, `{"a":"2","z":"1"}`, `{"z":"1"}`,
			" data:\n+<<<<<<< live\n+=======\n+  a: \"2\"\n+>>>>>>> local\n   z: \"1\"\n"},
	} {
		config := func(data string) any {
			return map[string]any{"apiVersion": "v1", "data": read(t, data)}
		}
		triple := merge.Triple{Original: config(tt.original), Local: config(tt.local), Live: config(tt.live)}
		policy, err := merge.PolicyNamed("strict")
		if err != nil {
			t.Fatal(err)
		}
		plan := merge.Three(triple, nil, policy, false)
		doc := diff.Doc{Name: "x", Live: triple.Live, Result: plan.Result, Contested: diff.Contested(plan.Result, plan.Conflicts, triple.Local, nil)}
		var b strings.Builder
		if _, err := diff.Unified(&b, doc, diff.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s:\n%s\nwant at the end\n%s", tt.reason, got, tt.want)
		}
	}
}
