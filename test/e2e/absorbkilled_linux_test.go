package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAbsorbKilled: the program is killed before each of the renames by which it replaces files. Each
// file then holds its old text or its new one, and the next run edits the rest.
func TestAbsorbKilled(t *testing.T) {
	tracer, ok := tracer(t)
	if !ok {
		return
	}
	program, err := exec.LookPath("kubectl-merge")
	if err != nil {
		t.Fatal(err)
	}
	const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf%d, namespace: default}\ndata: {a: \"%d\"} # kept\n"
	names, live := []string{"conf0.yaml", "conf1.yaml", "conf2.yaml"}, ""
	for i := range names {
		live += fmt.Sprintf(manifest, i, 2) + "---\n"
	}
	for _, input := range []string{"-f", "-k"} {
		for killed := 1; ; killed++ {
			dir := t.TempDir()
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("kustomization.yaml", "resources: ["+strings.Join(names, ", ")+"]\n")
			for i, name := range names {
				write(name, fmt.Sprintf(manifest, i, 1))
			}
			write("../live.yaml", live)
			absorb := func(prefix ...string) error {
				args := append(prefix, program, "absorb", input, ".", "--live", "../live.yaml", "-w", "data")
				if input == "-f" {
					args[len(prefix)+3] = strings.Join(names, ",")
				}
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "KUBECONFIG=none", "HOME="+dir)
				out, err := cmd.CombinedOutput()
				if err != nil && len(prefix) == 0 {
					t.Errorf("%s: %v: %s", input, err, out)
				}
				return err
			}
			err := absorb(tracer, "-f", "-qq", "-o", "../trace", "-e", "trace=renameat,renameat2", "-e", fmt.Sprintf("inject=renameat,renameat2:signal=SIGKILL:when=%d", killed))
			edited := 0
			for i, name := range names {
				switch text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) {
				case fmt.Sprintf(manifest, i, 2):
					edited++
				case fmt.Sprintf(manifest, i, 1):
				default:
					t.Errorf("%s: killed at rename %d: %s is\n%s", input, killed, name, text)
				}
			}
			if err == nil {
				if edited != len(names) || killed <= len(names) {
					t.Errorf("%s: %d of %d files were edited by %d renames", input, edited, len(names), killed-1)
				}
				break
			}
			_ = absorb()
			for i, name := range names {
				if text, _ := os.ReadFile(filepath.Join(dir, name)); string(text) != fmt.Sprintf(manifest, i, 2) {
					t.Errorf("%s: killed at rename %d: the next run leaves %s\n%s", input, killed, name, text)
				}
			}
		}
	}
}
