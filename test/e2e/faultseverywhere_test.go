package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/test/part"
)

// The object of TestFaultsEverywhere: its first version has an env entry that the
// second has no more, and another client has scaled it since.
const (
	faultyOne = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"d"}},` +
		`"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"one","env":[{"name":"GONE","value":"x"}]}]}}}}`
	faultyTwo = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"d"}},` +
		`"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"two"}]}}}}`
	faultyNew = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"data":{"k":"v"}}`
)

// faultyPlay is a command, the object that it is about, and what shows that it was done.
type faultyPlay struct {
	name   string
	args   []string
	writes bool
	fresh  bool // the object is not there before
}

var faultyPlays = []faultyPlay{
	{name: "merge", args: []string{"-f", "v2.yaml"}, writes: true},
	{name: "merge-create", args: []string{"-f", "new.yaml"}, writes: true, fresh: true},
	{name: "merge-notes-json", args: []string{"-f", "v2.yaml", "--notes=json"}, writes: true},
	{name: "merge-diff", args: []string{"-f", "v2.yaml", "-o", "diff"}},
	{name: "merge-markdown", args: []string{"-f", "v2.yaml", "-o", "markdown"}},
	{name: "merge-patch", args: []string{"-f", "v2.yaml", "-o", "patch"}},
	{name: "merge-explain", args: []string{"-f", "v2.yaml", "-o", "explain"}},
	{name: "merge-name", args: []string{"-f", "v2.yaml", "-o", "name"}, writes: true},
	{name: "merge-jsonpath", args: []string{"-f", "v2.yaml", "-o", "jsonpath={.spec}"}, writes: true},
	{name: "dry-run-server", args: []string{"-f", "v2.yaml", "--dry-run=server", "-o", "diff"}},
	{name: "diff", args: []string{"diff", "-f", "v2.yaml"}},
	{name: "explain", args: []string{"explain", "-f", "v2.yaml"}},
	{name: "view-last-applied", args: []string{"view-last-applied", "deployment/d"}},
	{name: "set-last-applied", args: []string{"set-last-applied", "-f", "v2.yaml"}, writes: true},
	{name: "edit-last-applied", args: []string{"edit-last-applied", "deployment/d"}, writes: true},
	{name: "disown", args: []string{"disown", "deployment/d", "spec.replicas"}, writes: true},
}

// after has the server do what was asked, and another answer given.
func after(answer harm) harm {
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		server.ServeHTTP(httptest.NewRecorder(), r)
		answer(w, r, server)
	}
}

// stalls sends the head of the answer and half of its body, and then nothing.
func stalls(w http.ResponseWriter, r *http.Request, server http.Handler) {
	half(w, r, server)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// drips sends the answer byte by byte, one in 300 ms.
func drips(w http.ResponseWriter, r *http.Request, server http.Handler) {
	answer := httptest.NewRecorder()
	r.Header.Set("Accept-Encoding", "identity")
	server.ServeHTTP(answer, r)
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	w.WriteHeader(answer.Code)
	for _, b := range answer.Body.Bytes() {
		if _, err := w.Write([]byte{b}); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
}

// hangs has the server do what was asked, and gives no answer.
func hangs(_ http.ResponseWriter, r *http.Request, server http.Handler) {
	server.ServeHTTP(httptest.NewRecorder(), r)
	<-r.Context().Done()
}

// faultyHarm is one way for a request to fail.
type faultyHarm struct {
	name string
	do   harm
	slow bool // it takes a second or more, or is much like another
	args []string

	ofWrites bool // there is not much in it for a request that writes nothing
}

func faultyHarms() []faultyHarm {
	timeout := []string{"--request-timeout=2s"}
	all := []faultyHarm{
		{name: "reset-before", do: cutBefore},
		{name: "reset-after", ofWrites: true, do: cutAfter},
		{name: "torn", do: tear},
		{name: "truncated", do: truncate},
		{name: "garbage", ofWrites: true, do: after(lie(func([]byte) []byte { return []byte("\x00<html>") }))},
		{name: "empty", ofWrites: true, do: after(answer(200, nil, ""))},
		{name: "conflict-after", ofWrites: true, do: after(refuse(409, "Conflict", "the object has been modified"))},
		{name: "exists-after", ofWrites: true, do: after(refuse(409, "AlreadyExists", "it exists already"))},
		{name: "notfound-after", ofWrites: true, do: after(refuse(404, "NotFound", "deployments.apps \"d\" not found"))},
		{name: "html-after", ofWrites: true, do: after(gateway)},
		{name: "hangs", do: hangs, slow: true, args: timeout},
		{name: "stalls", do: stalls, slow: true, args: timeout},
		{name: "drips", do: drips, slow: true, args: timeout},
	}
	for _, code := range []int{429, 500, 502, 503, 504} {
		reason := map[int]string{429: "TooManyRequests", 500: "InternalError", 502: "", 503: "ServiceUnavailable", 504: "Timeout"}[code]
		for _, headers := range [][]string{nil, {"Retry-After", "1"}} {
			name := fmt.Sprint(code)
			if headers != nil {
				name += "-retry-after"
			}
			do := refuse(code, reason, busy, headers...)
			rare := code != 429 && code != 503
			all = append(all, faultyHarm{name: name + "-before", do: do, slow: headers != nil || rare, ofWrites: code != 503},
				faultyHarm{name: name + "-after", ofWrites: true, do: after(do), slow: rare || headers != nil && code == 429})
		}
	}
	return all
}

// TestFaultsEverywhere has every request of every command fail in every way, once
// in a run, over HTTP/2 and HTTP/1.1. Whatever happens,
//
//   - a run that ends well reports all that the same run without the fault does, in
//     the same words: outcome, notes, diff, whatever was asked for;
//   - a run that fails has either left the object alone, or says that it cannot be
//     known whether it was written;
//   - what only looks writes nothing;
//   - the same run, without the fault, finishes the work.
//
// Without -soak only the faults that take no time are played, over HTTP/2, and few at
// requests that write nothing; and of these a part (see ../part).
func TestFaultsEverywhere(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	protocols := []string{"http2"}
	if *soak > 1 {
		protocols = append(protocols, "http1")
	}
	for _, protocol := range protocols {
		for _, play := range faultyPlays {
			t.Run(protocol+"/"+play.name, func(t *testing.T) {
				t.Parallel()
				newFaulty(t, s, play, protocol).all(counts)
			})
		}
	}
}

// faulty plays one command.
type faulty struct {
	faultyPlay
	t        *testing.T
	user     *user
	sick     *user
	proxy    *proxy
	protocol string
	runs     int
	was      string // resourceVersion before the command
}

func newFaulty(t *testing.T, s *apiServer, play faultyPlay, protocol string) *faulty {
	u := s.user(t, "faulty")
	u.file("v1.yaml", faultyOne)
	u.file("v2.yaml", faultyTwo)
	u.file("new.yaml", faultyNew)
	p, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.http.Close)
	return &faulty{faultyPlay: play, t: t, user: u, sick: u.proxied(p), proxy: p, protocol: protocol}
}

// reset makes the object as it is before the command, where it is not.
func (f *faulty) reset() {
	f.t.Helper()
	if f.runs > 0 && f.version() == f.was {
		return
	}
	ctx, apps, core := f.t.Context(), f.user.server.client.AppsV1().Deployments(f.user.ns), f.user.server.client.CoreV1()
	if f.fresh {
		if err := core.ConfigMaps(f.user.ns).Delete(ctx, "d", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			f.t.Fatal(err)
		}
		f.was = ""
		return
	}
	if err := apps.Delete(ctx, "d", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		f.t.Fatal(err)
	}
	f.user.merges("-f", "v1.yaml", "-q")
	got, err := apps.Patch(ctx, "d", types.MergePatchType, []byte(`{"spec":{"replicas":10}}`), metav1.PatchOptions{FieldManager: "hpa"})
	if err != nil {
		f.t.Fatal(err)
	}
	f.was = got.ResourceVersion
}

// version is the object's, "" where there is none.
func (f *faulty) version() string {
	f.t.Helper()
	var (
		got metav1.Object
		err error
	)
	if f.fresh {
		got, err = f.user.server.client.CoreV1().ConfigMaps(f.user.ns).Get(f.t.Context(), "d", metav1.GetOptions{})
	} else {
		got, err = f.user.server.client.AppsV1().Deployments(f.user.ns).Get(f.t.Context(), "d", metav1.GetOptions{})
	}
	switch {
	case apierrors.IsNotFound(err):
		return ""
	case err != nil:
		f.t.Fatal(err)
	}
	return got.GetResourceVersion()
}

// run plays the command through the proxy; nothing is known of the server before.
func (f *faulty) run(args ...string) said {
	f.t.Helper()
	f.runs++
	args = append(slices.Clone(f.args), args...)
	cmd := f.sick.command(f.t.Context(), "kubectl-merge", append(args, "--cache-dir="+filepath.Join(f.user.dir, fmt.Sprintf("cache-%d", f.runs)))...)
	cmd.Env = append(cmd.Env, "KUBE_EDITOR=sed -i s/GONE/LEFT/")
	if f.protocol == "http1" {
		cmd.Env = append(cmd.Env, "DISABLE_HTTP2=true")
	}
	return f.sick.ends(cmd)
}

var faultyVolatile = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?Z|/\S*/kubectl-merge-edit-\S+`)

// all plays the command with each fault at each of its requests.
func (f *faulty) all(counts *tally) {
	f.reset()
	well := f.run()
	if well.code != 0 && f.name != "diff" {
		f.t.Fatalf("without any fault: %s", well)
	}
	f.proxy.mu.Lock()
	requests := slices.Clone(f.proxy.requests)
	f.proxy.mu.Unlock()
	counts.add("requests of "+f.name, len(requests))
	played, n := part.Chosen(f.t), slices.IndexFunc(faultyPlays, func(p faultyPlay) bool { return p.name == f.name })
	for i, request := range requests {
		for _, h := range faultyHarms() {
			if h.name == "notfound-after" && class(request) != "WRITE" {
				continue // an object that is not there: the run cannot know better
			}
			if *soak == 1 && (h.slow || h.ofWrites && class(request) != "WRITE") {
				continue
			}
			if n++; played.Has(n) {
				f.one(i, request, h, well, counts)
			}
		}
	}
}

// reported: an error is on stderr, for people or, with --notes=json, for programs.
func reported(stderr string) bool {
	return strings.Contains(stderr, "error:") || strings.Contains(stderr, `"kind":"error"`)
}

// one plays one fault.
func (f *faulty) one(i int, request string, h faultyHarm, well said, counts *tally) {
	f.reset()
	fault := f.proxy.fails(faultAt(i, h.do))
	got := f.run(h.args...)
	hit := f.proxy.hit(fault)
	f.proxy.heals()
	if hit == 0 {
		return // the run took another way
	}
	counts.add("faulted runs", 1)
	wrote := f.version() != f.was
	where := fmt.Sprintf("%s at %s", h.name, request)
	switch {
	case got.code == well.code && (got.code != 1 || f.name == "diff" && !reported(got.stderr)):
		counts.add("ended well", 1)
		f.complete(where, well, got)
		if f.writes != wrote {
			f.t.Errorf("%s: ended well, and written: %t\n%s", where, wrote, got)
		}
	case wrote && !strings.Contains(got.stderr, "whether it was written cannot be known"):
		f.t.Errorf("%s: was written, and that is not reported\n%s", where, got)
	case !reported(got.stderr):
		f.t.Errorf("%s: failed, and no message says why\n%s", where, got)
	default:
		counts.add("ended with an error", 1)
	}
	if !f.writes && wrote {
		f.t.Errorf("%s: it only looks, and has written\n%s", where, got)
	}
	if f.writes && !wrote {
		f.complete(where+", run again", well, f.run())
	}
}

// faultAt befalls the nth request of all, from 0.
func faultAt(n int, do harm) fault {
	return fault{hits: func(string) bool { return true }, skip: n, most: 1, do: do}
}

// complete compares what a run says with what it says without a fault: nothing of it
// may be missing.
func (f *faulty) complete(where string, well, got said) {
	f.t.Helper()
	if want, is := faultyVolatile.ReplaceAllString(well.stdout, ""), faultyVolatile.ReplaceAllString(got.stdout, ""); want != is {
		f.t.Errorf("%s: stdout is not as without the fault:\n%s\nwithout:\n%s", where, got, well.stdout)
	}
	for line := range maps.Keys(linesOf(well.stderr)) {
		if line = faultyVolatile.ReplaceAllString(line, ""); !strings.Contains(faultyVolatile.ReplaceAllString(got.stderr, ""), line) {
			f.t.Errorf("%s: this is not reported any more: %s\n%s", where, line, got)
		}
	}
}

func linesOf(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		all[strings.TrimSpace(line)] = true
	}
	return all
}
