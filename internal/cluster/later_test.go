package cluster

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestReadsObeyRetryAfter: an object for which the server has sent Retry-After is read only after
// that, by every caller. Other requests are sent at once.
func TestReadsObeyRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var at []time.Duration
		b := &bounded{wrapped: wrapped{roundTrip(func(*http.Request) (*http.Response, error) {
			at = append(at, time.Since(begun))
			return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"7"}}, Body: io.NopCloser(strings.NewReader(""))}, nil
		})}}
		for _, tt := range []struct {
			method, url string
			at          time.Duration
		}{
			{"GET", "https://server/api/v1/pods?limit=500", 0},
			{"GET", "https://server/api/v1/secrets", 0},
			{"POST", "https://server/api/v1/pods", 0},
			{"GET", "https://server/api/v1/pods?watch=true", 7 * time.Second},
			{"GET", "https://server/api/v1/secrets", 7 * time.Second},
			{"GET", "https://server/api/v1/pods", 14 * time.Second},
		} {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := b.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if got := at[len(at)-1]; got != tt.at {
				t.Errorf("%s %s: sent after %s, want %s", tt.method, tt.url, got, tt.at)
			}
		}
	})
}
