package wait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// answers gives prepared answers and records the requests: it shows what a wait sends and
// makes of an answer; what a server answers is tested on a real one.
type answers struct {
	mu     sync.Mutex
	by     map[string][]string // "list /path", "watch /path", "get /path": the last is given again and again
	asked  []string
	before func(request string) // called with each request; may be nil
}

const (
	endless   = "endless"   // a watch in which nothing happens
	forbidden = "forbidden" // 403
	gone      = "gone"      // 410
	broken    = "broken"    // 500
)

var codes = map[string]int{forbidden: http.StatusForbidden, gone: http.StatusGone, broken: http.StatusInternalServerError}

// RoundTrip answers a request without a network, so that time is the test's.
func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	what := "get "
	switch q := r.URL.Query(); {
	case q.Get("watch") == "true":
		what = "watch "
	case q.Has("limit"):
		what = "list "
	}
	what += r.URL.Path
	if a.before != nil {
		a.before(what)
	}
	a.mu.Lock()
	a.asked = append(a.asked, what)
	texts, known := a.by[what]
	if len(texts) > 1 {
		a.by[what] = texts[1:]
	}
	a.mu.Unlock()
	text, code := endless, 0
	if known {
		text, code = texts[0], codes[texts[0]]
	} else if !strings.HasPrefix(what, "watch ") {
		text, code = "", http.StatusNotFound
	}
	resp := &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"application/json"}}}
	body := io.Reader(strings.NewReader(text))
	switch {
	case code != 0:
		resp.StatusCode = code
		body = strings.NewReader(fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"message":"no luck"}`, code))
	case text == endless:
		body = silent{r.Context()}
	}
	resp.Body = io.NopCloser(body)
	return resp, nil
}

// silent has nothing to read until the context ends.
type silent struct{ context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.Done()
	return 0, s.Err()
}

func (a *answers) count(what string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, one := range a.asked {
		if one == what {
			n++
		}
	}
	return n
}

func (a *answers) serve(t testing.TB) *cluster.Cluster {
	t.Helper()
	flags, none, server := genericclioptions.NewConfigFlags(false), "", "http://server"
	cache := t.TempDir()
	flags.APIServer, flags.KubeConfig, flags.CacheDir = &server, &none, &cache
	flags.WrapConfigFn = func(c *rest.Config) *rest.Config {
		c.Transport = a
		return c
	}
	c, err := cluster.New(flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// timed is a subtest in which time passes when all wait for it.
func timed(t *testing.T, what string, play func(*testing.T)) {
	t.Run(strings.ReplaceAll(what, " ", "-"), func(t *testing.T) { synctest.Test(t, play) })
}

func listOf(items ...string) string {
	return `{"kind":"List","metadata":{"resourceVersion":"5"},"items":[` + strings.Join(items, ",") + `]}`
}

func event(kind, object string) string { return `{"type":"` + kind + `","object":` + object + "}\n" }

const (
	noAddress = `{"kind":"Service","metadata":{"name":"public","namespace":"ns","uid":"s","resourceVersion":"6"},"spec":{"type":"LoadBalancer"}}`
	address   = `{"kind":"Service","metadata":{"name":"public","namespace":"ns","uid":"s","resourceVersion":"7"},"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`
	bookmark  = `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}` + "\n"
	services  = "/api/v1/namespaces/ns/services"
)

var public = Object{Target: cluster.Target{Resource: cluster.Resource{Version: "v1", Kind: "Service", Plural: "services", Namespaced: true}, Namespace: "ns", Name: "public"}, UID: "s"}

// TestWait: whatever a server answers on the way, the object is seen to be ready, or why it
// is not.
func TestWait(t *testing.T) {
	for _, tt := range []struct {
		what    string
		by      map[string][]string
		timeout time.Duration
		silence time.Duration
		err     string
		note    string
	}{
		{what: "it is in the list", by: map[string][]string{"list " + services: {listOf(address)}}},
		{what: "a watch reports it", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {bookmark + event("MODIFIED", address), endless}}},
		{what: "a watch ends, and goes on", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {bookmark, event("MODIFIED", address), endless}}},
		{what: "a watch is too old", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {gone, endless}}},
		{what: "it may not be watched", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {forbidden}}},
		{what: "it may not be listed", by: map[string][]string{"list " + services: {forbidden}, "get " + services + "/public": {noAddress, address}}},
		{what: "it may not be read at all", by: map[string][]string{"list " + services: {forbidden}, "get " + services + "/public": {forbidden}},
			err: "service/public: cannot be read: no luck"},
		{what: "it is not there any more", by: map[string][]string{"list " + services: {forbidden}, "get " + services + "/other": {""}},
			err: "service/public: failed: Deleted: it was deleted while it was waited for"},
		{what: "the server fails once", by: map[string][]string{"list " + services: {broken, listOf(address)}}, note: "trying again"},
		{what: "a watch that is silent", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}}, silence: time.Millisecond},
		{what: "a watch that is empty", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {""}}},
		{what: "a watch of something else", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {"<html></html>\n"}}, note: "cannot be watched, and are read every 2s"},
		{what: "a watch with events of an unknown type", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {event("CHANGED", address)}}, note: "an event of an unknown type, CHANGED"},
		{what: "a watch with bookmarks of no version", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {event("BOOKMARK", `{"metadata":{}}`)}}, note: "a bookmark without a version"},
		{what: "a watch that names another kind", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {event("DELETED", strings.Replace(address, "Service", "Secret", 1))}}, note: "about another object, Secret/public"},
		{what: "a watch that names another namespace", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {event("DELETED", strings.Replace(address, `"ns"`, `"other"`, 1))}}, note: "another namespace, other"},
		{what: "a watch that names another object", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {event("DELETED", strings.Replace(address, "public", "private", 1))}}, note: "about another object, Service/private"},
		{what: "a watch that reports a deletion that was none", by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}, "watch " + services: {event("DELETED", noAddress), endless}}},
		{what: "nothing happens", by: map[string][]string{"list " + services: {listOf(noAddress)}}, timeout: 200 * time.Millisecond,
			err: "service/public: not ready within 200ms: Pending: its load balancer has no address yet"},
	} {
		timed(t, tt.what, func(t *testing.T) {
			a := &answers{by: tt.by}
			var notes []string
			done := -1
			w := &Waiter{API: a.serve(t), Timeout: tt.timeout, Silence: tt.silence, Noted: func(text string) { notes = append(notes, text) }, Progress: func(n, _ int) { done = n }}
			err := w.Wait(t.Context(), []Object{public})
			switch {
			case tt.err == "" && (err != nil || done != 1):
				t.Errorf("%v, %d ready; asked %q", err, done, a.asked)
			case tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)):
				t.Errorf("%v, want %s", err, tt.err)
			}
			if text := strings.Join(notes, "\n"); (tt.note == "") != (text == "") || !strings.Contains(text, tt.note) {
				t.Errorf("noted %q, want %q", notes, tt.note)
			}
		})
	}
}

// TestWaitReports: which pod, which container, the latest warnings and the logs.
func TestWaitReports(t *testing.T) {
	const (
		all  = "/apis/apps/v1/namespaces/ns/"
		pods = "/api/v1/namespaces/ns/pods"
		set  = `{"metadata":{"name":"web-1","namespace":"ns","uid":"r","annotations":{"deployment.kubernetes.io/revision":"1"},"ownerReferences":[{"controller":true,"uid":"d"}]}}`
		pod  = `{"metadata":{"name":"web-1-a","namespace":"ns","uid":"p","ownerReferences":[{"controller":true,"uid":"r"}]},"status":{"phase":"Running","containerStatuses":[{"name":"app","state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}}}]}}`
		web  = `{"metadata":{"name":"web","namespace":"ns","uid":"d","generation":1,"annotations":{"deployment.kubernetes.io/revision":"1"}},"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1}}`
	)
	a := &answers{by: map[string][]string{
		"list " + all + "deployments":       {listOf(web)},
		"list " + all + "replicasets":       {listOf(set)},
		"list " + pods:                      {listOf(pod)},
		"list /api/v1/namespaces/ns/events": {listOf(`{"metadata":{"name":"e","namespace":"ns"},"reason":"BackOff","message":"later","lastTimestamp":"2026-01-02T03:04:06Z"}`, `{"metadata":{"name":"e","namespace":"ns"},"reason":"Failed","message":"first","lastTimestamp":"2026-01-02T03:04:05Z"}`, `{"metadata":{"name":"e","namespace":"ns"},"reason":"BackOff","message":"later","lastTimestamp":"2026-01-02T03:04:07Z"}`)},
		"get " + pods + "/web-1-a/log":      {"one\ntwo\n"},
	}}
	w := &Waiter{API: a.serve(t), Patience: 0, Logs: 5}
	err := w.Wait(t.Context(), []Object{deployment("web", "d")})
	var e *NotReady
	if !errors.As(err, &e) || e.Error() != "deployment.apps/web: failed: CrashLoopBackOff: pod web-1-a, container app: back-off" {
		t.Fatal(err)
	}
	if got := strings.Join(e.Events, "|"); got != "Failed: first|BackOff: later" {
		t.Errorf("events %q", got)
	}
	if len(e.Logs) != 2 || !e.Logs[0].Previous || e.Logs[1].Lines[1] != "two" {
		t.Errorf("logs %+v", e.Logs)
	}
}

// TestWaitInterrupted reports what is not ready, and asks for nothing more.
func TestWaitInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &answers{by: map[string][]string{"list " + services: {listOf(noAddress)}}}
	w := &Waiter{API: a.serve(t), Changed: func(Object, ready.Verdict) { cancel() }}
	err := w.Wait(ctx, []Object{public})
	if err == nil || err.Error() != "service/public: the wait was interrupted: Pending: its load balancer has no address yet" {
		t.Error(err)
	}
	if a.count("list /api/v1/namespaces/ns/events") != 0 {
		t.Errorf("asked %q", a.asked)
	}
}

// TestWaitReadsBeforeItEnds: while its watch says nothing, an object becomes ready; who
// interrupts the wait, or has it end, is not given a verdict that is not true any more.
func TestWaitReadsBeforeItEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := &answers{by: map[string][]string{"list " + services: {listOf(noAddress), listOf(address)}}}
	a.before = func(request string) {
		if request == "watch "+services {
			cancel()
		}
	}
	if err := (&Waiter{API: a.serve(t)}).Wait(ctx, []Object{public}); err != nil {
		t.Error(err)
	}
}

// TestWaitTypes: the schema of a kind is asked for once; without one there is no wait.
func TestWaitTypes(t *testing.T) {
	gadgets := cluster.Resource{Group: "example.com", Version: "v1", Kind: "Gadget", Plural: "gadgets", Namespaced: true}
	at := func(name string) Object {
		return Object{Target: cluster.Target{Resource: gadgets, Namespace: "ns", Name: name}, UID: name}
	}
	const path = "list /apis/example.com/v1/namespaces/ns/gadgets"
	a := &answers{by: map[string][]string{path: {listOf(`{"metadata":{"name":"a","namespace":"ns","uid":"a"}}`, `{"metadata":{"name":"b","namespace":"ns","uid":"b"}}`)}}}
	asked := 0
	w := &Waiter{API: a.serve(t), Type: func(context.Context, string, string, string) (*merge.Type, error) {
		asked++
		return nil, nil
	}}
	if err := w.Wait(t.Context(), []Object{at("a"), at("b")}); err != nil || asked != 1 || a.count(path) != 1 {
		t.Errorf("%v, asked for the schema %d times", err, asked)
	}
	w.Type = func(context.Context, string, string, string) (*merge.Type, error) {
		return nil, errors.New("no schema")
	}
	if err := w.Wait(t.Context(), []Object{at("a")}); err == nil || err.Error() != "no schema" {
		t.Error(err)
	}
}

const (
	setsPath = "/apis/apps/v1/namespaces/ns/replicasets"
	podsPath = "/api/v1/namespaces/ns/pods"
	jobsPath = "/apis/batch/v1/namespaces/ns/jobs"
)

// podNaming is a pod that names the ConfigMap old.
func podNaming(name, owner, phase string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns","uid":%q,"resourceVersion":"8","ownerReferences":[{"controller":true,"uid":%q}]},"spec":{"containers":[{"name":"a","image":"b","envFrom":[{"configMapRef":{"name":"old"}}]}]},"status":{"phase":%q}}`, name, name, owner, phase)
}

// setNaming is a ReplicaSet whose pods do.
func setNaming(name, owner, replicas string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ns","uid":%q,"ownerReferences":[{"controller":true,"uid":%q}]},"spec":{"replicas":%s,"template":{"spec":{"containers":[{"name":"a","image":"b","envFrom":[{"configMapRef":{"name":"old"}}]}]}}},"status":{"replicas":%s}}`, name, name, owner, replicas, replicas)
}

var old = []cluster.Target{{Resource: cluster.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}, Namespace: "ns", Name: "old"}}

// TestUsers: who names an object that is to be deleted, and counts.
func TestUsers(t *testing.T) {
	cronJobs := cluster.Resource{Group: "batch", Version: "v1", Kind: "CronJob", Plural: "cronjobs", Namespaced: true}
	for _, tt := range []struct {
		what    string
		by      map[string][]string
		leaving string
		kinds   []cluster.Resource
		want    string
		unknown bool
	}{
		{what: "no users", by: map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {listOf()}}},
		{what: "pods", by: map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {listOf(podNaming("b", "", "Running"), podNaming("a", "", "Pending"), podNaming("done", "", "Succeeded"), podNaming("c", "", "Running"))}}, want: "pod/a, pod/b and 1 more"},
		{what: "a ReplicaSet with replicas", by: map[string][]string{"list " + setsPath: {listOf(setNaming("new", "d", "0"), setNaming("before", "d", "2"))}, "list " + podsPath: {listOf()}}, want: "replicaset.apps/before"},
		{what: "what belongs to a deleted Deployment", by: map[string][]string{"list " + setsPath: {listOf(setNaming("r", "d", "2"))}, "list " + podsPath: {listOf(podNaming("a", "r", "Running"))}}, leaving: "d"},
		{what: "what does not", by: map[string][]string{"list " + setsPath: {listOf(setNaming("r", "d", "0"))}, "list " + podsPath: {listOf(podNaming("a", "r", "Running"))}}, leaving: "other", want: "pod/a"},
		{what: "a ReplicaSet that is gone already", by: map[string][]string{"list " + setsPath: {listOf(setNaming("r", "d", "1")), listOf()}, "list " + podsPath: {listOf(podNaming("a", "r", "Running"))}}, leaving: "d"},
		{what: "a Job's pod", by: map[string][]string{"list " + setsPath: {listOf()}, "list " + jobsPath: {listOf(podNaming("j", "cron", ""))}, "list " + podsPath: {listOf(podNaming("a", "j", "Running"))}}, leaving: "cron", kinds: []cluster.Resource{cronJobs}},
		{what: "pods may not be listed", by: map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {forbidden}}, unknown: true},
		{what: "a kind that is gone", by: map[string][]string{"list " + podsPath: {listOf()}}},
	} {
		a := &answers{by: tt.by}
		u := &Users{API: a.serve(t), Kinds: tt.kinds, Leaving: map[string]bool{tt.leaving: tt.leaving != ""}}
		if _, err := u.Find(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		got, err := u.Find(t.Context(), old)
		if err != nil || got[0].By != tt.want || (got[0].Unknown != nil) != tt.unknown || (got[0] == Use{}) != (tt.want == "" && !tt.unknown) {
			t.Errorf("%s: %+v, %v; want %q", tt.what, got, err, tt.want)
		}
	}
	a := &answers{by: map[string][]string{"list " + setsPath: {broken}}}
	if _, err := (&Users{API: a.serve(t)}).Find(t.Context(), old); err == nil {
		t.Error("a server that fails was taken for one that has nothing")
	}
}

// TestUsersAwait: the wait ends as soon as no object names it, at the latest after the timeout.
func TestUsersAwait(t *testing.T) {
	running := podNaming("a", "r", "Running")
	for _, tt := range []struct {
		what    string
		by      map[string][]string
		lasts   time.Duration
		want    string
		unknown bool
		said    string
	}{
		{"until the pod is gone", map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {listOf(running), listOf()}, "watch " + podsPath: {event("DELETED", running), endless}}, 0, "", false, "configmap/old pod/a"},
		{"until it has ended", map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {listOf(running), listOf()}, "watch " + podsPath: {event("MODIFIED", podNaming("a", "r", "Failed")), endless}}, 0, "", false, "configmap/old pod/a"},
		{"a watch that is ahead of others", map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {listOf(running), listOf(running), listOf()}, "watch " + podsPath: {event("DELETED", running), endless}}, 0, "", false, "configmap/old pod/a"},
		{"until the time is over", map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {listOf(running)}}, 300 * time.Millisecond, "pod/a", false, "configmap/old pod/a"},
		{"pods may not be listed", map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {forbidden}}, 0, "", true, ""},
		{"the time was over before", map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {listOf()}}, -time.Second, "", false, ""},
		{"the server is down", map[string][]string{"list " + setsPath: {broken}, "list " + podsPath: {broken}}, 100 * time.Millisecond, "", true, ""},
	} {
		timed(t, tt.what, func(t *testing.T) {
			a := &answers{by: tt.by}
			var (
				said  []string
				until time.Time
			)
			if tt.lasts != 0 {
				until = time.Now().Add(tt.lasts)
			}
			got, err := (&Users{API: a.serve(t)}).Await(t.Context(), old, until, func(target cluster.Target, use Use) { said = append(said, target.String()+" "+use.By) })
			if err != nil || got[0].By != tt.want || (got[0].Unknown != nil) != tt.unknown {
				t.Errorf("%+v, %v", got, err)
			}
			// Where the pod ends before the ReplicaSets are listed, nothing was ever waited for.
			early := len(said) == 0 && len(tt.by["watch "+podsPath]) > 0
			if strings.Join(said, "\n") != tt.said && !early {
				t.Errorf("reported %q, want %q", said, tt.said)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &answers{by: map[string][]string{"list " + setsPath: {listOf()}, "list " + podsPath: {listOf(running)}}}
	if _, err := (&Users{API: a.serve(t)}).Await(ctx, old, time.Time{}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
