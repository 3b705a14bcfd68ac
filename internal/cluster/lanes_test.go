package cluster

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
)

// far is a listener that takes its time for the first bytes of each connection, which are
// those of the TLS handshake.
type far struct {
	net.Listener
	trip time.Duration
}

func (f far) Accept() (net.Conn, error) {
	conn, err := f.Listener.Accept()
	return &farConn{Conn: conn, trip: f.trip}, err
}

type farConn struct {
	net.Conn
	trip time.Duration
	once sync.Once
}

func (c *farConn) Read(b []byte) (int, error) {
	c.once.Do(func() { time.Sleep(c.trip) })
	return c.Conn.Read(b)
}

// busy is a server with TLS that counts the requests under way.
type busy struct {
	*httptest.Server
	now, most atomic.Int32
	once      sync.Once
	encoding  sync.Map // of the requests
	least     int32    // so many requests have to be under way before one is answered
	reached   chan struct{}
	code      int
	fair      bool
}

func newBusy(t *testing.T, trip time.Duration) *busy {
	b := &busy{code: http.StatusOK, fair: true, reached: make(chan struct{})}
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := b.now.Add(1)
		for {
			if most := b.most.Load(); now <= most || b.most.CompareAndSwap(most, now) {
				break
			}
		}
		defer b.now.Add(-1)
		b.encoding.Store(r.Header.Get("Accept-Encoding"), true)
		if now == b.least {
			b.once.Do(func() { close(b.reached) })
		}
		if b.least > 0 {
			select {
			case <-b.reached:
			case <-time.After(time.Minute): // it is not reached: the test fails
			}
		}
		time.Sleep(20 * time.Millisecond) // others that are sent at once come meanwhile
		if b.fair {
			w.Header().Set(fairHeader, "1")
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(b.code)
		_, _ = w.Write([]byte(podJSON("web", "")))
	}))
	b.Listener = far{b.Listener, trip}
	b.EnableHTTP2 = true
	b.StartTLS()
	t.Cleanup(b.Close)
	return b
}

func (b *busy) ToRESTConfig() (*rest.Config, error) {
	return &rest.Config{Host: b.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, nil
}

func (b *busy) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	config, _ := b.ToRESTConfig()
	client, err := discovery.NewDiscoveryClientForConfig(config)
	return memory.NewMemCacheClient(client), err
}

// TestAtOnce: a server that is far is sent more requests at once, no more than is fair, and no
// more than before once it has said that they are too many; one that is near is asked not to
// compress.
func TestAtOnce(t *testing.T) {
	for _, tt := range []struct {
		reason      string
		trip        time.Duration
		change      func(*busy)
		least, most int32
		identity    bool
	}{
		{reason: "near", least: 8, most: 8, identity: true},
		{reason: "far", trip: 60 * time.Millisecond, least: 9, most: mostAtOnce},
		{reason: "without priority and fairness", trip: 60 * time.Millisecond, change: func(b *busy) { b.fair = false }, least: 1, most: 8},
		{reason: "too many", trip: 60 * time.Millisecond, change: func(b *busy) { b.code = http.StatusTooManyRequests }, least: 1, most: 8},
	} {
		b := newBusy(t, tt.trip)
		if tt.change != nil {
			tt.change(b)
		}
		c, err := New(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Get(t.Context(), pod)
		if b.least = tt.least; tt.reason == "near" { // however long the handshake took on a busy machine
			c.lanes.trip.Store(int64(time.Millisecond))
		}
		parallel.Each(t.Context(), parallel.Steps{N: 200, Limit: parallel.Limit, Adapt: c.AtOnce}, func(int) { _, _ = c.Get(t.Context(), pod) })
		if most := b.most.Load(); most < tt.least || most > tt.most {
			t.Errorf("%s: %d requests at once, want %d to %d", tt.reason, most, tt.least, tt.most)
		}
		if _, identity := b.encoding.Load("identity"); identity != tt.identity {
			t.Errorf("%s: asked not to compress: %t", tt.reason, identity)
		}
	}
}

// TestHandshakeOnly: what is measured is the first handshake, whatever answers take.
func TestHandshakeOnly(t *testing.T) {
	l := &lanes{}
	trace := l.trace()
	trace.TLSHandshakeDone(tls.ConnectionState{}, nil)
	if l.trip.Load() != 0 {
		t.Error("a handshake that did not begin was measured")
	}
	trace.TLSHandshakeStart()
	trace.TLSHandshakeDone(tls.ConnectionState{}, net.ErrClosed)
	if l.trip.Load() != 0 {
		t.Error("a handshake that failed was measured")
	}
	trace.TLSHandshakeDone(tls.ConnectionState{}, nil)
	first := l.trip.Load()
	time.Sleep(time.Millisecond)
	trace.TLSHandshakeDone(tls.ConnectionState{}, nil)
	if first == 0 || l.trip.Load() != first {
		t.Errorf("%d, then %d", first, l.trip.Load())
	}
}
