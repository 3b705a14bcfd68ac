package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

// mostAsked is the maximum number of objects whose live state is read at a key press.
const mostAsked = 10

// Explained completes the fields of the objects that -f names and of their live objects; without
// -f, TYPE/NAME and, after it, the fields of that object.
func (s *Server) Explained(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	typed = asItReads(typed)
	local := localObjects(cmd)
	named := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !strings.Contains(arg, "/") || strings.Contains(arg, "[") })
	if len(local) == 0 && len(named) == 0 {
		return s.briefly(s.completeObject)(cmd, args, typed)
	}
	var live []object.Object
	if files, _ := cmd.Flags().GetStringSlice("live"); len(files) > 0 {
		live = savedObjects(cmd, files, local)
	} else {
		_, _ = s.briefly(func(a asking) (_ []cobra.Completion, err error) {
			live, err = s.live(a, local, named)
			return nil, err
		})(cmd, args, typed)
	}
	return offered(fieldsOf(cmd, slices.Concat(local, live), typed), typed)
}

// savedObjects returns the live objects in files that belong to local ones.
func savedObjects(cmd *cobra.Command, files []string, local []object.Object) (out []object.Object) {
	saved, err := source.ReadSaved(cmd.Context(), source.Inputs{Files: files, Flag: "--live"})
	if err != nil {
		return nil
	}
	for _, o := range local {
		if found, err := saved.Find(o); err == nil && found != nil {
			out = append(out, *found)
		}
	}
	return out
}

// live returns the live objects of local and of named ones. The error means that the server does
// not answer; other unreadable objects are left out.
func (s *Server) live(a asking, local []object.Object, named []string) ([]object.Object, error) {
	api, ns, err := s.reach()
	if err != nil {
		return nil, err
	}
	var targets []cluster.Target
	for _, o := range local[:min(len(local), mostAsked)] {
		if r, err := api.Find(a.ctx, o.Group(), o.Version(), o.Kind()); err == nil {
			targets = append(targets, cluster.Target{Resource: r, Namespace: o.Namespace(), Name: o.Name()})
		}
	}
	for _, arg := range named {
		typ, name, _ := strings.Cut(arg, "/")
		if _, r, err := s.resource(a.ctx, typ); err == nil {
			targets = append(targets, cluster.Target{Resource: r, Name: name})
		}
	}
	var out []object.Object
	for _, t := range targets {
		if t.Namespaced && t.Namespace == "" {
			t.Namespace = ns
		}
		if live, err := api.Get(a.ctx, t); err == nil {
			out = append(out, object.Object{Value: live})
		}
	}
	return out, nil
}
