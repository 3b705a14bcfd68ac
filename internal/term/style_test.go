package term

import (
	"strings"
	"testing"
)

// TestStyle: notes and errors are colored, and broken between words; what is to be copied, lines
// of a diff and everything else stay as they are.
func TestStyle(t *testing.T) {
	both := Style{Color: true, Width: 40}
	for _, tt := range []struct {
		reason string
		style  Style
		text   string
		want   string
	}{
		{"not requested", Style{}, "error: a/b: c\n", "error: a/b: c\n"},
		{"an error and its object", Style{Color: true}, "error: deployment.apps/web: no\n", "\x1b[1;31merror:\x1b[0m \x1b[1mdeployment.apps/web\x1b[0m: no\n"},
		{"a note about no object", Style{Color: true}, "note: nothing: here\n", "\x1b[36mnote:\x1b[0m nothing: here\n"},
		{"an outcome line", both, "deployment.apps/web configured, and this line is longer than forty columns\n", "deployment.apps/web configured, and this line is longer than forty columns\n"},
		{"words", Style{Width: 20}, "note: one two three four five\n", "note: one two three\n  four five\n"},
		{"a way out below it", Style{Width: 20}, "error: a\n  to keep it: write it down\n", "error: a\n  to keep it: write\n    it down\n"},
		{"a word without room", Style{Width: 10}, "note: abcdefghijklmnop q\n", "note:\n  abcdefghijklmnop\n  q\n"},
		{"a command is in one line", Style{Width: 30}, "error: x\n  give it up: kubectl merge disown deployment/web spec.replicas\n",
			"error: x\n  give it up:\n    kubectl merge disown deployment/web spec.replicas\n"},
		{"lines of a diff", both, "note: a\n  --- live\n  @@ -1 +1 @@\n  -old\n  +new\n   " + strings.Repeat("context ", 9) + "\n",
			"\x1b[36mnote:\x1b[0m a\n  \x1b[1m--- live\x1b[0m\n  \x1b[36m@@ -1 +1 @@\x1b[0m\n  \x1b[31m-old\x1b[0m\n  \x1b[32m+new\x1b[0m\n   " + strings.Repeat("context ", 9) + "\n"},
		{"indented lines of others", Style{Width: 10}, "log:\n  a long line of somebody's\n", "log:\n  a long line of somebody's\n"},
	} {
		if got := tt.style.Apply(tt.text); got != tt.want {
			t.Errorf("%s:\n%q, want\n%q", tt.reason, got, tt.want)
		}
	}
}
