package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/homedir"
)

// connection is kubectl's connection flags, and the kubeconfig as they change it. It stands
// in for cli-runtime's, which links client-go's registry of all built-in types.
type connection struct {
	kubeconfig string
	cacheDir   string
	timeout    string
	extra      []string // --as-user-extra: KEY=VALUE
	overrides  clientcmd.ConfigOverrides

	// wrap changes what a client is made from.
	wrap func(*rest.Config)

	once   sync.Once
	loaded clientcmd.ClientConfig
}

func newConnection() *connection {
	return &connection{
		cacheDir:  defaultCacheDir(),
		overrides: clientcmd.ConfigOverrides{ClusterDefaults: clientcmd.ClusterDefaults, AuthInfo: api.AuthInfo{ImpersonateGroups: []string{}}},
		extra:     []string{},
		wrap:      func(*rest.Config) {},
	}
}

// defaultCacheDir is kubectl's cache folder.
func defaultCacheDir() string {
	if dir := os.Getenv("KUBECACHEDIR"); dir != "" {
		return dir
	}
	return filepath.Join(homedir.HomeDir(), ".kube", "cache")
}

// add declares the flags, in kubectl's words.
func (c *connection) add(flags *pflag.FlagSet) {
	user, cluster := &c.overrides.AuthInfo, &c.overrides.ClusterInfo
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "Path to the kubeconfig file to use for CLI requests.")
	flags.StringVar(&c.cacheDir, "cache-dir", c.cacheDir, "Default cache directory")
	flags.StringVar(&user.ClientCertificate, "client-certificate", "", "Path to a client certificate file for TLS")
	flags.StringVar(&user.ClientKey, "client-key", "", "Path to a client key file for TLS")
	flags.StringVar(&user.Token, "token", "", "Bearer token for authentication to the API server")
	flags.StringVar(&user.Impersonate, "as", "", "Username to impersonate for the operation. User could be a regular user or a service account in a namespace.")
	flags.StringVar(&user.ImpersonateUID, "as-uid", "", "UID to impersonate for the operation.")
	flags.StringArrayVar(&user.ImpersonateGroups, "as-group", user.ImpersonateGroups, "Group to impersonate for the operation, this flag can be repeated to specify multiple groups.")
	flags.StringArrayVar(&c.extra, "as-user-extra", c.extra, "User extras to impersonate for the operation, this flag can be repeated to specify multiple values for the same key.")
	flags.StringVar(&user.Username, "username", "", "Username for basic authentication to the API server")
	flags.StringVar(&user.Password, "password", "", "Password for basic authentication to the API server")
	flags.StringVar(&c.overrides.Context.Cluster, "cluster", "", "The name of the kubeconfig cluster to use")
	flags.StringVar(&c.overrides.Context.AuthInfo, "user", "", "The name of the kubeconfig user to use")
	flags.StringVarP(&c.overrides.Context.Namespace, "namespace", "n", "", "If present, the namespace scope for this CLI request")
	flags.StringVar(&c.overrides.CurrentContext, "context", "", "The name of the kubeconfig context to use")
	flags.StringVarP(&cluster.Server, "server", "s", "", "The address and port of the Kubernetes API server")
	flags.StringVar(&cluster.TLSServerName, "tls-server-name", "", "Server name to use for server certificate validation. If it is not provided, the hostname used to contact the server is used")
	flags.BoolVar(&cluster.InsecureSkipTLSVerify, "insecure-skip-tls-verify", false, "If true, the server's certificate will not be checked for validity. This will make your HTTPS connections insecure")
	flags.StringVar(&cluster.CertificateAuthority, "certificate-authority", "", "Path to a cert file for the certificate authority")
	flags.StringVar(&c.timeout, "request-timeout", c.timeout, "The length of time to wait before giving up on a single server request. Non-zero values should contain a corresponding time unit (e.g. 1s, 2m, 3h). A value of zero means don't timeout requests.")
	flags.BoolVar(&cluster.DisableCompression, "disable-compression", false, "If true, opt-out of response compression for all requests to the server")
	flags.StringVar(&cluster.ProxyURL, "proxy-url", "", "Proxy URL to use for requests to the API server")
}

// loader reads the kubeconfig once, and asks on the terminal for a user name and password
// where it has neither.
func (c *connection) loader() clientcmd.ClientConfig {
	c.once.Do(func() {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.DefaultClientConfig = &clientcmd.DefaultClientConfig
		rules.ExplicitPath = c.kubeconfig
		overrides := c.overrides
		for _, e := range c.extra {
			if key, value, ok := strings.Cut(e, "="); ok {
				if overrides.AuthInfo.ImpersonateUserExtra == nil {
					overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
				}
				overrides.AuthInfo.ImpersonateUserExtra[key] = append(overrides.AuthInfo.ImpersonateUserExtra[key], value)
			}
		}
		c.loaded = clientcmd.NewInteractiveDeferredLoadingClientConfig(rules, &overrides, os.Stdin)
	})
	return c.loaded
}

// ToRESTConfig is what a client is made from.
func (c *connection) ToRESTConfig() (*rest.Config, error) {
	config, err := c.loader().ClientConfig()
	if err != nil {
		return nil, err
	}
	c.wrap(config)
	return config, nil
}

// CacheDir is kubectl's cache folder; without --cache-dir, the default one.
func (c *connection) CacheDir() string {
	if c.cacheDir == "" {
		return defaultCacheDir()
	}
	return c.cacheDir
}

// Namespace is that of -n, else of the kubeconfig's context, and whether the user gave it.
func (c *connection) Namespace() (name string, given bool, err error) { return c.loader().Namespace() }

// Contexts are the names of the contexts in the kubeconfig, sorted.
func (c *connection) Contexts() ([]string, error) {
	config, err := c.loader().RawConfig()
	return slices.Sorted(maps.Keys(config.Contexts)), err
}

// Clusters are the names of the clusters in the kubeconfig, sorted.
func (c *connection) Clusters() ([]string, error) {
	config, err := c.loader().RawConfig()
	return slices.Sorted(maps.Keys(config.Clusters)), err
}

// Users are the names of the users in the kubeconfig, sorted.
func (c *connection) Users() ([]string, error) {
	config, err := c.loader().RawConfig()
	return slices.Sorted(maps.Keys(config.AuthInfos)), err
}

// current is the name of the context in use.
func (c *connection) current() string {
	if c.overrides.CurrentContext != "" {
		return c.overrides.CurrentContext
	}
	config, _ := c.loader().RawConfig() // what cannot be read names none
	return config.CurrentContext
}
