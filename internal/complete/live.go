package complete

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	builtin "github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// patience is how long a key press may wait for a server, unless $KUBECTL_MERGE_COMPLETION_TIMEOUT is
// a duration, and most how many names it requests.
const (
	patience = 3 * time.Second
	most     = 500
)

// Server completes names on the server, and those of the kubeconfig.
type Server struct {
	Flags   *genericclioptions.ConfigFlags
	Connect func() (*cluster.Cluster, error)
	Quiet   func() // suppresses logs and warnings, which would appear on the command line
}

// Contexts completes the contexts of the kubeconfig.
func (s *Server) Contexts() cobra.CompletionFunc { return s.briefly(s.contexts) }

// ContextList completes a comma-separated list with the contexts of the kubeconfig.
func (s *Server) ContextList() cobra.CompletionFunc {
	return s.briefly(func(a asking) ([]cobra.Completion, error) {
		all, err := s.contexts(a)
		before := a.typed[:strings.LastIndex(a.typed, ",")+1]
		return object.Each(all, func(name string) string { return before + name }), err
	})
}

// Clusters completes the clusters of the kubeconfig.
func (s *Server) Clusters() cobra.CompletionFunc {
	return s.briefly(func(asking) ([]cobra.Completion, error) {
		config, err := s.Flags.ToRawKubeConfigLoader().RawConfig()
		return slices.Sorted(maps.Keys(config.Clusters)), err
	})
}

// Users completes the users of the kubeconfig.
func (s *Server) Users() cobra.CompletionFunc {
	return s.briefly(func(asking) ([]cobra.Completion, error) {
		config, err := s.Flags.ToRawKubeConfigLoader().RawConfig()
		return slices.Sorted(maps.Keys(config.AuthInfos)), err
	})
}

// Namespaces completes namespaces.
func (s *Server) Namespaces() cobra.CompletionFunc {
	return s.briefly(func(a asking) ([]cobra.Completion, error) { return s.names(a.ctx, "namespaces", "") })
}

// Sets completes sets by the names of their parents; a parent that is not a Secret is named with
// its kind.
func (s *Server) Sets() cobra.CompletionFunc { return s.briefly(s.sets) }

// OneSet completes a set as the only argument.
func (s *Server) OneSet() cobra.CompletionFunc {
	return s.briefly(func(a asking) ([]cobra.Completion, error) {
		if len(a.args) > 0 {
			return nil, nil
		}
		return s.sets(a)
	})
}

// Objects completes TYPE/NAME.
func (s *Server) Objects() cobra.CompletionFunc { return s.briefly(s.completeObject) }

// TypeOrName completes TYPE, TYPE/NAME and, after TYPE, NAME.
func (s *Server) TypeOrName() cobra.CompletionFunc {
	return s.briefly(func(a asking) ([]cobra.Completion, error) {
		if len(a.args) > 0 && !strings.Contains(a.args[0], "/") {
			return s.names(a.ctx, a.args[0], "")
		}
		return s.objectOr(a, "")
	})
}

// SetOrObject completes a set and, after it, objects.
func (s *Server) SetOrObject() cobra.CompletionFunc {
	return s.briefly(func(a asking) ([]cobra.Completion, error) {
		if len(a.args) == 0 {
			return s.sets(a)
		}
		return s.completeObject(a)
	})
}

// asking is one completion that needs the kubeconfig, or the server.
type asking struct {
	ctx   context.Context
	args  []string
	typed string
	cmd   *cobra.Command
}

// briefly makes a completion from a question. Without an answer in time, or on an error, nothing is
// completed and nothing is printed.
func (s *Server) briefly(question func(asking) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		s.Quiet()
		wait, _ := time.ParseDuration(os.Getenv("KUBECTL_MERGE_COMPLETION_TIMEOUT")) // 0: it is none
		ctx, cancel := context.WithTimeout(cmd.Context(), cmp.Or(wait, patience))
		defer cancel()
		found, err := question(asking{ctx: ctx, args: args, typed: typed, cmd: cmd})
		if err != nil {
			cobra.CompDebugln(err.Error(), false)
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found = Beginning(found, typed)
		directive := cobra.ShellCompDirectiveNoFileComp
		if slices.ContainsFunc(found, func(c string) bool { return strings.HasSuffix(c, "/") }) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

func (s *Server) contexts(asking) ([]cobra.Completion, error) {
	config, err := s.Flags.ToRawKubeConfigLoader().RawConfig()
	return slices.Sorted(maps.Keys(config.Contexts)), err
}

func (s *Server) completeObject(a asking) ([]cobra.Completion, error) { return s.objectOr(a, "/") }

// objectOr returns the objects of a type that was typed with its slash, otherwise the types.
func (s *Server) objectOr(a asking, suffix string) ([]cobra.Completion, error) {
	if typ, _, ok := strings.Cut(a.typed, "/"); ok {
		return s.names(a.ctx, typ, typ+"/")
	}
	return s.types(suffix)
}

// types returns the kinds that the server has objects of, as kubectl names them.
func (s *Server) types(suffix string) ([]cobra.Completion, error) {
	client, err := s.Flags.ToDiscoveryClient()
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
	if len(all) > 0 { // a single group may be broken
		err = nil
	}
	slices.Sort(all)
	return all, err
}

// reach returns the cluster and the namespace that the flags give.
func (s *Server) reach() (*cluster.Cluster, string, error) {
	api, err := s.Connect()
	if err != nil {
		return nil, "", err
	}
	ns, _, err := s.Flags.ToRawKubeConfigLoader().Namespace()
	return api, ns, err
}

// names returns those of a type's objects, in the namespace that the flags give.
func (s *Server) names(ctx context.Context, typ, prefix string) ([]cobra.Completion, error) {
	api, ns, err := s.reach()
	if err != nil {
		return nil, err
	}
	r, err := s.resource(ctx, api, ns, typ)
	if err != nil {
		return nil, err
	}
	names, err := api.Names(ctx, r, r.Within(ns), most)
	return object.Each(names, func(name string) string { return prefix + name }), err
}

// resource returns the server's resource for a word such as deploy or deployments.apps.
func (s *Server) resource(ctx context.Context, api *cluster.Cluster, ns, typ string) (cluster.Resource, error) {
	if r, ok := api.OwnWord(ctx, typ); ok { // avoids the mapper, which reads all of discovery
		return r, nil
	}
	found, err := api.Query(ctx, s.Flags, cluster.Query{Args: []string{typ + "/any"}, Namespace: ns})
	if err != nil || len(found) == 0 {
		return cluster.Resource{}, err
	}
	return found[0].Resource, nil
}

func (s *Server) sets(a asking) ([]cobra.Completion, error) {
	api, ns, err := s.reach()
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

// Releases completes the releases of Helm in the namespace that the flags give.
func (s *Server) Releases() cobra.CompletionFunc {
	return s.briefly(func(a asking) ([]cobra.Completion, error) { return s.releases(a, "") })
}

func (s *Server) releases(a asking, prefix string) ([]cobra.Completion, error) {
	api, ns, err := s.reach()
	if err != nil {
		return nil, err
	}
	names, err := live.ReleaseNames(a.ctx, api, ns)
	return object.Each(names, func(name string) string { return prefix + name }), err
}

// Disowned completes TYPE/NAME and, after it, the fields that were applied last.
func (s *Server) Disowned(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return s.briefly(s.completeObject)(cmd, args, typed)
	}
	typed = asItReads(typed)
	var all []place
	found, directive := s.briefly(func(a asking) ([]cobra.Completion, error) {
		found, err := s.live(a, nil, args[:1])
		for _, o := range found {
			t, _ := builtin.Builtin(o.Group(), o.Version(), o.Kind())
			all = fieldsAt(lastapplied.Read(o.Value).Value, t, typed)
		}
		return nil, err
	})(cmd, args, typed)
	if len(all) == 0 {
		return found, directive
	}
	return offered(all, typed)
}
