package controller

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	aggregator "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// server is a real API server without controllers.
type server struct {
	*rest.Config
	kubectl, kubeconfig string
}

// does runs kubectl with a manifest on its standard input, and returns what it prints.
func (s server) does(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(s.kubectl, args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), "KUBECONFIG="+s.kubeconfig), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts a server, as ../e2e does, that ends with the test.
func start(t testing.TB) server {
	t.Helper()
	log.SetLogger(logr.Discard())
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
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	config, err := clientcmd.BuildConfigFromFlags("", line.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1 // what is counted is requests, and not how long they are held back
	return server{config, line.Kubectl, line.Kubeconfig}
}

// counter counts a client's requests.
type counter struct {
	reads, dryRuns, writes atomic.Int64
	last                   atomic.Value // method and path of the last write
	next                   http.RoundTripper
}

// RoundTrip implements http.RoundTripper. A watch is not counted as a read: it fills the cache.
func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	switch q := r.URL.Query(); {
	case q.Has("watch"):
	case r.Method == http.MethodGet:
		c.reads.Add(1)
	case q.Has("dryRun"):
		c.dryRuns.Add(1)
	default:
		c.writes.Add(1)
		c.last.Store(r.Method + " " + r.URL.String())
	}
	return c.next.RoundTrip(r)
}

// counted returns a configuration whose requests are counted.
func (s server) counted() (*rest.Config, *counter) {
	c, config := &counter{}, rest.CopyConfig(s.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		c.next = next
		return c
	})
	return config, c
}

// kinds is a scheme of all built-in kinds and the Shop.
func kinds(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, extensions.AddToScheme, aggregator.AddToScheme, addShop} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}
