package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
)

// Unreachable reports that there was no response, or none that concerns an object.
type Unreachable struct {
	Text string

	// Lost states that the server may have received and executed the request.
	Lost bool

	// Garbled states that the answer is not an API server's answer to this request.
	Garbled bool

	Setup bool // the kubeconfig, or what it names, has to be changed first
	slow  bool // the request timed out
}

// Error returns one line with the server and what to check.
func (e *Unreachable) Error() string { return e.Text }

// Unanswered reports whether a request was sent and its response was lost or incomplete.
func Unanswered(err error) bool {
	var u *Unreachable
	return errors.As(err, &u) && u.Lost
}

// TooSlow reports whether a request was ended because it took too long.
func TooSlow(err error) bool {
	var u *Unreachable
	return errors.As(err, &u) && u.slow
}

// Uncertain reports whether a write that ended with err may nevertheless have been executed. There
// was no response, or one with 5xx or 429, which a gateway may send although the server has
// executed the request.
func Uncertain(err error) bool {
	return Unanswered(err) || Busy(Code(err)) || errors.Is(err, context.Canceled)
}

// WithoutConfig is the server that client-go assumes where no kubeconfig names one.
const WithoutConfig = "localhost:8080"

func (c *Cluster) unreachable(err error) error {
	var netw *url.Error
	var endless *endlessError
	var misnamed x509.HostnameError
	switch host := hostOf(c.host); {
	case errors.As(err, &endless):
		return &Unreachable{Lost: true, slow: true, Text: fmt.Sprintf("server %s: %v: look at what stands between you and the server", host, endless)}
	case proxied(err) != nil:
		return &Unreachable{Text: fmt.Sprintf("server %s: the proxy on the way to it cannot be reached: %v: check proxy-url in your kubeconfig, HTTPS_PROXY and NO_PROXY", host, proxied(err))}
	case strings.Contains(err.Error(), "invalid proxy address"):
		return &Unreachable{Setup: true, Text: fmt.Sprintf("server %s: the proxy on the way to it: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY is no URL: percent-encode what is special in its user and password", host)}
	case strings.Contains(err.Error(), "getting credentials: "):
		_, why, _ := strings.Cut(err.Error(), "getting credentials: ")
		why, _, _ = strings.Cut(why, "\n")
		if helper, _, failed := strings.Cut(strings.TrimPrefix(why, "exec: executable "), " failed with exit code "); failed {
			return &Unreachable{Setup: true, Text: fmt.Sprintf("server %s: no credentials: the helper %q of your kubeconfig failed (its own message is above): log in with it, or choose a user with --user or --context", host, helper)}
		}
		return &Unreachable{Setup: true, Text: fmt.Sprintf("server %s: no credentials: %s: install the plugin that your kubeconfig names, or choose a user with --user or --context", host, why)}
	case errors.As(err, &misnamed):
		why := strings.TrimPrefix(misnamed.Error(), "x509: ")
		return &Unreachable{Setup: true, Text: fmt.Sprintf("server %s: its %s: check server and tls-server-name in your kubeconfig, "+
			"or --server and --tls-server-name", host, why)}
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return &Unreachable{Lost: true, Setup: true, Text: fmt.Sprintf("server %s: its certificate is not signed by the authority that is trusted: check the server, and certificate-authority in your kubeconfig or --certificate-authority, or choose another with --context", host)}
	case errors.Is(err, syscall.ECONNREFUSED):
		text, offline := fmt.Sprintf("the connection to the server %s was refused - did you specify the right host or port?", host), ""
		if host == WithoutConfig {
			text = fmt.Sprintf("no kubeconfig names a server: %q is no file (a ~ in quotes stays as it is), or chooses no context", c.Kubeconfig)
		}
		if c.Saved {
			offline = "; merge and diff work without one, with --live FILE"
		}
		return &Unreachable{Setup: host == WithoutConfig, Text: text + " (--kubeconfig, --context and --server choose it" + offline + ")"}
	case errors.As(err, new(*net.DNSError)):
		return &Unreachable{Text: fmt.Sprintf("server %s: its name cannot be resolved: check the server in your kubeconfig, and the network", host)}
	case timedOut(err):
		return &Unreachable{Lost: true, slow: true, Text: fmt.Sprintf("server %s: does not answer: check the network, or give it longer with --request-timeout", host)}
	case errors.As(err, &netw):
		why := netw.Err
		if op, ok := errors.AsType[*net.OpError](why); ok && op.Op == "dial" {
			why = op.Err // without the address, which is host's
		}
		return &Unreachable{Lost: true, Text: fmt.Sprintf("server %s: cannot be reached: %v: check the server in your kubeconfig", host, why)}
	case errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "when reading response body"):
		// The connection ended within the response. The client has no error type for it.
		return &Unreachable{Lost: true, Text: fmt.Sprintf("server %s: its answer broke off: try again", host)}
	}
	return err
}

// proxied returns why a proxy could not be reached, nil for other errors. It contains the proxy's
// address but not its URL, which may contain a password.
func proxied(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "proxyconnect" || strings.HasPrefix(op.Op, "socks")) {
		return op.Err
	}
	return nil
}

// timedOut reports whether the request timed out at any stage.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// garbled returns the error of a response that cannot be from the API server.
func (c *Cluster) garbled(what string) error {
	return &Unreachable{Lost: true, Garbled: true, Text: fmt.Sprintf("server %s: its answer %s: try again, and look at what stands between you and the server", hostOf(c.host), what)}
}
