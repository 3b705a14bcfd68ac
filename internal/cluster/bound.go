package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

const (
	// maxAnswer is the maximum size of one response, uncompressed. The largest list page
	// or schema is a tenth of it.
	maxAnswer = 256 << 20
	// maxSchema is the same for a schema or the index of schemas: parsing takes forty times
	// its size. The largest schema of Kubernetes has 1 MiB.
	maxSchema = 32 << 20
	// maxPause is the longest Retry-After that is obeyed; a longer one is ignored.
	maxPause = time.Minute
	// minPause is the shortest, so that "Retry-After: 0" leads to no busy loop.
	minPause = time.Second
	// maxPatience is how long a server may make the client wait in total if requests have
	// no timeout.
	maxPatience = 10 * time.Minute
	// maxPages limits a list to a million objects, pageSize per page.
	maxPages = 2000
	// maxEmpty is how many consecutive pages of a list may be empty.
	maxEmpty = 100
)

// Bound protects every client made from the config against malicious or broken servers:
// endless responses, endless pauses, and redirections to another host.
func Bound(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &bounded{wrapped: wrapped{next}} })
}

// wrapped is the common part of all transports that wrap another one.
type wrapped struct{ next http.RoundTripper }

// WrappedRoundTripper gives the client access to the wrapped transport.
func (w wrapped) WrappedRoundTripper() http.RoundTripper { return w.next }

// CancelRequest is called when the client's timeout is over. net/http does that for every transport
// but its own, and the cache of discovery logs an error if the method is missing. The request's
// context has ended by then, which ends the request.
func (wrapped) CancelRequest(*http.Request) {}

type bounded struct {
	wrapped

	later sync.Map // by path: until when the server asked not to be read there again
}

// RoundTrip limits the size of the response, removes an excessive Retry-After, which all reads
// obey, and refuses redirections to another host.
//
// Unlike kubectl: which follows, and sends its credentials to the new address.
func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	if until, asked := b.later.Load(req.URL.Path); asked && req.Method == http.MethodGet {
		if err := Sleep(req.Context(), time.Until(until.(time.Time))); err != nil {
			return nil, err
		}
	}
	resp, err := b.next.RoundTrip(req)
	if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	if to, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 && (to.Host != req.URL.Host || to.Scheme != req.URL.Scheme) {
		return nil, errors.Join(fmt.Errorf("it sends the request on to another host, %s, which would be given your credentials", shorten(to.Host, maxText)), resp.Body.Close())
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		if time.Duration(s) > maxPause/time.Second {
			resp.Header.Del("Retry-After")
		} else {
			if req.Method == http.MethodGet && Busy(resp.StatusCode) {
				b.later.Store(req.URL.Path, time.Now().Add(time.Duration(s)*time.Second))
			}
			if pause, ok := req.Context().Value(pauseKey{}).(*time.Duration); ok {
				*pause = max(time.Duration(s)*time.Second, minPause)
			}
		}
	}
	limit := int64(maxAnswer)
	if strings.Contains(req.URL.Path, "/openapi/") {
		limit = maxSchema
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: limit, limit: limit}
	return resp, nil
}

// pauseKey is the context key of a *time.Duration that RoundTrip sets to Retry-After: the
// client does not pass on response headers.
type pauseKey struct{}

// boundedBody fails if a response is too large.
type boundedBody struct {
	io.ReadCloser
	left, limit int64
}

// endlessError reports a response larger than any valid one.
type endlessError struct{ error }

// Read reads up to the limit.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &endlessError{fmt.Errorf("its answer is larger than %d MiB", b.limit>>20)}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// about states why a response is not the object that was requested or written; "" if it is.
func (t Target) about(obj map[string]any) string {
	kind, name := merge.At[string](obj, "kind"), merge.At[string](obj, "metadata", "name")
	if kind != t.Kind || name != t.Name {
		return "is about another object, " + shorten(kind+"/"+name, maxText)
	}
	if ns := merge.At[string](obj, "metadata", "namespace"); t.Namespaced && t.Namespace != "" && ns != t.Namespace {
		return "is about an object of another namespace, " + shorten(ns, maxText)
	}
	return ""
}

// WithoutBodies returns a context in which the client logs requests without headers and bodies. At
// -v=8 it would otherwise print the values of Secrets, which a warning in a header may quote.
func WithoutBodies(ctx context.Context) context.Context {
	l := klog.FromContext(ctx)
	if l.GetSink() == nil { // nothing is logged
		return ctx
	}
	return klog.NewContext(ctx, l.WithSink(bodiless{l.GetSink()}))
}

// bodiless drops log lines with the body of a request or response, and headers from others.
type bodiless struct{ klog.LogSink }

// Info passes a line on, without headers, unless one of its keys is body.
func (b bodiless) Info(level int, msg string, pairs ...any) {
	if slices.Contains(pairs, any("body")) {
		return
	}
	if i := slices.Index(pairs, any("headers")); i >= 0 {
		pairs = slices.Delete(slices.Clone(pairs), i, min(i+2, len(pairs)))
	}
	b.LogSink.Info(level, msg, pairs...)
}

// WithValues returns a sink that drops bodies as well.
func (b bodiless) WithValues(pairs ...any) klog.LogSink {
	return bodiless{b.LogSink.WithValues(pairs...)}
}

// WithName returns a sink that drops bodies as well.
func (b bodiless) WithName(name string) klog.LogSink { return bodiless{b.LogSink.WithName(name)} }

// The client-side rate limit for servers without priority and fairness.
const (
	throttleQPS   = 50
	throttleBurst = 300
)

// fairHeader is set in every response of a server with API priority and fairness.
const fairHeader = "X-Kubernetes-Pf-Flowschema-Uid"

// Pauses obey a server that asks to wait before a request is sent again (Retry-After).
type Pauses struct {
	Most time.Duration // in total; see Cluster.Patience

	waited time.Duration
}

// Obey pauses as long as an answer asks for; asked is false if it does not ask. The error is the
// answer's if the pauses exceed Most, and the context's if that ends.
func (p *Pauses) Obey(ctx context.Context, answer error) (asked bool, err error) {
	pause, asked := RetryAfter(answer)
	if !asked {
		return false, nil
	}
	if p.waited += pause; p.waited > p.Most {
		return true, fmt.Errorf("%w (it has asked to be waited for more than %s in all)", answer, p.Most)
	}
	return true, Sleep(ctx, pause)
}

// Sleep waits. The error is that of a context that ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const (
	// serving is about how long a server takes for a write. If a round trip takes as long, twice as
	// many requests have to be under way to keep it as busy. It need not be exact: from a round
	// trip of 30 ms on, mostAtOnce decides.
	serving = 10 * time.Millisecond
	// mostAtOnce leaves other users of the same priority level their share: the level
	// global-default has 49 of the 600 seats of one server, catch-all 13, and what exceeds
	// the user's queues is answered with 429. At 50 ms and 10 Mbit/s, 100 objects of which 75
	// change took 2.6 s with 8 at once, 2.1 s with 32, and 2.1 s without this bound, with 48
	// (https://kubernetes.io/docs/concepts/cluster-administration/flow-control/).
	mostAtOnce = 32
	// near is the longest round trip to a server that is taken to be in the same network. There, a
	// megabyte is sent in less time than it takes to compress.
	near = 5 * time.Millisecond
)

// lanes adapts to the network and the server: how many requests are sent at once, whether answers
// are compressed, and whether the rate of requests is limited: until the server has shown that it
// has priority and fairness.
type lanes struct {
	wrapped
	flowcontrol.RateLimiter

	trip atomic.Int64 // nanoseconds of a round trip; 0: not known
	full atomic.Bool  // the server has refused a request because there were too many
	fair atomic.Bool  // it has priority and fairness
}

func throttle(config *rest.Config) *lanes {
	l := &lanes{RateLimiter: flowcontrol.NewTokenBucketRateLimiter(throttleQPS, throttleBurst)}
	config.RateLimiter = l
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		l.next = next
		return l
	})
	return l
}

// Wait waits until a request may be sent or ctx ends.
func (l *lanes) Wait(ctx context.Context) error {
	if l.fair.Load() {
		return nil
	}
	return l.RateLimiter.Wait(ctx)
}

// RoundTrip measures the first TLS handshake, which is one round trip and waits for nothing
// else, and asks a server that is near not to compress its answers.
func (l *lanes) RoundTrip(req *http.Request) (*http.Response, error) {
	switch trip := time.Duration(l.trip.Load()); {
	case trip == 0:
		req = req.WithContext(httptrace.WithClientTrace(req.Context(), l.trace()))
	case trip < near && req.Method == http.MethodGet && req.Header.Get("Accept-Encoding") == "":
		req = req.Clone(req.Context())
		req.Header.Set("Accept-Encoding", "identity")
	}
	resp, err := l.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		l.full.Store(true)
	}
	if err == nil && resp.Header.Get(fairHeader) != "" {
		l.fair.Store(true)
	}
	return resp, err
}

func (l *lanes) trace() *httptrace.ClientTrace {
	var begun time.Time
	return &httptrace.ClientTrace{
		TLSHandshakeStart: func() { begun = time.Now() },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil && !begun.IsZero() {
				l.trip.CompareAndSwap(0, int64(max(time.Since(begun), 1)))
			}
		},
	}
}

// AtOnce returns how many requests about single objects are sent at once. least applies to a server
// that is near; a server that is far gets as many more as keep it as busy, up to a share that is
// fair to its other users. It is least until the round trip is known, if the server has no priority
// and fairness, and once it has answered that there are too many.
func (c *Cluster) AtOnce(least int) int {
	if c.lanes.full.Load() || !c.lanes.fair.Load() {
		return least
	}
	more := least * int(time.Duration(c.lanes.trip.Load())/time.Millisecond) / int(serving/time.Millisecond)
	return max(least, min(least+more, mostAtOnce))
}
