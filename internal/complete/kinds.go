package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

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
