package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// cmdContext: context NAME [second|nowhere].
func cmdContext(ts *testscript.TestScript, neg bool, args []string) {
	where := strings.Join(args[min(len(args), 1):], " ")
	usage(ts, neg || len(args) == 0 || where != "" && where != "second" && where != "nowhere", "context NAME [second|nowhere]")
	s := storyOf(ts)
	at := s.server
	if where == "second" {
		if at = &staffed; at == s.server {
			at = &server
		}
		ts.Check(at.up())
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}
		if _, err := at.client.CoreV1().Namespaces().Create(context.Background(), object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			ts.Check(err)
		}
	}
	file := ts.Getenv("KUBECONFIG")
	config, err := clientcmd.LoadFromFile(file)
	ts.Check(err)
	addContext(config, args[0], at, s.ns, func(c *clientcmdapi.Cluster) {
		if where == "nowhere" {
			c.Server = "https://127.0.0.1:1"
		}
	})
	ts.Check(clientcmd.WriteToFile(*config, file))
}

// addContext adds a context for a namespace of a server; change may alter where it leads.
func addContext(config *clientcmdapi.Config, name string, s *apiServer, ns string, change func(*clientcmdapi.Cluster)) {
	its := s.kubeconfig.Contexts[s.kubeconfig.CurrentContext]
	cluster := s.kubeconfig.Clusters[its.Cluster].DeepCopy()
	change(cluster)
	config.Clusters[name], config.AuthInfos[name] = cluster, s.kubeconfig.AuthInfos[its.AuthInfo].DeepCopy()
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: ns}
}

// meeting lets those who come go on when all that are expected have come.
type meeting struct {
	mu       sync.Mutex
	expected int
	open     chan struct{}
}

func (m *meeting) arrive() {
	m.mu.Lock()
	if m.expected--; m.expected == 0 {
		close(m.open)
	}
	m.mu.Unlock()
}

// clustersOf makes a user whose kubeconfig has n contexts, each with a proxy of its own in front of
// the server: hold is called with the proxy's number for each answer, before the program gets it.
func clustersOf(t *testing.T, n int, hold func(proxy int, r *http.Request)) *user {
	t.Helper()
	s := server.need(t)
	u := s.user(t, "contexts")
	u.home = t.TempDir()
	u.file("conf.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf}, data: {a: "1"}}`)
	u.merges("-f", "conf.yaml")
	u.does("kubectl", "patch", "configmap/conf", "--type=merge", `-p={"data":{"a":"2"}}`)
	var proxies []*proxy
	for i := range n {
		p, err := newProxy(s.config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.http.Close)
		p.passed = func(r *http.Response) error {
			hold(i, r.Request)
			return nil
		}
		proxies = append(proxies, p)
	}
	u.rewrite(func(config *clientcmdapi.Config) {
		for i, p := range proxies {
			addContext(config, fmt.Sprintf("sim-%02d", i), s, u.ns, p.cluster)
		}
	})
	return u
}

// TestContextsAtOnce: twenty clusters none of which answers before all twenty have been asked. One
// after the other, or nineteen at once, would never end.
func TestContextsAtOnce(t *testing.T) {
	t.Parallel()
	const clusters = 20
	all := meeting{expected: clusters, open: make(chan struct{})}
	var first [clusters]sync.Once
	u := clustersOf(t, clusters, func(i int, r *http.Request) {
		first[i].Do(all.arrive)
		select {
		case <-all.open:
		case <-r.Context().Done():
		}
	})
	got := u.tries("kubectl-merge", "drift", "-f", "conf.yaml", "--contexts=sim-*", "--request-timeout=4m")
	if got.code != 1 || strings.Count(got.stdout, "\n") != 2 || !strings.Contains(got.stdout, "all 20 contexts ") {
		t.Errorf("want exit 1 and one row for all 20 contexts\n%s", got)
	}
}
