package cluster

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
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

// busy is a server with TLS that notes which encodings it is asked for.
type busy struct {
	*httptest.Server
	encoding sync.Map
	code     int
	fair     bool
}

func newBusy(t *testing.T, trip time.Duration) *busy {
	b := &busy{code: http.StatusOK, fair: true}
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.encoding.Store(r.Header.Get("Accept-Encoding"), true)
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
	return &rest.Config{Host: b.URL, BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, nil
}

func (b *busy) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	config, _ := b.ToRESTConfig()
	client, err := discovery.NewDiscoveryClientForConfig(config)
	return memory.NewMemCacheClient(client), err
}

// TestAtOnce: a server that is far is sent more requests at once, no more than is fair, and no
// more than before once it has said that they are too many; one that is near is asked not to
// compress. parallel.TestEachAdapts has as many at once as are allowed.
func TestAtOnce(t *testing.T) {
	for _, tt := range []struct {
		reason   string
		trip     time.Duration
		change   func(*busy)
		want     int
		identity bool
	}{
		{reason: "near", want: 8, identity: true},
		{reason: "far", trip: 60 * time.Millisecond, want: mostAtOnce},
		{reason: "without priority and fairness", trip: 60 * time.Millisecond, change: func(b *busy) { b.fair = false }, want: 8},
		{reason: "too many", trip: 60 * time.Millisecond, change: func(b *busy) { b.code = http.StatusTooManyRequests }, want: 8},
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
		if tt.reason == "near" { // however long the handshake took on a busy machine
			c.lanes.trip.Store(int64(time.Millisecond))
		}
		_, _ = c.Get(t.Context(), pod)
		if got := c.AtOnce(8); got != tt.want {
			t.Errorf("%s: %d requests at once, want %d", tt.reason, got, tt.want)
		}
		if _, identity := b.encoding.Load("identity"); identity != tt.identity {
			t.Errorf("%s: asked not to compress: %t", tt.reason, identity)
		}
	}
}

// TestHandshakeOnly: what is measured is the first handshake, whatever answers take.
func TestHandshakeOnly(t *testing.T) { synctest.Test(t, handshakeOnly) }

func handshakeOnly(t *testing.T) {
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
