package cluster

import (
	"context"
	"net/http"
	"sync/atomic"

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

// limiter limits the rate of requests until the server has shown that it has priority and
// fairness.
type limiter struct {
	flowcontrol.RateLimiter
	fair atomic.Bool
}

func throttle(config *rest.Config) *limiter {
	l := &limiter{RateLimiter: flowcontrol.NewTokenBucketRateLimiter(throttleQPS, throttleBurst)}
	config.RateLimiter = l
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &fairness{wrapped{next}, l} })
	return l
}

// TryAccept reports whether a request may be sent now.
func (l *limiter) TryAccept() bool { return l.fair.Load() || l.RateLimiter.TryAccept() }

// Accept waits until a request may be sent.
func (l *limiter) Accept() {
	if !l.fair.Load() {
		l.RateLimiter.Accept()
	}
}

// Wait waits until a request may be sent or ctx ends.
func (l *limiter) Wait(ctx context.Context) error {
	if l.fair.Load() {
		return nil
	}
	return l.RateLimiter.Wait(ctx)
}

type fairness struct {
	wrapped
	limiter *limiter
}

// RoundTrip reads the response headers and changes nothing.
func (f *fairness) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := f.next.RoundTrip(req)
	if err == nil && resp.Header.Get(fairHeader) != "" {
		f.limiter.fair.Store(true)
	}
	return resp, err
}
