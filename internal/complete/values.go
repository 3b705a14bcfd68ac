package complete

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
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
		if r, err := s.resource(a.ctx, api, ns, typ); err == nil {
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

// UnlessFiles completes objects if -f is not given, otherwise fields.
func UnlessFiles(objects, fields cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if !cmd.Flags().Changed("filename") {
			return objects(cmd, args, typed)
		}
		return fields(cmd, args, typed)
	}
}

// LocalFields completes the fields of the objects that -f names, without a server.
func LocalFields(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	typed = asItReads(typed)
	return offered(fieldsOf(cmd, localObjects(cmd), typed), typed)
}

// asItReads returns a word that is being typed without its opening quote and backslashes: fish
// passes words as they are on its line.
func asItReads(typed string) string {
	if typed != "" && (typed[0] == '\'' || typed[0] == '"') {
		return typed[1:]
	}
	return strings.ReplaceAll(typed, `\`, "")
}

// localObjects returns those that -f names, unless they are on standard input.
func localObjects(cmd *cobra.Command) []object.Object {
	files, err := cmd.Flags().GetStringSlice("filename")
	if err != nil || len(files) == 0 || slices.Contains(files, "-") {
		return nil
	}
	recursive, _ := cmd.Flags().GetBool("recursive")
	objects, _ := source.Read(cmd.Context(), source.Inputs{Files: files, Recursive: recursive}) // valid ones suffice
	return objects
}

// fieldsOf returns the fields of objects that a typed path may become.
func fieldsOf(cmd *cobra.Command, objects []object.Object, typed string) (all []place) {
	defs := &apply.Definitions{}
	defs.Input(objects)
	ask := defs.Around(nil)
	for _, o := range objects {
		typ, known := schema.Builtin(o.Group(), o.Version(), o.Kind())
		if !known {
			typ, _ = ask(cmd.Context(), o.Group(), o.Version(), o.Kind())
		}
		all = append(all, fieldsAt(o.Value, typ, typed)...)
	}
	return all
}

// fieldsAt returns the fields one step below the last complete step of a path that is being typed.
// If only one fits, the fields below it are included, so that a unique path needs no further key
// press.
func fieldsAt(v any, typ *merge.Type, typed string) []place {
	at, ok := finished(typed)
	if !ok {
		return nil
	}
	spelled := spelledAs(typed)
	for {
		found := slices.DeleteFunc(below(v, typ, at), func(f place) bool { return !strings.HasPrefix(spelled(f.path), typed) })
		if len(found) != 1 || !found[0].holder {
			return found
		}
		next := below(v, typ, found[0].path)
		if len(next) != 1 {
			return append(found, next...)
		}
		at, typed = found[0].path, spelled(found[0].path)
	}
}

// finished returns the complete part of a path that is being typed: the part before the last dot or
// bracket outside quotes.
func finished(typed string) (merge.Path, bool) {
	cut, quoted := 0, byte(0)
	for i := 0; i < len(typed); i++ {
		switch c := typed[i]; {
		case quoted != 0 && c == '\\':
			i++
		case c == quoted:
			quoted = 0
		case quoted != 0:
		case c == '"' || c == '\'':
			quoted = c
		case c == '[', c == '.' && strings.LastIndexByte(typed[:i], '[') <= strings.LastIndexByte(typed[:i], ']'):
			cut = i // a dot within brackets is part of a value
		}
	}
	if cut == 0 {
		return nil, true
	}
	path, err := merge.ParsePath(typed[:cut])
	return path, err == nil
}

// place is a possible completion.
type place struct {
	path   merge.Path
	holder bool // more lies below it
}

// below returns the parts of the value at a path that merge separately.
func below(v any, typ *merge.Type, at merge.Path) []place {
	inner, ok := merge.Lookup(v, at, typ)
	if !ok {
		return nil
	}
	f, _ := schema.FieldAt(typ, at)
	switch inner := inner.(type) {
	case map[string]any:
		if f.Type != nil && f.Type.Atomic {
			return nil
		}
		return object.Each(slices.Sorted(maps.Keys(inner)), func(name string) place {
			return place{at.Child(merge.Named(name)), merge.HasEntries(inner[name])}
		})
	case []any:
		return entries(inner, f.Type, at)
	}
	return nil
}

// entries returns those of a list that distinguishes them by their keys.
func entries(list []any, typ *merge.Type, at merge.Path) (out []place) {
	if typ == nil || typ.Kind != merge.Keyed {
		return nil
	}
	for _, entry := range list {
		if m, ok := entry.(map[string]any); ok {
			out = append(out, place{at.Child(merge.StepOf(typ, m, 0)), len(m) > 0})
		}
	}
	return out
}

// spelledAs returns the spelling of paths that a path being typed uses.
func spelledAs(typed string) func(merge.Path) string {
	if strings.Contains(typed, `"`) {
		return merge.Path.String
	}
	return unquoted
}

// unquoted returns a path without the quotes of names that need none in brackets, since every shell
// interprets quotes: metadata.labels[example.com/team.name].
func unquoted(p merge.Path) string {
	text := p.String()
	for _, step := range p {
		quoted, bare := `["`+step.Name+`"]`, "["+step.Name+"]"
		if back, err := merge.ParsePath(bare); step.Kind == merge.FieldStep && err == nil && len(back) == 1 && back[0].Kind == merge.FieldStep && back[0].Name == step.Name {
			text = strings.ReplaceAll(text, quoted, bare)
		}
	}
	return text
}

// offered returns the paths, each once; after one that holds more, no space.
func offered(all []place, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	var out []cobra.Completion
	for _, f := range all {
		path := spelledAs(typed)(f.path)
		if !strings.HasPrefix(path, typed) || slices.Contains(out, path) {
			continue
		}
		out = append(out, path)
		if f.holder {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	slices.Sort(out)
	return out, directive
}
