package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// program builds this command once per test.
func program(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cluster"+exe())
	if out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return file
}

// running is the command, started and ready.
type running struct {
	Info
	cmd   *exec.Cmd
	stdin io.WriteCloser
	rest  *bufio.Reader // what it says on stdout after the first line
}

func startProgram(t *testing.T, args ...string) running {
	t.Helper()
	cmd := exec.Command(program(t), args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	r := running{cmd: cmd, stdin: stdin, rest: bufio.NewReader(stdout)}
	line, err := r.rest.ReadBytes('\n')
	if err != nil {
		stdin.Close()
		_ = cmd.Wait()
		t.Fatalf("no line on stdout: %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(line, &r.Info); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return r
}

func (r running) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(r.Kubectl, append([]string{"--kubeconfig", r.Kubeconfig}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// gone waits for a process to end. Where no process collects the children of the
// killed (a container without an init), a zombie has ended too.
func gone(pid int) bool {
	n := strconv.Itoa(pid)
	for range 2400 { // minutes, for a machine that is busy
		if exec.Command("kill", "-0", n).Run() != nil {
			return true
		}
		if stat, err := os.ReadFile("/proc/" + n + "/stat"); err == nil && bytes.Contains(stat, []byte(") Z ")) {
			return true
		}
		time.Sleep(50 * time.Millisecond)
	}
	return false
}

func TestServerAnswersAndIsTakenAway(t *testing.T) {
	r := startProgram(t)
	if got := r.kubectl(t, "version"); !strings.Contains(got, "Server Version: "+r.Version) || !strings.Contains(got, "Client Version: "+r.Version) {
		t.Errorf("kubectl version lacks %s on one side:\n%s", r.Version, got)
	}
	r.kubectl(t, "get", "namespace", "default")
	// RBAC must be on, or stories about missing permissions would prove nothing.
	out, err := exec.Command(r.Kubectl, "--kubeconfig", r.Kubeconfig, "get", "pods", "--as=nobody").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "Forbidden") {
		t.Errorf("a user without permissions may read: %v %s", err, out)
	}
	// ServiceAccount admission is off: a Pod needs no account.
	r.kubectl(t, "run", "p", "--image=x")

	r.stdin.Close()
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("closed stdin should end it well: %v", err)
	}
	if !gone(r.EtcdPID) || !gone(r.APIServerPID) {
		t.Error("children outlive the command")
	}
	if _, err := os.Stat(r.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", r.Dir, err)
	}
}

// TestControllers plays one Deployment from its first pod to its end, across a crash of
// the server.
func TestControllers(t *testing.T) {
	r := startProgram(t, "--controllers")
	r.kubectl(t, "create", "deployment", "web", "--image=web:1", "--replicas=2")
	r.kubectl(t, "rollout", "status", "deployment/web", "--timeout=60s")
	if got := r.kubectl(t, "logs", "deployment/web"); !strings.Contains(got, "web: starting") {
		t.Errorf("no log: %s", got)
	}
	r.order(t, "kill")
	r.order(t, "start")
	r.kubectl(t, "set", "image", "deployment/web", "web=flaky:2")
	r.kubectl(t, "rollout", "status", "deployment/web", "--timeout=60s")
	r.kubectl(t, "delete", "deployment", "web", "--cascade=foreground", "--timeout=60s")
	if got := r.kubectl(t, "get", "pods", "-o", "name"); strings.TrimSpace(got) != "" {
		t.Errorf("pods outlive their Deployment: %s", got)
	}
}

func TestServiceAccountAdmission(t *testing.T) {
	r := startProgram(t, "--service-account-admission")
	cmd := exec.Command(r.Kubectl, "--kubeconfig", r.Kubeconfig, "run", "p", "--image=x")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "serviceaccount") {
		t.Errorf("a Pod without its account should be refused: %v %s", err, out)
	}
}

func TestKilledLeavesNoOrphans(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("kill -9 has no like here; the guard is tested by TestGuard")
		return
	}
	r := startProgram(t)
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait()
	if !gone(r.EtcdPID) || !gone(r.APIServerPID) {
		t.Fatal("children outlive a killed command")
	}
	if _, err := os.Stat(r.Dir); err != nil {
		t.Fatalf("no process was left to remove the data, yet: %v", err)
	}
	sweep()
	if _, err := os.Stat(r.Dir); !os.IsNotExist(err) {
		t.Errorf("the next start should remove %s: %v", r.Dir, err)
	}
}

func TestDeadServerIsAnError(t *testing.T) {
	r := startProgram(t)
	p, err := os.FindProcess(r.APIServerPID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err == nil {
		t.Error("the server died, and the command says all is well")
	}
	if !gone(r.EtcdPID) {
		t.Error("etcd outlives the command")
	}
}

func TestServerIsBroughtBack(t *testing.T) {
	r := startProgram(t)
	r.kubectl(t, "create", "namespace", "kept")
	killed := r.order(t, "kill")
	if killed.APIServerPID != 0 || !gone(r.APIServerPID) {
		t.Errorf("the server is to be gone: %+v", killed)
	}
	back := r.order(t, "start")
	if back.Server != r.Server || back.APIServerPID == 0 {
		t.Errorf("the server is to be back where it was: %+v", back)
	}
	r.kubectl(t, "get", "namespace", "kept")
}

// order writes a line to the command and reads its answer.
func (r running) order(t *testing.T, order string) Info {
	t.Helper()
	if _, err := io.WriteString(r.stdin, order+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := r.rest.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: %v", order, err)
	}
	var info Info
	if err := json.Unmarshal(line, &info); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return info
}

func TestBadServerFlagIsTold(t *testing.T) {
	cmd := exec.Command(program(t), "--apiserver-arg=--no-such-flag")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no-such-flag") {
		t.Errorf("want an error with the server's own words: %v %s", err, out)
	}
}

func TestLockIsTakenOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := tryLock(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryLock(file); err == nil {
		t.Error("two hold one lock")
	}
	unlock()
	again, err := tryLock(file)
	if err != nil {
		t.Fatalf("the lock was let go of: %v", err)
	}
	again()
}

// TestGuard plays both ways in which a guarded child ends.
func TestGuard(t *testing.T) {
	if code := guard([]string{"go", "version"}, blocked(t), io.Discard); code != 0 {
		t.Errorf("a child that ends by itself: exit %d", code)
	}
	began := time.Now()
	if code := guard([]string{"sleep", "60"}, strings.NewReader(""), io.Discard); code == 0 {
		t.Error("a killed child should not count as done well")
	}
	if time.Since(began) > 30*time.Second {
		t.Error("the child was waited for, not killed")
	}
}

// blocked is a stdin that stays open until the test ends.
func blocked(t *testing.T) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r
}
