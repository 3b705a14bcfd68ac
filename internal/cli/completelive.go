package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
)

// patience is how long a key press may wait for a server, and most how many names
// it is asked for.
const (
	patience = 3 * time.Second
	most     = 500
)

// asking is one completion that needs the kubeconfig, or the server.
type asking struct {
	ctx   context.Context
	args  []string
	typed string
	cmd   *cobra.Command
}

// briefly makes a completion of a question; where it has no answer in time, or the
// cluster none, nothing is completed and nothing is said.
func (e *env) briefly(question func(asking) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		hush()
		e.warnings.hush()
		ctx, cancel := context.WithTimeout(cmd.Context(), patience)
		defer cancel()
		found, err := question(asking{ctx: ctx, args: args, typed: typed, cmd: cmd})
		if err != nil {
			cobra.CompDebugln(err.Error(), false)
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found = beginning(found, typed)
		directive := cobra.ShellCompDirectiveNoFileComp
		if slices.ContainsFunc(found, func(c string) bool { return strings.HasSuffix(c, "/") }) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

// hush ends all logging: what client-go says of a server that is down would stand
// on the command line.
func hush() { logTo(io.Discard) }

// beginning keeps what begins with the text that is typed.
func beginning(all []cobra.Completion, typed string) []cobra.Completion {
	return slices.DeleteFunc(slices.Clone(all), func(c string) bool { return !strings.HasPrefix(c, typed) })
}

func (e *env) contexts(asking) ([]cobra.Completion, error) {
	config, err := e.flags.ToRawKubeConfigLoader().RawConfig()
	return sortedKeys(config.Contexts), err
}

func (e *env) clusters(asking) ([]cobra.Completion, error) {
	config, err := e.flags.ToRawKubeConfigLoader().RawConfig()
	return sortedKeys(config.Clusters), err
}

func (e *env) users(asking) ([]cobra.Completion, error) {
	config, err := e.flags.ToRawKubeConfigLoader().RawConfig()
	return sortedKeys(config.AuthInfos), err
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (e *env) namespaces(a asking) ([]cobra.Completion, error) {
	return e.names(a.ctx, "namespaces", "")
}

// typeOrName completes TYPE, TYPE/NAME and, behind TYPE, NAME.
func (e *env) typeOrName(a asking) ([]cobra.Completion, error) {
	if len(a.args) > 0 && !strings.Contains(a.args[0], "/") {
		return e.names(a.ctx, a.args[0], "")
	}
	if typ, _, ok := strings.Cut(a.typed, "/"); ok {
		return e.names(a.ctx, typ, typ+"/")
	}
	return e.types("")
}

// object completes TYPE/NAME.
func (e *env) object(a asking) ([]cobra.Completion, error) {
	if typ, _, ok := strings.Cut(a.typed, "/"); ok {
		return e.names(a.ctx, typ, typ+"/")
	}
	return e.types("/")
}

// types are the kinds that the server keeps objects of, as kubectl names them.
func (e *env) types(suffix string) ([]cobra.Completion, error) {
	client, err := e.flags.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	lists, err := client.ServerPreferredResources()
	var all []cobra.Completion
	for _, list := range lists {
		gv, bad := schema.ParseGroupVersion(list.GroupVersion)
		if bad != nil {
			continue
		}
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "patch") {
				all = append(all, schema.GroupResource{Group: gv.Group, Resource: r.Name}.String()+suffix)
			}
		}
	}
	if len(all) > 0 { // some group of the server's may be broken
		err = nil
	}
	slices.Sort(all)
	return all, err
}

// names are those of a type's objects, in the namespace that the flags say.
func (e *env) names(ctx context.Context, typ, prefix string) ([]cobra.Completion, error) {
	api, r, err := e.resource(ctx, typ)
	if err != nil {
		return nil, err
	}
	ns := ""
	if r.Namespaced {
		if ns, _, err = e.flags.ToRawKubeConfigLoader().Namespace(); err != nil {
			return nil, err
		}
	}
	names, err := api.Names(ctx, r, ns, most)
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names, err
}

// resource is what the server calls by a word such as deploy or deployments.apps.
func (e *env) resource(ctx context.Context, typ string) (*cluster.Cluster, cluster.Resource, error) {
	mapper, err := e.flags.ToRESTMapper()
	if err != nil {
		return nil, cluster.Resource{}, err
	}
	full, group := schema.ParseResourceArg(strings.ToLower(typ))
	var kind schema.GroupVersionKind
	if full != nil {
		kind, err = mapper.KindFor(*full)
	}
	if kind.Empty() {
		kind, err = mapper.KindFor(group.WithVersion(""))
	}
	if err != nil {
		return nil, cluster.Resource{}, err
	}
	api, err := cluster.New(e.flags, rest.NoWarnings{})
	if err != nil {
		return nil, cluster.Resource{}, err
	}
	r, err := api.Find(ctx, kind.Group, kind.Version, kind.Kind)
	return api, r, err
}

// sets completes sets by the names of their parents; one that is no Secret is named by its
// kind, too.
func (e *env) sets(a asking) ([]cobra.Completion, error) {
	api, err := e.connect()
	if err != nil {
		return nil, err
	}
	ns, _, err := e.flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	if f := a.cmd.Flags().Lookup("applyset-namespace"); f != nil && f.Value.String() != "" {
		ns = f.Value.String()
	}
	found, _, err := prune.List(a.ctx, api, ns)
	var names []cobra.Completion
	for _, l := range found {
		name := l.Target.Name
		if l.Target.Kind != "Secret" || l.Target.Group != "" {
			name = l.Target.String()
		}
		names = append(names, name)
	}
	return names, err
}

// setOrObject completes a set and, behind it, objects.
func (e *env) setOrObject(a asking) ([]cobra.Completion, error) {
	if len(a.args) == 0 {
		return e.sets(a)
	}
	return e.object(a)
}
