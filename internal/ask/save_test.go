package ask

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// TestSaveRules: answers are added to a file of rules in one step: another file takes its
// place, so that a reader sees all of the old text or all of the new one. Its mode and a link
// to it stay, and no temporary file is left.
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

// TestRulesFromAnswers: the answers that mean the same for the next merge become rules, in
// the file that is named on the command line, or when asked.
func TestRulesFromAnswers(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		reason, file string
		answers      []string
		saved        string
		want         []string
	}{
		{"the file of --save-rules", filepath.Join(dir, "named.yaml"), []string{"l", "v"}, "named.yaml", []string{"path: data.a\n", "winner: local\n", "path: data.b\n", "winner: live\n", "kind: ConfigMap\n", "namespace: shop\n"}},
		{"a file that is asked for", "", []string{"l", "o", filepath.Join(dir, "asked.yaml")}, "asked.yaml", []string{"path: data.a\n", "winner: local\n"}},
		{"none", "", []string{"l", "l", ""}, "", nil},
		{"no answer that a rule can repeat", filepath.Join(dir, "empty.yaml"), []string{"o", "o"}, "", nil},
	} {
		s := setup(t, conf("conf", both), saved("ConfigMap", "conf", was, theirs), tt.answers...)
		if err := s.settle(t, tt.file); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
		if tt.saved == "" {
			if strings.Contains(s.out.String(), "of the answers are in") {
				t.Errorf("%s: %s", tt.reason, s.out.String())
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, tt.saved))
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: %q is not in\n%s", tt.reason, want, text)
			}
		}
		if strings.Contains(string(text), "data.b") && len(tt.want) == 2 {
			t.Errorf("%s: the next merge has another original:\n%s", tt.reason, text)
		}
		s.printed(t, "of the answers are in "+filepath.Join(dir, tt.saved)+": merge with --rules=")
		if _, err := schema.ParseRules(text); err != nil {
			t.Errorf("%s: %v", tt.reason, err)
		}
	}
	s := setup(t, conf("conf", both), saved("ConfigMap", "conf", was, theirs), "l", "l")
	if err := s.settle(t, filepath.Join(dir, "missing", "rules.yaml")); err == nil || !strings.Contains(err.Error(), "the answers cannot be saved: ") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestAskedByRule: a rule that wants to be asked is not overruled by a rule from its answer.
func TestAskedByRule(t *testing.T) {
	s := setup(t, conf("conf", `{a: "2"}`), saved("ConfigMap", "conf", `{"a":"1"}`, `{a: "3"}`), "l")
	conflicts := s.plan.Items[0].Planned.Conflicts
	conflicts[0].Rule = "rules.yaml:1"
	if err := s.settle(t, ""); err != nil || len(s.keys.asked) != 1 {
		t.Errorf("%v, asked %q", err, s.keys.asked)
	}
}
