package cluster

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// maxAnswer bounds one answer of a server, unpacked: the largest list page or
	// schema is a tenth of it.
	maxAnswer = 256 << 20
	// maxSchema is the same for one schema, or their index: reading it takes forty times
	// its size. The largest of Kubernetes itself has 1 MiB.
	maxSchema = 32 << 20
	// maxPause is the longest that a server may have the client wait before it asks
	// again. One that says more is told as what it is, out of order.
	maxPause = time.Minute
	// minPause is the shortest: a server that says "at once" is not asked in a loop.
	minPause = time.Second
	// maxPatience is how long a server may have the client wait in sum where requests
	// may take as long as they like.
	maxPatience = 10 * time.Minute
	// maxPages bounds a list: a million objects, at pageSize each.
	maxPages = 2000
	// maxEmpty is how many pages in a row may hold nothing and yet not be the last.
	maxEmpty = 100
)

// Bound keeps every client that is made of the config from what a server could do to
// it by its answers alone: answers without end, pauses without end, and a way to
// another host.
func Bound(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &bounded{next} })
}

type bounded struct{ next http.RoundTripper }

// RoundTrip bounds the answer's body, takes out a Retry-After that is none, and goes
// to no other host.
//
// Unlike kubectl: which follows, and shows its credentials to whoever is there.
func (b *bounded) RoundTrip(req *http.Request) (*http.Response, error) {
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
		} else if pause, ok := req.Context().Value(pauseKey{}).(*time.Duration); ok {
			*pause = max(time.Duration(s)*time.Second, minPause)
		}
	}
	limit := int64(maxAnswer)
	if strings.Contains(req.URL.Path, "/openapi/") {
		limit = maxSchema
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: limit, limit: limit}
	return resp, nil
}

// pauseKey is under what the context of a request holds a duration, to be set to the time
// after which the server wants to be asked again: the client does not pass on the
// answer's header.
type pauseKey struct{}

// WrappedRoundTripper lets the client find the transport below.
func (b *bounded) WrappedRoundTripper() http.RoundTripper { return b.next }

// boundedBody is an error where a body does not end in time.
type boundedBody struct {
	io.ReadCloser
	left, limit int64
}

// endlessError is an answer of a size that no server in order gives.
type endlessError struct{ limit int64 }

// Error names the bound.
func (e *endlessError) Error() string {
	return fmt.Sprintf("its answer is larger than %d MiB", e.limit>>20)
}

// Read reads as much as is left.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &endlessError{b.limit}
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// about is why an answer cannot be the object that was asked for, or written; ""
// where it can.
func (t Target) about(obj map[string]any) string {
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	kind, _ := obj["kind"].(string)
	if kind != t.Kind || name != t.Name {
		return "is about another object, " + shorten(kind+"/"+name, maxText)
	}
	if ns, _ := meta["namespace"].(string); t.Namespaced && t.Namespace != "" && ns != t.Namespace {
		return "is about an object of another namespace, " + shorten(ns, maxText)
	}
	return ""
}
