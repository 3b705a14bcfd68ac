// Package stranger holds ARCHITECTURE.md, "To add …", to its word: a strategy, a policy, an
// printer and a verb are each added by one file, which no other file knows of. The files of
// testdata are laid over the source, the program is built, and used.
package stranger

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestOneFileEach(t *testing.T) {
	program := build(t)
	local := file(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"a":"2"}}`)
	applied := `{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"c\",\"namespace\":\"n\"},\"data\":{\"a\":\"1\"}}\n`
	live := file(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n","resourceVersion":"7",
		"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"`+applied+`"}},"data":{"a":"3","b":"live"}}`)
	diff := []string{"diff", "-f", local, "--live", live}
	for _, tt := range []struct {
		reason string
		args   []string
		want   string
		not    string
	}{
		{"the strategy takes local as it is", append(diff, "--strategy=toy"), "-  b: live", ""},
		{"another keeps what only live has", diff, "-  a: \"3\"", "-  b: live"},
		{"the strategy is in the help, with what it does", []string{"--help"}, "toy (local as it is)", ""},
		{"the strategy is completed", []string{"__complete", "--strategy", "to"}, "toy\tlocal as it is", ""},
		{"the strategy is in the error", append(diff, "--strategy=no"), "toy", ""},
		{"the policy takes live's value", append(diff, "--policy=toy"), "", "-  a: \"3\""},
		{"the policy is in the help", []string{"diff", "--help"}, "live, toy, ask", ""},
		{"the policy is completed", []string{"__complete", "--policy", "to"}, "toy\tonly live moved: live; both moved: live", ""},
		{"the printer prints", []string{"-f", local, "--live", live, "-o", "toy"}, "configmap/c: changes: 1", ""},
		{"the printer is in the help, among the reports", []string{"--help"}, "plan, toy: reports", ""},
		{"the printer is completed", []string{"__complete", "-o", "to"}, "toy\tchanges, counted", ""},
		{"the printer is in the error", []string{"-f", local, "--live", live, "-o", "no"}, "plan, toy, jsonpath", ""},
		{"the verb runs", []string{"toy"}, "a toy", ""},
		{"the verb is in the help", []string{"--help"}, "Say that it is a toy", ""},
		{"the verb is completed", []string{"__complete", "to"}, "toy\tSay that it is a toy", ""},
	} {
		out, _ := exec.Command(program, tt.args...).CombinedOutput() // a difference ends with 1, an error with more
		if got := string(out); !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: %q printed, want %q in it, and not %q:\n%s", tt.reason, tt.args, tt.want, tt.not, got)
		}
	}
}

// build is the program with the toys in it, where overlay.json has a stranger put each. make test
// builds it beforehand, by the same command, and then nothing is left to do here.
func build(t *testing.T) string {
	t.Helper()
	const program = ".tools/stranger/kubectl-merge"
	out, err := exec.Command("go", "build", "-C", "../..", "-overlay", "test/stranger/testdata/overlay.json", "-o", program, "./cmd/kubectl-merge").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join("../..", program)
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
