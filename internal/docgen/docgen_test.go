package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

// TestCurrent: the files in docs are those that the present help makes.
func TestCurrent(t *testing.T) {
	want := pages(cli.Reference())
	for name, text := range want {
		there, err := os.ReadFile(filepath.Join("../../docs", filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%v (make docs writes it)", err)
			continue
		}
		if d := cmp.Diff(text, string(there)); d != "" {
			t.Errorf("docs/%s is not what the help says; make docs writes it anew\n%s", name, d)
		}
	}
	man, err := filepath.Glob("../../docs/man/*.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range man {
		if want["man/"+filepath.Base(file)] == "" {
			t.Errorf("%s is about a command that is gone; make docs takes it away", file)
		}
	}
}

func TestSpelled(t *testing.T) {
	for _, tt := range []struct {
		reason string
		flag   cli.FlagHelp
		want   string
	}{
		{"a switch", cli.FlagHelp{Name: "quiet", Short: "q"}, "-q, --quiet"},
		{"one that takes a value", cli.FlagHelp{Name: "rules", Value: "FILE"}, "--rules=FILE"},
		{"one that may take a value", cli.FlagHelp{Name: "dry-run", Value: "string", Bare: "client"}, "--dry-run[=string]"},
	} {
		if got := spelled(tt.flag); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
}

func TestRoff(t *testing.T) {
	for _, tt := range []struct{ reason, text, want string }{
		{"a dash is a minus", "--dry-run", `\-\-dry\-run`},
		{"a backslash is no escape", `a\b`, `a\eb`},
		{"a dot at the beginning is no request", ".spec.replicas: live", `\&.spec.replicas: live`},
		{"nor is a quote", "'x'", `\&'x'`},
		{"one line stays one", "a\n.SH b", "a .SH b"},
	} {
		if got := line(tt.text); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	text := markdown(cli.Page{
		Command: &cobra.Command{Use: "y [flags]", Short: "Do it", Example: "  # so\n  x y", Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "x y"}},
		Flags:   []cli.FlagHelp{{Name: "o", Group: "show", Value: "string", Default: "a", Help: "a|b"}}})
	for _, want := range []string{"| [`x y`](#x-y) | Do it |", "\n## x y\n\n    x y [flags]\n\nDo it.\n", "```sh\n# so\nx y\n```", "\n**What to show**\n\n| flag |", "| `--o=string` | `a` | a\\|b |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
