// Package cluster reads and writes objects, lists what kinds a server has, and
// fetches their schemas; no other package speaks to an API server. It refuses to
// know what a merge is, and hands bytes over as exact JSON values.
package cluster

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way to log in that kubectl has
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
)

// Getter is the part of kubectl's connection flags that a Cluster needs.
type Getter interface {
	ToRESTConfig() (*rest.Config, error)
	ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error)
}

// Cluster is one API server. It may be used by several goroutines.
type Cluster struct {
	// Values, which may be nil, is given the values of the Secrets that are read.
	Values *redact.Values

	client    *rest.RESTClient
	host      string
	identity  string        // of the server, as far as the configuration gives it; see identity
	timeout   time.Duration // of a request; 0: none
	discovery discovery.CachedDiscoveryInterfaceWithContext

	mu        sync.Mutex
	groups    map[string]map[string]Resource // by group/version, then kind
	declared  map[schema.GroupVersionKind]Resource
	refreshed bool

	schemas schemas
}

// New connects nothing yet; it reads the kubeconfig that the flags name. Warnings
// that the server sends go to warnings. The error names what is wrong with the
// kubeconfig and, where there is none, how to work without a cluster.
func New(flags Getter, warnings rest.WarningHandlerWithContext) (*Cluster, error) {
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, configError(err)
	}
	config = rest.CopyConfig(config)
	config.NegotiatedSerializer = statusSerializer()
	config.WarningHandler, config.WarningHandlerWithContext = nil, warnings
	throttle(config)
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	found, err := flags.ToDiscoveryClient()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return &Cluster{
		client:    client,
		host:      config.Host,
		identity:  identity(config),
		timeout:   config.Timeout,
		discovery: discovery.ToCachedDiscoveryInterfaceWithContext(found),
		groups:    map[string]map[string]Resource{},
		declared:  map[schema.GroupVersionKind]Resource{},
	}, nil
}

// Patience is how long in sum a server may have the client wait that says of a write
// that it is to be sent later: as long as one request may take.
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
	if strings.Contains(err.Error(), "'proxy-url'") { // the error holds the URL, and its password
		return errors.New("kubeconfig: proxy-url: is no URL of a proxy: it must begin with http, https or socks5, and what is special in its user and password must be percent-encoded")
	}
	return fmt.Errorf("kubeconfig: %w", err)
}

// statusSerializer decodes the one thing that the client itself must understand,
// the Status in which a server says why it refused.
func statusSerializer() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}
