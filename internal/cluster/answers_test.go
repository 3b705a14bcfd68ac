package cluster

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

// answers gives a Cluster prepared answers and records its requests. It shows what the
// client sends and makes of an answer; what a server answers is tested on a real one.
type answers struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // verb, path and query, content type, body
	byPath   map[string][]reply
}

// reply is one answer. The last one for a path is given again and again.
type reply struct {
	code   int // 0: 200
	body   string
	header map[string]string
	torn   bool // it ends before it is whole
}

// discovered are the resources that the server has: Pods, Secrets, Namespaces and Deployments.
var discovered = map[string][]reply{
	"/api":  {{body: `{"kind":"APIVersions","versions":["v1"]}`}},
	"/apis": {{body: `{"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"},{"groupVersion":"apps/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`}},
	"/api/v1": {{body: `{"kind":"APIResourceList","groupVersion":"v1","resources":[
		{"name":"pods","kind":"Pod","namespaced":true,"verbs":["get","list","delete"]},{"name":"pods/status","kind":"Pod","namespaced":true},
		{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["get","list","delete"]},
		{"name":"namespaces","kind":"Namespace","namespaced":false,"verbs":["get","list","delete"]}]}`}},
	"/apis/apps/v1":      {{body: `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["get","list","delete"]}]}`}},
	"/apis/apps/v1beta1": {{body: `{"kind":"APIResourceList","groupVersion":"apps/v1beta1","resources":[{"name":"scales","kind":"Scale","namespaced":true,"verbs":["get"]}]}`}},
}

// serve starts a server that gives answers besides those of discovery; path is without
// the query.
func serve(t *testing.T, byPath map[string][]reply) (*Cluster, *answers) {
	t.Helper()
	a := &answers{byPath: map[string][]reply{}}
	for _, all := range []map[string][]reply{discovered, byPath} {
		for path, replies := range all {
			a.byPath[path] = replies
		}
	}
	a.Server = httptest.NewServer(http.HandlerFunc(a.answer))
	t.Cleanup(a.Close)
	c, err := New(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Values = &redact.Values{}
	return c, a
}

func (a *answers) answer(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	a.mu.Lock()
	a.requests = append(a.requests, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", req.Method, req.URL.RequestURI(), req.Header.Get("Content-Type"), body)))
	replies, known := a.byPath[req.URL.Path]
	if len(replies) > 1 {
		a.byPath[req.URL.Path] = replies[1:]
	}
	a.mu.Unlock()
	if !known {
		replies = []reply{status(404, "NotFound", "the server could not find the requested resource")}
	}
	r := replies[0]
	w.Header().Set("Content-Type", "application/json")
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	if r.torn {
		w.Header().Set("Content-Length", "1000")
	}
	if r.code != 0 {
		w.WriteHeader(r.code)
	}
	_, _ = io.WriteString(w, r.body)
}

// seen are the requests besides those of discovery.
func (a *answers) seen() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for _, req := range a.requests {
		path, _, _ := strings.Cut(strings.Fields(req)[1], "?")
		if _, found := discovered[path]; !found {
			out = append(out, req)
		}
	}
	return out
}

// ToRESTConfig and ToDiscoveryClient are what New needs.
func (a *answers) ToRESTConfig() (*rest.Config, error) {
	config := &rest.Config{Host: a.URL}
	Bound(config)
	return config, nil
}

func (a *answers) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	config, _ := a.ToRESTConfig()
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	client.UseLegacyDiscovery = true
	return memory.NewMemCacheClient(client), nil
}

// flags are the same for cli-runtime.
func (a *answers) flags() *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer = &a.URL
	return flags
}

// status is how a server refuses.
func status(code int, reason, message string) reply {
	return reply{code: code, body: fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`, code, reason, message)}
}

var (
	pods    = Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true, Status: true}
	pod     = Target{Resource: pods, Namespace: "prod", Name: "web"}
	secrets = Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}
)

// podJSON is a Pod as a server sends it.
func podJSON(name, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"prod"}%s}`, name, more)
}

const podPath = "/api/v1/namespaces/prod/pods/web"
