package complete

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// Beginning returns the candidates that begin with the typed text. all is not modified.
func Beginning(all []cobra.Completion, typed string) []cobra.Completion {
	return slices.DeleteFunc(slices.Clone(all), func(c string) bool { return !strings.HasPrefix(c, typed) })
}

// Manifests completes files with manifests, and folders on the way.
func Manifests(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

// Folders completes folders.
func Folders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// Files completes any file.
func Files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// Words completes one of the given words.
func Words(of ...cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return Beginning(of, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// Policies returns those of merge.Policies. ask is not among them: it is for live objects, and not
// for files.
func Policies() (out []cobra.Completion) {
	named := map[merge.Choice]string{merge.TakeLocal: "local", merge.TakeLive: "live", merge.LeaveConflict: "conflict"}
	for _, p := range merge.Policies {
		out = append(out, cobra.CompletionWithDesc(p.Name, fmt.Sprintf("only local moved: %s; only live moved: %s; both moved: %s; removed from local: %s", named[p.Update], named[p.Drift], named[p.Both], named[p.Dropped])))
	}
	return out
}

// Strategies returns those of strategy.Strategies.
func Strategies() []cobra.Completion {
	return object.Each(strategy.Strategies, func(s strategy.Strategy) cobra.Completion { return cobra.CompletionWithDesc(s.Name, s.Help) })
}

// Originals completes the places that an original may be read from and, if none fits, files.
func (s *Server) Originals() cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const prefix = string(apply.Helm) + ":"
		if strings.HasPrefix(typed, prefix) {
			return s.briefly(func(a asking) ([]cobra.Completion, error) { return s.releases(a, prefix) })(cmd, args, typed)
		}
		found := Beginning(originals, typed)
		directive := cobra.ShellCompDirectiveDefault
		if len(found) == 1 && strings.HasPrefix(found[0], prefix) {
			directive = cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

var originals = []cobra.Completion{
	cobra.CompletionWithDesc(string(apply.Auto), "the annotation, if there is one"),
	cobra.CompletionWithDesc(string(apply.Annotation), "last-applied"),
	cobra.CompletionWithDesc(string(apply.ManagedFields), "what managedFields record as applied"),
	cobra.CompletionWithDesc(string(apply.Helm)+":", "the manifest of a Helm release"),
	cobra.CompletionWithDesc(string(apply.None), "nothing was applied: nothing is removed"),
}

// Kinds completes a comma-separated list with the kinds of the objects that -f names or, if it
// names none, the types of the server. Kinds that are never recreated are left out.
func (s *Server) Kinds() cobra.CompletionFunc { return s.briefly(s.kinds) }

func (s *Server) kinds(a asking) ([]cobra.Completion, error) {
	before := a.typed[:strings.LastIndex(a.typed, ",")+1]
	var all []cobra.Completion
	for _, o := range localObjects(a.cmd) {
		if (cluster.Resource{Group: o.Group(), Kind: o.Kind()}).Recreatable() {
			all = append(all, before+o.Kind())
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		return slices.Compact(all), nil
	}
	types, err := s.types("")
	for _, name := range types {
		plural, group, _ := strings.Cut(name, ".")
		if !slices.ContainsFunc(cluster.Holding, func(r cluster.Resource) bool { return r.Plural == plural && r.Group == group }) {
			all = append(all, before+name)
		}
	}
	return all, err
}
