package source

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

func isURL(file string) bool {
	return strings.HasPrefix(file, "http://") || strings.HasPrefix(file, "https://")
}

// get reads a URL, with at most three attempts.
func (in Inputs) get(ctx context.Context, address string) ([]byte, error) {
	limit, ctx, cancel := in.limited(ctx, 1)
	defer cancel()
	data, again, err := in.getOnce(ctx, address)
	for tries := 1; again && tries < 3; tries++ {
		data, again, err = in.getOnce(ctx, address)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("its server has not answered whole within %s: try again, or give it longer with --request-timeout%.0w", limit, &net.OpError{Op: "read", Err: err}) // .0: the cause without its text
	}
	if bare, ok := errors.AsType[*url.Error](err); ok { // its text contains the address, with its secrets
		way := "check the address"
		if errors.As(err, new(x509.UnknownAuthorityError)) {
			way = "have curl trust its authority: curl --cacert FILE URL | kubectl merge -f -"
		}
		err = fmt.Errorf("%w: %s", bare.Err, way)
	}
	return data, err
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
		return nil, resp.StatusCode >= 500, fmt.Errorf("server answered %s: check the address", resp.Status)
	}
	data, err = ReadAll(resp.Body)
	return data, false, err
}

// Downloads is a RoundTripper that limits the size of answers to that of all inputs. It is for
// clients that read an answer to its end without a limit: kustomize's own.
type Downloads struct{ http.RoundTripper }

// RoundTrip sends the request; reading the answer's body fails if it is too large.
func (d Downloads) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode != http.StatusSwitchingProtocols {
		// One byte more than ReadAll takes, which has an error of its own.
		resp.Body = &download{ReadCloser: resp.Body, left: maxInput + 1, from: r.URL.Host}
	}
	return resp, err
}

// download is the body of an answer.
type download struct {
	io.ReadCloser
	left int64
	from string
}

// Read reads on, up to the bound.
func (d *download) Read(b []byte) (int, error) {
	if d.left <= 0 {
		return 0, fmt.Errorf("the answer of %s is larger than %d MiB", d.from, maxInput>>20)
	}
	n, err := d.ReadCloser.Read(b[:min(int64(len(b)), d.left)])
	d.left -= int64(n)
	return n, err
}

// userinfo matches credentials in an address, between :// and @: https://user:token@host/path, and
// the forms that only git and kustomize know.
var userinfo = regexp.MustCompile(`://[^/?#]*@`)

// openParameters lists parameters of a remote base that hold no credentials
// (https://github.com/kubernetes-sigs/kustomize/blob/master/examples/remoteBuild.md).
var openParameters = []string{"ref", "version", "timeout", "submodules"}

// remoteName returns the folder or address of a kustomization for errors and notes: without a user,
// a password, and possible tokens after ?.
func remoteName(address string) string {
	if !strings.Contains(address, "://") {
		return address
	}
	address, _, _ = strings.Cut(address, "#")
	address, query, _ := strings.Cut(userinfo.ReplaceAllString(address, "://"), "?")
	if query == "" {
		return address
	}
	for part := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(part, "="); !slices.Contains(openParameters, name) {
			return address + "?…"
		}
	}
	return address + "?" + query
}

// addCredentials collects the credentials in an address, both as written and decoded.
func addCredentials(values *redact.Values, address string) {
	if !strings.Contains(address, "://") {
		return
	}
	var secret []string
	if in := userinfo.FindString(address); in != "" {
		user, password, both := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(in, "://"), "@"), ":")
		if secret = append(secret, password); !both || user != "git" {
			secret = append(secret, user)
		}
	}
	_, query, _ := strings.Cut(address, "?")
	for _, part := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == '#' }) {
		name, value, is := strings.Cut(part, "=")
		if !is {
			value = part
		}
		if !slices.Contains(openParameters, name) {
			secret = append(secret, value)
		}
	}
	for _, text := range secret {
		values.AddText(text)
		if meant, err := url.PathUnescape(text); err == nil {
			values.AddText(meant)
		}
	}
}
