package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
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
