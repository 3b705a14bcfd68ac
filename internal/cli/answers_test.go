package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// answers gives a command line prepared answers and records its requests. It shows what a verb
// asks for, and what it prints of an answer; what a server answers is tested on a real one.
type answers struct {
	mu       sync.Mutex
	by       map[string][]string // "GET /path" without the query; the last is given again and again
	requests []string            // method, path, ?dryRun, and the body of a write
}

// discovered are the server's answers about its API groups and resources.
var discovered = map[string]string{
	"/openapi/v3": `{"paths":{}}`,
	"/api":        `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":       `{"kind":"APIGroupList","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[` + resource("configmaps", "ConfigMap", true) + "," + resource("secrets", "Secret", true) + "," +
		resource("namespaces", "Namespace", false) + "," + resource("pods", "Pod", true) + "," + resource("events", "Event", true) + "]}",
	"/apis/apps/v1": `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[` + resource("deployments", "Deployment", true) + "]}",
}

func resource(plural, kind string, namespaced bool) string {
	return fmt.Sprintf(`{"name":%q,"singularName":%q,"kind":%q,"namespaced":%t,"shortNames":[%q],"verbs":["create","delete","get","list","patch","update","watch"]}`,
		plural, strings.ToLower(kind), kind, namespaced, map[string]string{"configmaps": "cm", "deployments": "deploy"}[plural])
}

// refusal is an answer that is an error.
func refusal(code int, reason, message string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":%q}`, code, reason, message)
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	if text, ok := discovered[r.URL.Path]; ok {
		_, _ = io.WriteString(w, text)
		return
	}
	text := a.answer(r, body)
	var status struct {
		Kind string
		Code int
	}
	if json.Unmarshal([]byte(text), &status) == nil && status.Kind == "Status" && status.Code != 0 {
		w.WriteHeader(status.Code)
	}
	_, _ = io.WriteString(w, text)
}

// answer is the prepared answer, or, where there is none, that nothing is there; a write
// that nothing was prepared for is answered with what was sent, or with what is there in
// another version.
func (a *answers) answer(r *http.Request, body []byte) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	line := r.Method + " " + r.URL.Path
	if r.URL.Query().Has("dryRun") {
		line += "?dryRun"
	}
	a.requests = append(a.requests, strings.TrimSpace(line+" "+string(body)))
	for _, key := range []string{r.Method + " " + r.URL.Path, "GET " + r.URL.Path} {
		if replies := a.by[key]; len(replies) > 0 {
			if len(replies) > 1 {
				a.by[key] = replies[1:]
			}
			if r.Method == http.MethodPatch && strings.HasPrefix(key, "GET") {
				return strings.Replace(replies[0], `"resourceVersion":"`, `"resourceVersion":"1`, 1)
			}
			return replies[0]
		}
	}
	switch r.Method {
	case http.MethodPost:
		return string(body)
	case http.MethodDelete:
		return `{"kind":"Status","apiVersion":"v1","status":"Success"}`
	}
	return refusal(404, "NotFound", "not found")
}

// writes are the requests that write; a dry run's have ?dryRun.
func (a *answers) writes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.requests), func(r string) bool { return strings.HasPrefix(r, "GET ") })
}

// ended is the outcome of a command line.
type ended struct {
	code     int
	out, err string
}

// against runs a command line in the namespace shop of a server that gives these answers.
func against(t *testing.T, a *answers, args ...string) ended {
	t.Helper()
	server := httptest.NewServer(a)
	defer server.Close()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	var out, errs bytes.Buffer
	args = append(args, "--server="+server.URL, "-n", "shop", "--cache-dir="+t.TempDir())
	code := Main(t.Context(), "kubectl-merge", args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
	return ended{code, out.String(), errs.String()}
}

// is compares the end with a code and with texts that have to be printed.
func (e ended) is(t *testing.T, reason string, code int, out, errs string) {
	t.Helper()
	if e.code != code || !strings.Contains(e.out, out) || !strings.Contains(e.err, errs) {
		t.Errorf("%s: code %d, want %d\nstdout %s\nwant %s\nstderr %s\nwant %s", reason, e.code, code, e.out, out, e.err, errs)
	}
}

// exactly compares all that was printed.
func (e ended) exactly(t *testing.T, reason string, want ended) {
	t.Helper()
	if e != want {
		t.Errorf("%s:\ngot  %d\n%s\n%s\nwant %d\n%s\n%s", reason, e.code, e.out, e.err, want.code, want.out, want.err)
	}
}

const (
	confPath    = "/api/v1/namespaces/shop/configmaps/conf"
	applied     = "kubectl.kubernetes.io/last-applied-configuration"
	confApplied = `{"apiVersion":"v1","data":{"a":"1","gone":"x"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"conf","namespace":"shop"}}`
)

// served is a live ConfigMap or Secret of the namespace shop.
func served(kind, name, annotation, data string) string {
	annotations := ""
	if annotation != "" {
		annotations = fmt.Sprintf(`,"annotations":{%q:%q}`, applied, annotation+"\n")
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"namespace":"shop","uid":"uid-%s","resourceVersion":"7"%s},"data":%s}`, kind, name, name, annotations, data)
}

// servedConf is the live object of localConf.
func servedConf() string {
	return served("ConfigMap", "conf", confApplied, `{"a":"1","gone":"x","others":"stays"}`)
}

func listOf(items ...string) string {
	return `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[` + strings.Join(items, ",") + `]}`
}
