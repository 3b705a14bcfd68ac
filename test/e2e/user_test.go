package e2e

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// user is a user at a shell, for tests that cannot be stories: a folder, a namespace,
// and a kubeconfig that leads there.
type user struct {
	t          *testing.T
	server     *apiServer
	dir        string
	ns         string
	kubeconfig string
	home       string
}

// user makes a user with a namespace of his own.
func (s *apiServer) user(t *testing.T, name string) *user {
	t.Helper()
	u := &user{t: t, server: s, dir: t.TempDir(), home: s.home, ns: unused(name)}
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: u.ns}}
	if _, err := s.client.CoreV1().Namespaces().Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	u.lead(nil)
	return u
}

// namespaces are the names that tests have taken for namespaces.
var namespaces sync.Map

// unused is a name with five digits that no other test of this process has: of a few hundred
// drawn at random, two are the same every now and then.
func unused(name string) string {
	for {
		ns := fmt.Sprintf("%s-%05d", name, rand.IntN(100000))
		if _, taken := namespaces.LoadOrStore(ns, true); !taken {
			return ns
		}
	}
}

// lead writes the user's kubeconfig; change may alter where it leads.
func (u *user) lead(change func(*clientcmdapi.Cluster)) {
	u.t.Helper()
	u.kubeconfig = filepath.Join(u.dir, ".kubeconfig")
	if err := u.server.kubeconfigFor(u.kubeconfig, u.ns, change); err != nil {
		u.t.Fatal(err)
	}
}

// through leads the user through a proxy in front of the server. What is cached of discovery is by
// host and port, and another proxy may have had the same port before: the user gets a home of its own.
func (u *user) through(p *proxy) {
	u.t.Helper()
	u.home = u.t.TempDir()
	u.lead(p.cluster)
}

// cluster makes a kubeconfig's cluster lead to the proxy.
func (p *proxy) cluster(c *clientcmdapi.Cluster) {
	c.Server, c.TLSServerName, c.InsecureSkipTLSVerify, c.CertificateAuthority = p.http.URL, "", false, ""
	c.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.http.Certificate().Raw})
}

// admin is the user with a kubeconfig that leads to the server itself.
func (u *user) admin() *user {
	a := *u
	a.dir = u.t.TempDir()
	a.lead(nil)
	a.dir = u.dir
	return &a
}

// file writes a file into the user's folder and gives its name.
func (u *user) file(name, text string) string {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
	return name
}

// patience is for a machine that is busy with other work: what does not come in that time does
// not come.
const patience = 5 * time.Minute

// comes waits for a state, such as that the server knows a webhook.
func comes(known func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if known() {
			return true
		}
	}
	return known()
}

// awaits waits for a state, without which the test ends.
func (u *user) awaits(known func() bool) {
	u.t.Helper()
	if !comes(known) {
		u.t.Fatalf("what is waited for does not come within %s", patience)
	}
}

// said is the output of a command, and how it ended.
type said struct {
	line           string
	code           int
	stdout, stderr string
	took           time.Duration
}

func (s said) String() string {
	return fmt.Sprintf("%s: exit %d\n%s%s", s.line, s.code, s.stdout, s.stderr)
}

// command prepares a command in the user's folder.
func (u *user) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if name == "kubectl" {
		name = u.server.kubectl
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = u.dir
	cmd.Env = append(os.Environ(), "HOME="+u.home, "KUBECONFIG="+u.kubeconfig, "NO_COLOR=1", "KUBECTL_MERGE_COMPLETION_TIMEOUT="+patience.String())
	return cmd
}

// tries runs a command however it ends. A test that hangs says nothing, so it is
// killed before the time of all tests is over.
func (u *user) tries(name string, args ...string) said {
	u.t.Helper()
	end, limited := u.t.Deadline()
	if !limited {
		end = time.Now().Add(24 * time.Hour)
	}
	ctx, cancel := context.WithDeadline(u.t.Context(), end.Add(-time.Minute))
	defer cancel()
	return u.ends(u.command(ctx, name, args...))
}

// ends runs a prepared command to its end.
func (u *user) ends(cmd *exec.Cmd) said {
	u.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	s := said{line: short(slices.Concat([]string{filepath.Base(cmd.Path)}, cmd.Args[1:])), stdout: out.String(), stderr: errs.String(), took: time.Since(began)}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		s.code = exit.ExitCode()
	case err != nil:
		u.t.Fatalf("%s: %v", s.line, err)
	}
	if strings.Contains(s.stderr, "goroutine ") {
		u.t.Fatalf("a crash:\n%s", s)
	}
	return s
}

// does runs a command that has to end well.
func (u *user) does(name string, args ...string) said {
	u.t.Helper()
	s := u.tries(name, args...)
	if s.code != 0 {
		u.t.Fatal(s)
	}
	return s
}

// merges runs the program, which has to end well.
func (u *user) merges(args ...string) said {
	u.t.Helper()
	return u.does("kubectl-merge", args...)
}

// lives gives a live object, nil where there is none.
func (u *user) lives(ref string) map[string]any {
	u.t.Helper()
	live, err := u.server.reader.named(u.ns, ref)
	if err != nil {
		u.t.Fatal(err)
	}
	return live
}

// versions are the resourceVersions of a file's objects, "" where there is none.
func (u *user) versions(file string) map[string]string {
	u.t.Helper()
	all, err := u.server.reader.file(u.ns, filepath.Join(u.dir, file))
	if err != nil {
		u.t.Fatal(err)
	}
	got := map[string]string{}
	for _, live := range all {
		o := drawn(live)
		got[o.ref], _ = o.value["metadata"].(map[string]any)["resourceVersion"].(string)
	}
	return got
}

// proxied is the user, led through a proxy.
func (u *user) proxied(p *proxy) *user {
	v := *u
	v.dir = u.t.TempDir()
	v.through(p)
	v.dir = u.dir
	return &v
}

// words reads outcome lines: what is said of each object.
func words(s said) map[string]string {
	got := map[string]string{}
	for line := range strings.Lines(s.stdout) {
		if ref, word, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			got[ref] = word
		}
	}
	return got
}

// rewrite changes the user's kubeconfig.
func (u *user) rewrite(change func(*clientcmdapi.Config)) {
	u.t.Helper()
	config := u.server.kubeconfig.DeepCopy()
	config.Contexts[config.CurrentContext].Namespace = u.ns
	change(config)
	if err := clientcmd.WriteToFile(*config, u.kubeconfig); err != nil {
		u.t.Fatal(err)
	}
}
