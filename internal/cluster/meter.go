package cluster

import (
	"context"
	"sync/atomic"
	"time"
)

// Meter counts the requests that are sent under its context, and the time that they take.
// It may be used by several goroutines; the zero value has counted nothing.
type Meter struct{ requests, nanoseconds atomic.Int64 }

type meterKey struct{}

// In returns a context whose requests are counted.
func (m *Meter) In(ctx context.Context) context.Context { return context.WithValue(ctx, meterKey{}, m) }

// Requests returns how many requests have been sent.
func (m *Meter) Requests() int { return int(m.requests.Load()) }

// Time returns the sum of their durations.
func (m *Meter) Time() time.Duration { return time.Duration(m.nanoseconds.Load()) }

// metered counts a request of the context's Meter, if it has one; the function returned ends it.
func metered(ctx context.Context) (end func()) {
	m, ok := ctx.Value(meterKey{}).(*Meter)
	if !ok {
		return func() {}
	}
	m.requests.Add(1)
	start := time.Now()
	return func() { m.nanoseconds.Add(int64(time.Since(start))) }
}

// Host returns the server's host and port, as errors name it.
func (c *Cluster) Host() string { return hostOf(c.host) }
