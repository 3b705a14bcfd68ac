package files

import (
	"strings"
	"testing"
)

// TestEditedDiff: a text that is no YAML is shown as it is, and a Secret's values are not.
func TestEditedDiff(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: hunter2}}\n"
	const merged = "kind: Secret\napiVersion: v1\nmetadata: {name: s}\nstringData: &all\n  a: hunter2\ndata:\n  <<: *all\n"
	for _, tt := range []struct {
		reason   string
		old, now string
		hidden   bool
		shows    string
		whole    bool
	}{
		{"a text", "[a]\nx = 1\n", "[a]\nx = 2\n", false, "-x = 1\n+x = 2\n", true},
		{"a text of a Secret", "[a]\nx = hunter2\n", "[a]\nx = hunter3\n", true, "values of a Secret, which are not shown", false},
		{"a Secret", secret, strings.Replace(secret, "hunter2", "hunter3", 1), false, "*** (after)", false},
		{"a Secret with a merge key", merged, strings.Replace(merged, "hunter2", "hunter3", 1), false, "", false},
	} {
		e := &Edited{Name: "f", Old: []byte(tt.old), Now: []byte(tt.now), Hidden: tt.hidden}
		text, whole := e.Diff(Hiding{})
		if !strings.Contains(text, tt.shows) || whole != tt.whole || strings.Contains(text, "hunter") {
			t.Errorf("%s: %t\n%s", tt.reason, whole, text)
		}
	}
}
