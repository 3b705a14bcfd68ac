package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

func isURL(file string) bool {
	return strings.HasPrefix(file, "http://") || strings.HasPrefix(file, "https://")
}

// get reads a URL, with at most three attempts.
func (in Inputs) get(ctx context.Context, address string) ([]byte, error) {
	var err error
	limit, ctx, cancel := in.limited(ctx, 1)
	defer cancel()
	for range 3 {
		var data []byte
		var again bool
		if data, again, err = in.getOnce(ctx, address); err == nil {
			return data, nil
		}
		if !again {
			break
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("its server has not answered whole within %s: try again, or give it longer with --request-timeout", limit)
	}
	if bare, ok := errors.AsType[*url.Error](err); ok { // its text contains the address, with its secrets
		err = bare.Err
	}
	return nil, err
}

// RequestTimeout is the default timeout of one request, to a URL or an API server. It is twice an
// API server's own timeout (60 s), and enough for the largest schema over a slow connection.
//
// Unlike kubectl: which waits for a server that does not answer until it is interrupted.
const RequestTimeout = 2 * time.Minute

// limited returns a context with a timeout of that many times the one of a request.
func (in Inputs) limited(ctx context.Context, times time.Duration) (time.Duration, context.Context, context.CancelFunc) {
	limit := times * in.Timeout
	switch {
	case in.Timeout < 0:
		return 0, ctx, func() {}
	case in.Timeout == 0:
		limit = times * RequestTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	return limit, ctx, cancel
}

// nameOf returns a URL for errors and notes: without user, password and query, which may contain
// tokens.
func nameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the URL given with -f"
	}
	u.User, u.Fragment = nil, ""
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.String()
}

func (in Inputs) getOnce(ctx context.Context, address string) (data []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, false, err
	}
	if in.Agent != "" {
		req.Header.Set("User-Agent", in.Agent)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode >= 500, fmt.Errorf("server answered %s", resp.Status)
	}
	data, err = ReadAll(resp.Body)
	return data, false, err
}
