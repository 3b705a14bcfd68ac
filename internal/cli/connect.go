package cli

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
)

// connect reads the kubeconfig; nothing is sent yet.
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

// existing adds to an error about the kubeconfig, where a name that a flag gives is not
// in it, those that are.
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

// namespacing is where objects go that name no namespace, by -n and the
// kubeconfig's context.
func (e *env) namespacing() (live.Namespacing, error) {
	name, given, err := e.flags.ToRawKubeConfigLoader().Namespace()
	return live.Namespacing{Default: name, Enforce: given}, e.existing(err)
}

// offlineNamespacing is by -n alone: no kubeconfig is read.
func (e *env) offlineNamespacing() live.Namespacing {
	return live.Namespacing{Default: *e.flags.Namespace, Enforce: *e.flags.Namespace != ""}
}

func (e *env) colored() bool    { return colors(e.Out) }
func (e *env) coloredErr() bool { return colors(e.ErrOut) }

// colors: w is a terminal that shows colours, and the user has not said no
// (https://no-color.org).
func colors(w any) bool {
	f, ok := asFile(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
