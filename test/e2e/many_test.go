package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyShown: of more than two hundred objects each plan is put away until it is
// shown. What is shown then is what is shown of fewer, in two runs.
func TestManyShown(t *testing.T) {
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
	for _, args := range [][]string{{"--dry-run=client"}, {"--dry-run=server"}, {"--dry-run=client", "-o", "patch"}, {"diff"}, {"diff", "--dry-run=server"}} {
		whole := u.tries("kubectl-merge", append(args, "-f", "all.yaml")...)
		one := u.tries("kubectl-merge", append(args, "-f", "one.yaml")...)
		two := u.tries("kubectl-merge", append(args, "-f", "two.yaml")...)
		between := ""
		if len(args) == 1 && args[0] != "diff" { // documents
			between = "---\n"
		}
		if whole.stdout != one.stdout+between+two.stdout || whole.stderr != one.stderr+two.stderr || whole.code != one.code {
			t.Errorf("%v: exit %d, %d and %d bytes; in two runs: exit %d and %d, %d and %d bytes", args,
				whole.code, len(whole.stdout), len(whole.stderr), one.code, two.code, len(one.stdout+two.stdout), len(one.stderr+two.stderr))
		}
		if !strings.Contains(one.stderr, `"theirs"`) || len(one.stdout) < n*10 {
			t.Errorf("%v: shows too little\n%.2000s", args, one)
		}
	}
}
