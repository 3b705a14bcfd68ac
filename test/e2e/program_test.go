package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// program builds bin/kubectl-merge, as make build does, and puts it on PATH under each of
// its names, in a folder that is given. It is a program of its own, and not this one once
// more, since a test binary takes twice as long to start.
func program() (folder string, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", "bin"+string(filepath.Separator), "./cmd/kubectl-merge")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/kubectl-merge: %w\n%s", err, out)
	}
	if folder, err = os.MkdirTemp("", "merge-program-*"); err != nil {
		return "", err
	}
	exe := ""
	if runtime.GOOS == "windows" {
		exe = ".exe"
	}
	for _, name := range []string{"kubectl-merge", "kubectl-three_way"} {
		if err := os.Symlink(filepath.Join(root, "bin", "kubectl-merge"+exe), filepath.Join(folder, name+exe)); err != nil {
			return folder, err
		}
	}
	return folder, os.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
