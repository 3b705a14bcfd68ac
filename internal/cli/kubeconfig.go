package cli

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

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
