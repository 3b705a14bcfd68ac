// Package cluster contacts an API server; no other package does. It reads and writes
// objects, discovers kinds and fetches schemas. It does not know what a merge is. Objects
// are JSON values with exact numbers.
package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
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

	client      *rest.RESTClient
	host        string
	identity    string        // of the server, as far as known from the configuration; see identity
	timeout     time.Duration // of a request; 0: none
	fingerprint string
	discovery   discovery.CachedDiscoveryInterfaceWithContext
	limiter     *limiter
	lanes       *lanes
	polls       chan struct{} // limits the reads of polled that are under way

	mu        sync.Mutex
	listed    *metav1.APIGroupList           // see served; nil: not read yet
	groups    map[string]map[string]Resource // by group/version, then kind
	declared  map[schema.GroupVersionKind]Resource
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
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = statusSerializer()
	config.WarningHandler, config.WarningHandlerWithContext = nil, warnings
	limits, way := throttle(config), &lanes{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		way.next = next
		return way
	})
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	found, err := flags.ToDiscoveryClient()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return &Cluster{
		client:      client,
		host:        config.Host,
		identity:    identity(config),
		timeout:     config.Timeout,
		fingerprint: fingerprint(config),
		discovery:   discovery.ToCachedDiscoveryInterfaceWithContext(found),
		limiter:     limits,
		lanes:       way,
		polls:       make(chan struct{}, mostPolls),
		groups:      map[string]map[string]Resource{},
		declared:    map[schema.GroupVersionKind]Resource{},
	}, nil
}

// Patience returns how long in total a server may make the client wait before a write is sent
// again: the timeout of one request.
func (c *Cluster) Patience() time.Duration {
	if c.timeout == 0 {
		return maxPatience
	}
	return c.timeout
}

func configError(err error) error {
	if clientcmd.IsEmptyConfig(err) {
		return fmt.Errorf("kubeconfig: no cluster is configured: set --kubeconfig, KUBECONFIG or --server, or work offline with --live FILE")
	}
	if strings.Contains(err.Error(), "'proxy-url'") { // the error contains the URL with its password
		return errors.New("kubeconfig: proxy-url: is no URL of a proxy: it must begin with http, https or socks5, and what is special in its user and password must be percent-encoded")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("kubeconfig: %w: check the name after --kubeconfig, or in KUBECONFIG", err)
	}
	return fmt.Errorf("kubeconfig: %w", err)
}

// statusSerializer decodes metav1.Status, the only type that the client itself has to
// understand.
func statusSerializer() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}
