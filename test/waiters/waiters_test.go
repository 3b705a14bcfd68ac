//go:build sidebyside

package waiters

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

var write = flag.Bool("write", false, "put the table, with the seconds of this run, into docs/wait.md")

// TestSideBySide: every tool ends as the table says.
func TestSideBySide(t *testing.T) {
	log.SetLogger(logr.Discard()) // Flux's client asks for one
	server := start(t)
	server.kubectlDoes(t, kinds, "apply", "-f", "-")
	t.Cleanup(func() {
		server.kubectlDoes(t, kinds, "delete", "--ignore-not-found", "--wait=false", "-f", "-")
		server.kubectlDoes(t, "", "delete", "storageclass", "waiters-later", "--ignore-not-found")
	})
	server.kubectlDoes(t, "", "wait", "--for=condition=Established", "crd/widgets.waiters.example.com", "crd/notes.waiters.example.com", "--timeout=1m")
	rows := make([]string, len(situations))
	t.Run("all", func(t *testing.T) {
		for i, s := range situations {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				rows[i] = play(t, server, i)
			})
		}
	})
	t.Logf("%d situations, %d tools\n%s", len(situations), len(tools), strings.Join(rows, ""))
	if *write && !t.Failed() {
		page, head, _ := documented(t)
		text := table.ReplaceAllLiteral(page, []byte(head+strings.Join(rows, "")))
		if err := os.WriteFile(doc, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// play has every tool wait for one situation, and gives its row.
func play(t *testing.T, server place, nth int) string {
	t.Helper()
	s, p := situations[nth], server
	p.folder, p.namespace = t.TempDir(), fmt.Sprintf("waiters-%d-%d", os.Getpid(), nth)
	server.kubectlDoes(t, "", "create", "namespace", p.namespace)
	t.Cleanup(func() { server.kubectlDoes(t, "", "delete", "namespace", p.namespace, "--wait=false") })
	config, ok := p.runs(p.kubectl, "", "config", "view", "--minify", "--flatten", "--raw")
	p.kubeconfig = filepath.Join(p.folder, "kubeconfig")
	if !ok || os.WriteFile(p.kubeconfig, []byte(config), 0o600) != nil || os.WriteFile(filepath.Join(p.folder, "object.yaml"), []byte(s.object), 0o600) != nil {
		t.Fatal("no files", config)
	}
	p.kubectlDoes(t, "", "config", "set-context", "--current", "--namespace="+p.namespace)
	p.prepare(t, s)
	var all sync.WaitGroup
	cells := make([]string, len(tools))
	for n, tool := range tools {
		all.Go(func() {
			began := time.Now()
			end, text := tool.wait(p, s)
			took := time.Since(began).Round(time.Second)
			end = s.ended(end, text)
			if end != s.ends[n] {
				t.Errorf("%s: %s, want %s\n%s", tool.name, end, s.ends[n], text)
			}
			if cells[n] = end; text != "" || end != none {
				cells[n] += fmt.Sprintf(", %.0f s", took.Seconds())
			}
		})
	}
	if s.during != nil {
		time.Sleep(timeout / 3) // every tool has begun to look by then
		p.kubectlDoes(t, deployment("web:2", ""), s.during...)
	}
	all.Wait()
	return "| " + s.name + " | " + strings.Join(cells, " | ") + " |\n"
}

// prepare makes the situation.
func (p place) prepare(t *testing.T, s situation) {
	t.Helper()
	if s.before != "" {
		p.kubectlDoes(t, s.before, "apply", "-f", "-")
		p.first(t, s)
		time.Sleep(2 * time.Second) // until its controllers have done what they do
	}
	p.kubectlDoes(t, s.object, "apply", "-f", "-")
	if s.before == "" {
		p.first(t, s)
	}
	if s.status != "" {
		p.kubectlDoes(t, "", "patch", s.ref, "--subresource=status", "--type=merge", "-p", s.status)
	}
}

func (p place) first(t *testing.T, s situation) {
	t.Helper()
	if s.first != "" {
		p.kubectlDoes(t, "", "wait", "--for="+s.first, s.ref, "--timeout=1m")
	}
}

func (p place) kubectlDoes(t *testing.T, stdin string, args ...string) {
	t.Helper()
	if text, ok := p.runs(p.kubectl, stdin, args...); !ok {
		t.Fatalf("kubectl %s: %s", strings.Join(args, " "), text)
	}
}

// start builds the program, and starts the server unless the environment names one, as
// ../e2e does.
func start(t *testing.T) place {
	t.Helper()
	p := place{folder: t.TempDir(), kubeconfig: os.Getenv("E2E_CONTROLLERS_KUBECONFIG"), kubectl: os.Getenv("E2E_KUBECTL")}
	p.merge = filepath.Join(p.folder, "kubectl-merge")
	if out, err := exec.Command("go", "-C", "../..", "build", "-o", p.merge, "./cmd/kubectl-merge").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if p.kubeconfig != "" && p.kubectl != "" {
		return p
	}
	cmd := exec.Command("go", "-C", "../cluster", "run", ".", "--controllers")
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
