package cluster

import (
	"context"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// The bounds that the client keeps to where the server has none of its own.
const (
	throttleQPS   = 50
	throttleBurst = 300
)

// fairHeader is in every answer of a server that does priority and fairness.
const fairHeader = "X-Kubernetes-Pf-Flowschema-Uid"

// limiter holds the client back until the server has been seen to share itself
// out fairly, and not from then on.
type limiter struct {
	flowcontrol.RateLimiter
	fair atomic.Bool
}

func throttle(config *rest.Config) {
	l := &limiter{RateLimiter: flowcontrol.NewTokenBucketRateLimiter(throttleQPS, throttleBurst)}
	config.RateLimiter = l
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &fairness{next: next, limiter: l} })
}

// TryAccept says whether a request may go now.
func (l *limiter) TryAccept() bool { return l.fair.Load() || l.RateLimiter.TryAccept() }

// Accept waits until a request may go.
func (l *limiter) Accept() {
	if !l.fair.Load() {
		l.RateLimiter.Accept()
	}
}

// Wait waits until a request may go, or ctx ends.
func (l *limiter) Wait(ctx context.Context) error {
	if l.fair.Load() {
		return nil
	}
	return l.RateLimiter.Wait(ctx)
}

type fairness struct {
	next    http.RoundTripper
	limiter *limiter
}

// RoundTrip looks at the answer's headers and changes nothing.
func (f *fairness) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := f.next.RoundTrip(req)
	if err == nil && resp.Header.Get(fairHeader) != "" {
		f.limiter.fair.Store(true)
	}
	return resp, err
}

// WrappedRoundTripper lets the client find the transport below, to cancel what it
// has given up.
func (f *fairness) WrappedRoundTripper() http.RoundTripper { return f.next }
