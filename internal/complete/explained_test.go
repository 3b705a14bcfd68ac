package complete

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExplained: offline, the fields of the files and of the live objects saved beside them.
func TestExplained(t *testing.T) {
	dir := t.TempDir()
	local, saved := filepath.Join(dir, "local.yaml"), filepath.Join(dir, "live.yaml")
	for name, text := range map[string]string{
		local: "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}, data: {mine: \"1\"}}\n",
		saved: "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}, data: {mine: \"1\", theirs: \"2\"}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: shop}, data: {unrelated: \"3\"}}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := command(t, "--filename", local)
	cmd.Flags().StringSlice("live", nil, "")
	if err := cmd.Flags().Set("live", saved); err != nil {
		t.Fatal(err)
	}
	got, directive := new(Server).Explained(cmd, nil, "data.")
	if text := strings.Join(got, " "); !strings.Contains(text, "data.mine") || !strings.Contains(text, "data.theirs") || strings.Contains(text, "unrelated") {
		t.Errorf("%q", text)
	}
	if directive&cobra.ShellCompDirectiveNoFileComp == 0 {
		t.Errorf("files are offered as fields: %d", directive)
	}
	cmd = command(t, "--filename", local)
	cmd.Flags().StringSlice("live", []string{filepath.Join(dir, "none.yaml")}, "")
	if got, _ = new(Server).Explained(cmd, nil, "data."); strings.Contains(strings.Join(got, " "), "theirs") {
		t.Errorf("%q without live objects", got)
	}
}
