package cli

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
)

// connect reads the kubeconfig and sends nothing yet.
func (e *env) connect() (*cluster.Cluster, error) {
	api, err := cluster.New(e.flags, e.warnings)
	if err == nil {
		api.Values = e.secretValues()
	}
	if err == nil && e.flags.CacheDir != nil {
		api.CacheSchemas(*e.flags.CacheDir)
	}
	return api, e.existing(err)
}

// existing adds the valid names to an error about a context, cluster or user that is not in
// the kubeconfig.
func (e *env) existing(err error) error {
	if err == nil {
		return nil
	}
	config, bad := e.flags.ToRawKubeConfigLoader().RawConfig()
	if bad != nil {
		return err
	}
	for _, f := range []struct {
		flag  string
		value *string
		names []string
	}{
		{"context", e.flags.Context, sortedKeys(config.Contexts)},
		{"cluster", e.flags.ClusterName, sortedKeys(config.Clusters)},
		{"user", e.flags.AuthInfoName, sortedKeys(config.AuthInfos)},
	} {
		if f.value == nil || *f.value == "" || len(f.names) == 0 || slices.Contains(f.names, *f.value) {
			continue
		}
		return fmt.Errorf("%w: --%s must be one of: %s", err, f.flag, listed(f.names))
	}
	return err
}

// namespacing is the namespace for objects without one, from -n or the kubeconfig's context.
func (e *env) namespacing() (live.Namespacing, error) {
	name, given, err := e.flags.ToRawKubeConfigLoader().Namespace()
	return live.Namespacing{Default: name, Enforce: given}, e.existing(err)
}

// offlineNamespacing is the same from -n alone: no kubeconfig is read.
func (e *env) offlineNamespacing() live.Namespacing {
	return live.Namespacing{Default: *e.flags.Namespace, Enforce: *e.flags.Namespace != ""}
}

func (e *env) colored() bool    { return colors(e.Out) }
func (e *env) coloredErr() bool { return colors(e.ErrOut) }

// colors reports whether w is a terminal with colors and NO_COLOR is not set
// (https://no-color.org).
func colors(w any) bool {
	f, ok := asFile(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
