package source

import (
	"fmt"
	"io"
	"net/http"
)

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
