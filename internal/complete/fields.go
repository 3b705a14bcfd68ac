package complete

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// UnlessFiles completes objects if -f is not given, otherwise fields.
func UnlessFiles(objects, fields cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch {
		case !cmd.Flags().Changed("filename"):
			return objects(cmd, args, typed)
		case fields != nil:
			return fields(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
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
		found := below(v, typ, at)
		found = slices.DeleteFunc(found, func(f place) bool { return !strings.HasPrefix(spelled(f.path), typed) })
		if len(found) != 1 || !found[0].holder {
			return found
		}
		next := below(v, typ, found[0].path)
		if len(next) != 1 {
			return append(found, next...)
		}
		at = found[0].path
		typed = spelled(at)
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
