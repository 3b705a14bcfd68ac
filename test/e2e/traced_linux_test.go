package e2e

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	opened    = regexp.MustCompile(`openat\([^,]*, "([^"]*)", [^)]*\)\s*= \d`)
	connected = regexp.MustCompile(`connect\(\d+, \{sa_family=AF_INET6?, sin6?_port=htons\((\d+)\)`)
)

// TestReadsWhatIsNamed: a merge opens the files that it is given, the kubeconfig, its
// caches and what every program opens, and speaks to the server that the kubeconfig names
// and to the URLs that it is given, and to no other address.
func TestReadsWhatIsNamed(t *testing.T) {
	tracer, ok := tracer(t)
	if !ok {
		return
	}
	s := server.need(t)
	u := s.user(t, "traced")
	u.home = t.TempDir()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(faultyNew)) }))
	defer web.Close()
	u.file("named.yaml", faultyTwo)
	u.file("beside.yaml", faultyNew)
	u.file(".hidden", "")
	u.file("kustomization.yaml", "resources: [named.yaml]\n")
	for _, args := range [][]string{{"-f", "named.yaml"}, {"diff", "-f", "named.yaml", "-f", web.URL + "/x.yaml"}, {"-k", "."}, {"-f", "named.yaml", "--dry-run=server", "-o", "json"}, {"view-last-applied", "-f", "named.yaml"}} {
		trace := filepath.Join(t.TempDir(), "trace")
		program, err := exec.LookPath("kubectl-merge")
		if err != nil {
			t.Fatal(err)
		}
		if program, err = filepath.EvalSymlinks(program); err != nil {
			t.Fatal(err)
		}
		options := []string{"-f", "-qq", "-s", "4096", "-e", "trace=openat,connect", "-o", trace, program}
		cmd := u.command(t.Context(), tracer, append(options, args...)...)
		got := u.ends(cmd)
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		files := opened.FindAllStringSubmatch(string(text), -1)
		if !slices.ContainsFunc(files, func(m []string) bool { return strings.HasSuffix(m[1], "named.yaml") }) {
			t.Errorf("the trace lacks what was read: %s", got)
		}
		for _, m := range files {
			if m[1] != program && !u.mayOpen(m[1]) {
				t.Errorf("%s opens %s", got.line, m[1])
			}
		}
		for _, m := range connected.FindAllStringSubmatch(string(text), -1) {
			if m[1] != port(t, s.config.Host) && m[1] != port(t, web.URL) {
				t.Errorf("%s connects to port %s", got.line, m[1])
			}
		}
	}
}

// mayOpen: the file was named, or belongs to the system, the program or its caches.
func (u *user) mayOpen(name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(u.dir, name)
	}
	if slices.Contains([]string{u.dir, filepath.Join(u.dir, "named.yaml"), filepath.Join(u.dir, "kustomization.yaml"), u.kubeconfig}, name) {
		return true
	}
	for _, folder := range []string{filepath.Join(u.home, ".kube", "cache"), "/proc", "/sys", "/dev", "/etc", "/usr", "/lib", os.Getenv("GOCOVERDIR")} {
		if folder != "" && strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}

func port(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := net.SplitHostPort(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
