package complete

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestSafe: what a shell would obey leaves by no completion, wherever it came
// from; what is safe does, with its description.
func TestSafe(t *testing.T) {
	var all []cobra.Completion
	bad := "$`\\!;&|<>(){}'\" *?#^\n\r\x1b\x7f\u009b\u202eä"
	for _, r := range bad {
		all = append(all, "a"+string(r)+"b", "kind/"+string(r))
	}
	all = append(all, "", "\t$(x)", "-x", "~x", "=x", "a\xff", "help\t\x1b[31m", "twice\tb", "twice\tc", "a\tit's $(fine)", "-", "cm/web-1.example_com:8080@x+y%,~[k=v]")
	got, directive := Safe(cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))(nil, nil, "")
	want := []cobra.Completion{"twice\tb", "a\tit's $(fine)", "cm/web-1.example_com:8080@x+y%,~[k=v]"}
	if d := cmp.Diff(want, got); d != "" || directive != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("directive %d\n%s", directive, d)
	}
	got, _ = Safe(cobra.FixedCompletions([]cobra.Completion{`a["b"]`, `a["$b"]`, `a["b';"]`}, 0))(nil, nil, `a["`)
	if d := cmp.Diff([]cobra.Completion{`a["b"]`}, got); d != "" {
		t.Errorf("a double quote is offered to who has typed one:\n%s", d)
	}
}

// TestCompletionHelper: the helper that is printed is the one that is released.
func TestCompletionHelper(t *testing.T) {
	for file, text := range map[string]string{"kubectl_complete-merge": helper, "kubectl_complete-merge.cmd": helperWindows} {
		released, err := os.ReadFile(filepath.Join("../../packaging", file))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(released), text); d != "" {
			t.Errorf("%s\n%s", file, d)
		}
	}
}
