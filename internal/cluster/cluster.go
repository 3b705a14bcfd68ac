// Package cluster contacts an API server; no other package does. It reads and writes
// objects, discovers kinds and fetches schemas. It does not know what a merge is. Objects
// are JSON values with exact numbers.
package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // all auth plugins that kubectl has
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Getter is the part of kubectl's connection flags that a Cluster needs.
type Getter interface {
	ToRESTConfig() (*rest.Config, error)
	ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error)
}

// Cluster is one API server. It may be used by several goroutines.
type Cluster struct {
	// Values collects the values of the Secrets that are read; may be nil.
	Values *redact.Values

	Saved bool // the command could read saved objects (--live) instead: errors say so

	// Fingerprint is a hash of the server's address and of the certificates that identify it. It is the
	// same for all users of the server, and differs for another address of it.
	Fingerprint string

	Kubeconfig string // its name, for errors

	whole sync.Map // the Secrets whose values are among Values, by namespace and name

	client    *rest.RESTClient
	warnings  rest.WarningHandlerWithContext
	host      string
	identity  string        // of the server, as far as known from the configuration; see identity
	timeout   time.Duration // of a request; 0: none
	discovery discovery.CachedDiscoveryInterfaceWithContext
	lanes     *lanes
	polls     chan struct{} // limits the reads of polled that are under way

	mu        sync.Mutex
	listed    *metav1.APIGroupList           // see served; nil: not read yet
	groups    map[string]map[string]Resource // by group/version, then kind
	declared  map[schema.GroupVersionKind]Resource
	converts  map[schema.GroupKind]bool        // declared kinds whose versions a webhook converts
	known     map[schema.GroupVersionKind]bool // what discovery has had
	refreshed bool
	silences  int // how often a silent group was requested again

	schemas schemas
}

// New reads the kubeconfig that the flags name; it opens no connection. Warning headers of
// the server are passed to warnings. The error names what is wrong with the kubeconfig and,
// if there is none, how to work without a cluster.
func New(flags Getter, warnings rest.WarningHandlerWithContext) (*Cluster, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, configError(err)
	}
	if anonymous(config) {
		return nil, errAnonymous
	}
	config = rest.CopyConfig(config)
	scheme := runtime.NewScheme() // of metav1.Status, the only type that the client itself has to understand
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.WarningHandler, config.WarningHandlerWithContext = nil, warnings
	way := throttle(config)
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, configError(err)
	}
	found, err := flags.ToDiscoveryClient()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return &Cluster{
		client:      client,
		warnings:    cmp.Or[rest.WarningHandlerWithContext](warnings, rest.NoWarnings{}),
		host:        config.Host,
		identity:    identity(config),
		timeout:     config.Timeout,
		Fingerprint: "sha256:" + hex.EncodeToString(serverHash(config, func(*rest.Config) [][]byte { return nil })),
		discovery:   discovery.ToCachedDiscoveryInterfaceWithContext(found),
		lanes:       way,
		polls:       make(chan struct{}, mostPolls),
		groups:      map[string]map[string]Resource{},
		declared:    map[schema.GroupVersionKind]Resource{},
		known:       map[schema.GroupVersionKind]bool{},
		converts:    map[schema.GroupKind]bool{},
	}, nil
}

// Patience returns how long in total a server may make the client wait before a write is sent
// again: the timeout of one request.
func (c *Cluster) Patience() time.Duration { return cmp.Or(c.timeout, maxPatience) }

var errAnonymous = errors.New("no credentials for the server: --token, --client-certificate or a user of a kubeconfig (--kubeconfig, --user) gives them")

// anonymous reports whether a configuration has nothing by which a server that speaks TLS knows the user.
func anonymous(c *rest.Config) bool {
	known := c.Username != "" || c.BearerToken+c.BearerTokenFile != "" || c.CertFile != "" || len(c.CertData) > 0 || c.AuthProvider != nil || c.ExecProvider != nil
	return rest.IsConfigTransportTLS(*c) && !known
}

var ofAnotherType = redact.Pattern(`error loading config file "(.*?)": json: cannot unmarshal (\w+) into Go struct field \w+\.(\S+) of type (\S+)$`)

var noConfig = redact.Pattern(`error loading config file "(.*?)": (?:couldn't get version/kind|no kind ".*" is registered)`)

func configError(err error) error {
	other, none := ofAnotherType().FindStringSubmatch(err.Error()), noConfig().FindStringSubmatch(err.Error())
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case clientcmd.IsEmptyConfig(err):
		return errors.New("kubeconfig: no cluster is configured: set --kubeconfig, KUBECONFIG or --server, or work offline with --live FILE")
	case strings.Contains(err.Error(), "'proxy-url'"): // the error contains the URL with its password
		return errors.New("kubeconfig: proxy-url: is no URL of a proxy: it must begin with http, https or socks5, and what is special in its user and password must be percent-encoded")
	case other != nil:
		return fmt.Errorf("kubeconfig: %s: %s: has the type %s, where %s is needed", other[1], other[3], other[2], other[4])
	case errors.Is(err, io.EOF): // the prompt of the client library
		return errAnonymous
	case none != nil:
		return fmt.Errorf("kubeconfig: %s: is no kubeconfig: check the name after --kubeconfig, or in KUBECONFIG", none[1])
	case strings.HasSuffix(err.Error(), "without impersonating a user"):
		return errors.New("kubeconfig: --as-group, --as-uid and --as-user-extra, or their fields there, need a user: name it with --as")
	case strings.Contains(err.Error(), "illegal base64 data"):
		return fmt.Errorf("kubeconfig: %w: copy again what its fields ending in -data have", err)
	case missing && clientcmd.IsConfigurationInvalid(err):
		return fmt.Errorf("kubeconfig: %w: correct the path there, or after the flag of that name", err)
	case missing:
		return fmt.Errorf("kubeconfig: %w: check the name after --kubeconfig, or in KUBECONFIG", err)
	}
	return fmt.Errorf("kubeconfig: %w", err)
}

// UID returns the UID of the namespace kube-system. It identifies a cluster whatever its address:
// it is created with the cluster and never changes. "" if it may not be read, or does not exist.
// Any other failure of the request is the error.
func (c *Cluster) UID(ctx context.Context) (string, error) {
	system := Target{Resource: Resource{Version: "v1", Kind: "Namespace", Plural: "namespaces"}, Name: "kube-system"}
	obj, err := c.Get(ctx, system)
	switch {
	case IsForbidden(err), IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("%s: %w", system, err)
	}
	return merge.At[string](merge.At[map[string]any](obj, "metadata"), "uid"), nil
}

// serverHash returns a hash of what a configuration says of its server, and of more of it.
func serverHash(config *rest.Config, more func(*rest.Config) [][]byte) []byte {
	tls := rest.CopyConfig(config)
	_ = rest.LoadTLSFiles(tls) // a file that cannot be read ends the first request
	sum := sha256.New()
	for _, part := range append([][]byte{[]byte(tls.Host), []byte(tls.APIPath), []byte(tls.ServerName), tls.CAData}, more(tls)...) {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return sum.Sum(nil)
}

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
