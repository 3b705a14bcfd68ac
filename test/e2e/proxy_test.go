package e2e

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/iotest"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/rest"
)

// proxy stands between the program and the API server, on loopback. It counts
// requests, has another client write just before a write gets through, and does
// harm only where a test asks for a fault.
type proxy struct {
	http *httptest.Server

	mu       sync.Mutex
	requests []string // "PATCH /api/v1/...", in the order in which they came
	rival    func(nth int) error
	times    int // how often the rival may still write
	rivalled int // how often it did
	rivalErr error
	faults   []*fault

	// answered is called with every request and how it ended; may be nil.
	answered func(method, contentType string, body []byte, code int)
	passed   func(*http.Response) error // is given what the server answers; may be nil
}

func newProxy(config *rest.Config) (*proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	// It adds admin's credentials where the client sends none of its own.
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	p := &proxy{}
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			repeatable(r.Out)
		},
		Transport:     transport,
		FlushInterval: -1,                         // watches
		ErrorLog:      log.New(io.Discard, "", 0), // a client that goes away is no news
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "the test's proxy: "+err.Error(), http.StatusBadGateway)
		},
	}
	reverse.ModifyResponse = func(r *http.Response) error {
		if p.passed == nil {
			return nil
		}
		return p.passed(r)
	}
	p.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.before(r)
		if p.answered != nil {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the client went away
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			noted := &notedCode{ResponseWriter: w}
			w = noted
			defer func() { p.answered(r.Method, r.Header.Get("Content-Type"), body, noted.code) }()
		}
		if f := p.fault(r); f != nil {
			f.do(w, r, reverse)
			return
		}
		reverse.ServeHTTP(w, r)
	}))
	p.http.Config.ErrorLog = reverse.ErrorLog
	p.http.EnableHTTP2 = true
	p.http.StartTLS()
	return p, nil
}

// repeatable lets the transport send a request once more whose connection the server has
// closed before it took it, as a client without a proxy does.
func repeatable(r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && r.ContentLength > int64(len(body)) { // it was sent before
		err = io.ErrUnexpectedEOF
	}
	if err != nil { // or the client went away
		r.Body = io.NopCloser(iotest.ErrReader(err))
		return
	}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	r.ContentLength = int64(len(body))
}

// notedCode remembers how a request was answered.
type notedCode struct {
	http.ResponseWriter
	code int
}

// WriteHeader notes the code and passes it on.
func (n *notedCode) WriteHeader(code int) {
	n.code = code
	n.ResponseWriter.WriteHeader(code)
}

// Unwrap leads http.ResponseController to what can flush.
func (n *notedCode) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// before notes the request and lets the rival go first.
func (p *proxy) before(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r.Method+" "+r.URL.RequestURI())
	if p.times == 0 || class(r.Method+" "+r.URL.RequestURI()) != "WRITE" {
		return
	}
	p.times--
	p.rivalled++
	if err := p.rival(p.rivalled); err != nil && p.rivalErr == nil {
		p.rivalErr = err
	}
}

// class sorts a request: DISCOVERY, SCHEMA, DRYRUN and WRITE, or READ of objects.
func class(request string) string {
	method, uri, _ := strings.Cut(request, " ")
	path, query, _ := strings.Cut(uri, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "openapi":
		return "SCHEMA"
	case parts[0] == "api" && len(parts) <= 2, parts[0] == "apis" && len(parts) <= 3, parts[0] == "version", parts[0] == "":
		return "DISCOVERY"
	case strings.Contains(path, "/authorization.k8s.io/"):
		return "DISCOVERY" // asking what one may do writes nothing
	case method == http.MethodGet:
		return "READ"
	case strings.Contains(query, "dryRun="):
		return "DRYRUN"
	}
	return "WRITE"
}

// counts gives the number of requests by class, and of reads and writes of
// objects by verb too.
func (p *proxy) counts() map[string]int {
	n := map[string]int{}
	for _, r := range p.requests {
		c := class(r)
		n[c]++
		if c == "READ" || c == "WRITE" {
			verb, _, _ := strings.Cut(r, " ")
			n[verb]++
		}
	}
	return n
}

// through leads the story's program through a proxy from here on.
func (s *story) through(ts *testscript.TestScript) *proxy {
	if s.proxy != nil {
		return s.proxy
	}
	p, err := newProxy(s.server.config)
	ts.Check(err)
	ts.Defer(p.http.Close)
	file := filepath.Join(ts.Getenv("WORK"), ".kubeconfig-proxy")
	ts.Check(s.server.kubeconfigFor(file, s.ns, p.cluster))
	s.proxy, s.direct = p, ts.Getenv("KUBECONFIG")
	ts.Setenv("HOME", filepath.Join(ts.Getenv("WORK"), ".home")) // another proxy may have had the port before
	ts.Setenv("KUBECONFIG", file)
	return p
}

// cmdRace: race [-times=N] COMMAND... runs the command just before the next write
// (or N writes) of an object gets through; $RACE counts them from 1.
func cmdRace(ts *testscript.TestScript, neg bool, args []string) {
	times := 1
	if len(args) > 0 && strings.HasPrefix(args[0], "-times=") {
		n, err := strconv.Atoi(strings.TrimPrefix(args[0], "-times="))
		ts.Check(err)
		times, args = n, args[1:]
	}
	usage(ts, neg || len(args) == 0, "race [-times=N] COMMAND...")
	s := storyOf(ts)
	p := s.through(ts)
	env, dir := s.env(ts), ts.MkAbs(".")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times, p.rivalled, p.rivalErr = times, 0, nil
	p.rival = func(nth int) error {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env, cmd.Dir = append(slices.Clone(env), "RACE="+strconv.Itoa(nth)), dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
}

// cmdRaced: raced [N] says that the race has happened (N times).
func cmdRaced(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) > 1, "raced [N]")
	p := storyOf(ts).through(ts)
	p.mu.Lock()
	defer p.mu.Unlock()
	ts.Check(p.rivalErr)
	if p.rivalled == 0 {
		ts.Fatalf("the race never happened: no write came by")
	}
	if len(args) == 1 && args[0] != strconv.Itoa(p.rivalled) {
		ts.Fatalf("the race happened %d times, not %s", p.rivalled, args[0])
	}
	p.times = 0
}

// cmdRequested: requested N REGEXP waits until N requests that match have come since counting
// began.
func cmdRequested(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 2, "requested N REGEXP")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	want, err := regexp.Compile(args[1])
	ts.Check(err)
	p := storyOf(ts).through(ts)
	if !comes(func() bool { return p.came(want) >= n }) {
		ts.Fatalf("%s: %d requests within %s, want %d; all there were:\n%s", want, p.came(want), patience, n, strings.Join(p.requests, "\n"))
	}
}

// came counts the requests that match.
func (p *proxy) came(want *regexp.Regexp) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, request := range p.requests {
		if want.MatchString(request) {
			n++
		}
	}
	return n
}

// cmdReqcount: reqcount starts counting; reqcount CLASS=N... says how many requests
// came since then, and starts again.
func cmdReqcount(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, "reqcount [CLASS=N...]")
	p := storyOf(ts).through(ts)
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.counts()
	for _, arg := range args {
		name, want, ok := strings.Cut(arg, "=")
		usage(ts, !ok, "reqcount [CLASS=N...]")
		if strconv.Itoa(n[name]) != want {
			ts.Fatalf("%s requests: %d, want %s; all there were:\n%s", name, n[name], want, strings.Join(p.requests, "\n"))
		}
	}
	p.requests = nil
}
