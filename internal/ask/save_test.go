package ask

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSaveRules: answers are added to a file of rules in one step: another file takes its
// place, so that whoever reads it sees all of the old text or all of the new one; its mode
// and a link to it stay, and nothing is left beside it.
func TestSaveRules(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "link.yaml")
	const old = "# ours\n- path: spec.replicas\n  winner: live\n"
	if err := os.WriteFile(file, []byte(old), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	reader, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	before, err := reader.Stat()
	if err != nil {
		t.Fatal(err)
	}
	rules := []any{map[string]any{"path": "spec.paused", "kind": "Deployment", "winner": "local"}}
	if err := appendRules(t.Context(), link, rules); err != nil {
		t.Fatal(err)
	}
	after, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	if os.SameFile(before, after) {
		t.Error("the file was written in place")
	}
	if after.Mode() != before.Mode() {
		t.Errorf("its mode is %v, was %v", after.Mode(), before.Mode())
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is none any more: %v %v", info, err)
	}
	seen := make([]byte, 1000)
	n, _ := reader.Read(seen)
	if string(seen[:n]) != old {
		t.Errorf("who had it open reads %q", seen[:n])
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), old+"---\n") || !strings.Contains(string(text), "path: spec.paused") {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left in the folder: %v %v", left, err)
	}
	if err := os.WriteFile(file, []byte("kind: ConfigMap\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := appendRules(t.Context(), file, rules); err == nil || !strings.Contains(err.Error(), "name a file of rules, or a new one") {
		t.Errorf("a file of something else was written to: %v", err)
	}
}
