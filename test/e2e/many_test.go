package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestManyShown: with more than two hundred objects, each plan is dropped until it is
// shown. The output is the same as that of two runs with fewer objects.
func TestManyShown(t *testing.T) {
	t.Parallel()
	u := server.need(t).user(t, "many")
	const n = 300
	objects := func(from, to int, value func(int) string) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c%04d}, data: {a: %q}}\n", i, value(i))
		}
		return b.String()
	}
	u.file("v1.yaml", objects(0, n, func(int) string { return "1" }))
	u.merges("-f", "v1.yaml", "--preflight=false")
	u.does("kubectl", "patch", "configmap/c0001", "-p", `{"data": {"a": "theirs"}}`)

	changed := func(i int) string { return fmt.Sprint(1 + i%2) }
	u.file("all.yaml", objects(0, n, changed))
	u.file("one.yaml", objects(0, n/2, changed))
	u.file("two.yaml", objects(n/2, n, changed))
	u.file("live.yaml", u.does("kubectl", "get", "configmaps", "-o", "yaml").stdout)
	lines, tables := joined("", "", ""), joined("", "\n", "")
	documents := func(one, two string) string { // the comment of an unchanged object stands before the next document
		at := strings.Index(two, "\n# ") + 1
		return one + two[:at] + "---\n" + two[at:]
	}
	yaml := joined("apiVersion: v1\nitems:\n", "", "kind: List\nmetadata: {}\n")
	json := joined("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        ", ",\n        ", "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {}\n}\n")
	for _, tt := range []struct {
		args []string
		join func(one, two string) string
	}{
		{[]string{"--dry-run=client"}, documents},
		{[]string{"--dry-run=server"}, documents},
		{[]string{"--live", "live.yaml"}, documents},
		{[]string{"--dry-run=client", "-o", "patch"}, lines},
		{[]string{"--dry-run=client", "-o", "yaml"}, yaml},
		{[]string{"--dry-run=client", "-o", "json"}, json},
		{[]string{"--dry-run=server", "-o", "json", "--show-managed-fields"}, nil},
		{[]string{"--dry-run=client", "-o", "explain"}, tables},
		{[]string{"diff"}, lines},
		{[]string{"diff", "--dry-run=server"}, lines},
		{[]string{"diff", "--live", "live.yaml"}, lines},
		{[]string{"explain"}, tables},
		{[]string{"explain", "data"}, tables},
		{[]string{"explain", "-o", "yaml"}, lines},
		{[]string{"explain", "-o", "json"}, joined("[\n    ", ",\n    ", "\n]\n")},
		{[]string{"explain", "--live", "live.yaml"}, tables},
	} {
		whole := u.tries("kubectl-merge", append(tt.args, "-f", "all.yaml")...)
		one := u.tries("kubectl-merge", append(tt.args, "-f", "one.yaml")...)
		two := u.tries("kubectl-merge", append(tt.args, "-f", "two.yaml")...)
		for _, s := range []*said{&whole, &one, &two} {
			s.stderr = summary.ReplaceAllString(s.stderr, "")
		}
		if whole.stderr != one.stderr+two.stderr || whole.code != one.code || tt.join != nil && whole.stdout != tt.join(one.stdout, two.stdout) {
			t.Errorf("%v: exit %d, %d and %d bytes; in two runs: exit %d and %d, %d and %d bytes", tt.args,
				whole.code, len(whole.stdout), len(whole.stderr), one.code, two.code, len(one.stdout+two.stdout), len(one.stderr+two.stderr))
		}
		if !strings.Contains(one.stderr+one.stdout, `theirs`) || len(one.stdout) < n*10 {
			t.Errorf("%v: shows too little\n%.2000s", tt.args, one)
		}
	}
	comment := u.merges("-f", "all.yaml", "--dry-run=client", "-o", "markdown").stdout
	if rows := strings.Count(comment, "\n| `configmap/"); rows != n/2 || !strings.Contains(comment, fmt.Sprintf("\n%d objects unchanged.\n", n/2)) {
		t.Errorf("the comment has %d rows, want %d; and it ends with %.200q", rows, n/2, comment[max(0, len(comment)-200):])
	}

	// The run writes what was shown, though each plan was dropped in between.
	want := u.merges("-f", "all.yaml", "--dry-run=client", "-q")
	got := u.merges("-f", "all.yaml", "-q")
	if shown := strings.Count(want.stderr, " configured (dry run)\n"); shown != n/2 || strings.Count(got.stdout, " configured\n") != shown {
		t.Errorf("%d were shown as configured, and of %d bytes written: %.2000s", shown, len(got.stdout), got)
	}
	if again := u.merges("-f", "all.yaml").stdout; strings.Count(again, " unchanged\n") != n {
		t.Errorf("written, and merged again:\n%.2000s", again)
	}
}

// summary is the line at the end of a run, which counts all objects of it.
var summary = regexp.MustCompile(`(?m)^\d+ objects?: .*\n`)

// joined is how two outputs make one: what a whole one begins and ends with is there
// once only.
func joined(head, between, tail string) func(one, two string) string {
	return func(one, two string) string {
		return strings.TrimSuffix(one, tail) + between + strings.TrimPrefix(two, head)
	}
}
