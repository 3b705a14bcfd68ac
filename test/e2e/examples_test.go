package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

// TestExamples runs every example of every command's help, each from the same start
// (testdata/help.txtar), one story per command.
func TestExamples(t *testing.T) {
	t.Parallel()
	start, err := os.ReadFile("testdata/help.txtar")
	if err != nil {
		t.Fatal(err)
	}
	script, files, ok := strings.Cut(string(start), "\n-- ")
	if !ok {
		t.Fatal("testdata/help.txtar has no files")
	}
	dir := t.TempDir()
	main := cli.Reference()
	var stories []string
	for _, page := range append([]cli.Page{main}, main.Verbs...) {
		commands := examples(page.Example)
		if len(commands) == 0 {
			t.Errorf("%s: the help shows no example", page.CommandPath())
			continue
		}
		steps, scripts := "", ""
		for i, command := range commands {
			steps += fmt.Sprintf("exec bash start.sh example-%d.sh\nexec bash example-%d.sh\n", i, i)
			scripts += fmt.Sprintf("-- example-%d.sh --\nset -o pipefail\ncd here\n%s\ncode=$?\n[ $code -le %d ] || exit $code\n", i, command, mayEndWith(page))
		}
		scripts = strings.ReplaceAll(scripts, " --watch ", " --watch --timeout=2s ") // it would not end
		name := filepath.Join(dir, strings.ReplaceAll(page.CommandPath(), " ", "-")+".txtar")
		if err := os.WriteFile(name, []byte(script+"\n"+steps+"\n-- "+files+scripts), 0o600); err != nil {
			t.Fatal(err)
		}
		stories = append(stories, name)
	}
	s := staffed.need(t) // something has to become ready
	testscript.Run(t, testscript.Params{
		Files:               stories,
		Setup:               func(e *testscript.Env) error { return s.setUp(e, "examples") },
		Cmds:                storyCommands,
		RequireExplicitExec: true,
	})
}

// examples are the commands among the lines of an example; comments say what they do.
func examples(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// mayEndWith is the highest exit code that is no error.
func mayEndWith(page cli.Page) int {
	if strings.HasSuffix(page.CommandPath(), " diff") || strings.HasSuffix(page.CommandPath(), " drift") {
		return 1
	}
	return 0
}
