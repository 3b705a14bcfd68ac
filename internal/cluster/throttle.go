package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

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
