package helm

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// timeout is that of Helm.
const timeout = time.Minute

// place is a namespace of the server, with a folder.
type place struct {
	t                             *testing.T
	folder, namespace, kubeconfig string
	kubectl, merge                string
}

func (p place) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// in makes a namespace, which is the default of the place's kubeconfig.
func (p place) in(t *testing.T, namespace string) place {
	t.Helper()
	p.t = t
	config := p.must(t, p.kubectl, "config", "view", "--minify", "--flatten", "--raw").stdout
	p.folder, p.namespace = t.TempDir(), namespace
	p.must(t, p.kubectl, "create", "namespace", namespace)
	p.kubeconfig = filepath.Join(p.folder, "kubeconfig")
	p.write(t, "kubeconfig", config)
	p.must(t, p.kubectl, "config", "set-context", "--current", "--namespace="+namespace)
	return p
}

// start builds the program, and starts the server.
func start(t *testing.T) place {
	t.Helper()
	p := place{t: t, folder: t.TempDir()}
	p.merge = filepath.Join(p.folder, "kubectl-merge")
	if out, err := exec.Command("go", "-C", "../..", "build", "-o", p.merge, "./cmd/kubectl-merge").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("go", "-C", "../cluster", "run", ".")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // which keeps the server up
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stdin.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	var line struct{ Kubeconfig, Kubectl string }
	answer, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil || json.Unmarshal(answer, &line) != nil {
		t.Fatalf("go -C test/cluster run . did not come up: %v", err)
	}
	p.kubeconfig, p.kubectl = line.Kubeconfig, line.Kubectl
	return p
}
