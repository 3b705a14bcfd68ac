package ownership

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestByTime(t *testing.T) {
	const made, later = `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:07Z"`
	entry := func(manager, at, rest string) string {
		return `{"manager":"` + manager + `","operation":"Update","time":` + at + `,"fieldsV1":{"f:a":{}}` + rest + `}`
	}
	for _, c := range []struct{ reason, created, entries, want string }{
		{"its entry has the time of the making", made, entry("helm", made, "") + "," + entry("mesh", later, ""), "helm"},
		{"it has written again, and the oldest entry is another's", made, entry("mesh", later, "") + "," + entry("helm", `"2026-01-01T00:00:09Z"`, ""), ""},
		{"two wrote in the second of the making", made, entry("helm", made, "") + "," + entry("mesh", made, ""), ""},
		{"one of them does nothing but make objects", made, entry("mesh", made, "") + "," + entry("kubectl-create", made, ""), "kubectl-create"},
		{"one that has two entries is one", made, entry("helm", made, "") + "," + entry("helm", made, ""), "helm"},
		{"a subresource's writer made nothing", made, entry("helm", later, "") + "," + entry("scaler", made, `,"subresource":"scale"`), ""},
		{"what was not recorded is nobody's", made, entry(merge.Unrecorded, made, ""), ""},
		{"nobody knows when it was made", `null`, entry("helm", made, ""), ""},
		{"no time stands for no time", `null`, entry("helm", `null`, ""), ""},
	} {
		meta, err := merge.ReadJSON([]byte(`{"creationTimestamp":` + c.created + `,"managedFields":[` + c.entries + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := parse(meta).byTime(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
		}
	}
	if got := parse(nil).byTime(); got != "" {
		t.Errorf("nothing known: got %q", got)
	}
}
