package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// connect reads the kubeconfig and sends nothing yet.
func (e *env) connect() (*cluster.Cluster, error) {
	if _, err := e.requestTimeout(); err != nil {
		return nil, err
	}
	api, err := cluster.New(e.flags, e.warnings)
	if err == nil {
		api.Values, api.Saved = e.secretValues(), e.ran != nil && e.ran.cmd.Flags().Lookup("live") != nil
		api.Kubeconfig = cmp.Or(*e.flags.KubeConfig, os.Getenv(clientcmd.RecommendedConfigPathEnvVar), clientcmd.RecommendedHomeFile)
	}
	if err == nil && e.flags.CacheDir != nil {
		api.CacheSchemas(*e.flags.CacheDir)
	}
	if err == nil && api.Host() == cluster.WithoutConfig {
		err = e.unchosen(api.Kubeconfig)
	}
	return api, mark("connection-setup", e.existing(err))
}

// reached is a cluster, with its live objects and schemas.
type reached struct {
	*cluster.Cluster
	*apply.Documents
	live *live.Server
}

// reach connects to the cluster that the flags name.
func (e *env) reach() (reached, error) {
	api, err := e.connect()
	if err != nil {
		return reached{}, err
	}
	ns, err := e.namespacing()
	return reached{api, &apply.Documents{Fetch: api.OpenAPI, Definition: api.Definition}, &live.Server{API: api, Namespaces: ns}}, err
}

// existing adds the valid names to an error about a context, cluster or user that is not in
// the kubeconfig. A context of a cluster that is not there is an error, too.
//
// Unlike kubectl: which connects to localhost then.
func (e *env) existing(err error) error {
	config, bad := e.flags.ToRawKubeConfigLoader().RawConfig()
	if bad != nil {
		return mistaken(err)
	}
	name := cmp.Or(*e.flags.Context, config.CurrentContext)
	if c := config.Contexts[name]; err == nil && c != nil && config.Clusters[c.Cluster] == nil && *e.flags.ClusterName+*e.flags.APIServer == "" {
		usable := slices.DeleteFunc(slices.Sorted(maps.Keys(config.Contexts)), func(n string) bool { return config.Clusters[config.Contexts[n].Cluster] == nil })
		return fmt.Errorf("kubeconfig: context %q: its cluster %q does not exist: correct it, or choose another with --context; there are: %s", name, c.Cluster, cmp.Or(listed(usable), "none"))
	}
	for _, f := range []struct {
		flag  string
		value *string
		names []string
	}{
		{"context", &name, slices.Sorted(maps.Keys(config.Contexts))},
		{"cluster", e.flags.ClusterName, slices.Sorted(maps.Keys(config.Clusters))},
		{"user", e.flags.AuthInfoName, slices.Sorted(maps.Keys(config.AuthInfos))},
	} {
		if err == nil || f.value == nil || *f.value == "" || len(f.names) == 0 || slices.Contains(f.names, *f.value) {
			continue
		}
		return fmt.Errorf("kubeconfig: %s %q does not exist: --%s must be one of: %s", f.flag, *f.value, f.flag, listed(f.names))
	}
	return mistaken(err)
}

// namespacing returns the namespace for objects without one, from -n or the kubeconfig's context.
func (e *env) namespacing() (live.Namespacing, error) {
	name, given, err := e.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return live.Namespacing{}, mark("connection-setup", e.existing(err))
	}
	of := "the kubeconfig's context: namespace " + strconv.Quote(name)
	if given {
		of = "--namespace=" + name
	}
	return live.Namespacing{Default: name, Enforce: given, Of: of}, nil
}

// ownNamespace is namespacing for verbs that require a valid namespace name. It is not for objects,
// since cluster-scoped ones take any -n, as in kubectl.
func (e *env) ownNamespace() (string, error) {
	ns, err := e.namespacing()
	if err == nil {
		err = ns.Check()
	}
	return ns.Default, err
}

// offlineNamespacing is namespacing from -n alone: no kubeconfig is read.
func (e *env) offlineNamespacing() live.Namespacing {
	name := *e.flags.Namespace
	return live.Namespacing{Default: name, Enforce: name != "", Of: "--namespace=" + name}
}

func (e *env) colored() bool    { return e.colors(e.Out) }
func (e *env) coloredErr() bool { return e.colors(e.ErrOut) }

// progress returns the line that shows how far a run is; nil if no user sees it.
func (c *call) progress(ctx context.Context) *term.Progress {
	if c.quiet {
		return nil
	}
	return term.NewProgress(ctx, c.ErrOut)
}

// unchosen returns an error where the kubeconfig has contexts and none is chosen; nil otherwise.
//
// Unlike kubectl: which connects to localhost then.
func (e *env) unchosen(file string) error {
	config, err := e.flags.ToRawKubeConfigLoader().RawConfig()
	names := slices.Sorted(maps.Keys(config.Contexts))
	if err != nil || len(names) == 0 || config.CurrentContext+*e.flags.Context+*e.flags.APIServer+*e.flags.ClusterName != "" {
		return nil
	}
	return &cluster.Unreachable{Setup: true, Text: fmt.Sprintf("kubeconfig: %s: has no current-context: choose one with --context: %s", file, listed(names))}
}

// unloaded captures the name of a kubeconfig that the client library could not read.
var unloaded = regexp.MustCompile(`error loading config file "(.*?)": `)

// mistaken names the line of a kubeconfig that is no YAML, without any value of it. A pipe cannot be read again.
func mistaken(err error) error {
	if err == nil {
		return nil
	}
	m := unloaded.FindStringSubmatch(err.Error())
	if m == nil || source.Special(m[1]) != "" {
		return err
	}
	data, failed := source.ReadFile(m[1])
	if _, bad := yamldoc.Parse(data); failed == nil && bad != nil {
		return fmt.Errorf("kubeconfig: %s: %w", m[1], bad)
	}
	return err
}
