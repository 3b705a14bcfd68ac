package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/replacements"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// replaceFlags apply kustomize replacements to local before the merge.
type replaceFlags struct {
	files []string
	live  bool
}

func (f *replaceFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.files, "replacements", nil, "FILE with kustomize replacements (or a kustomization that has some) to apply to the objects before they are merged")
	flags.BoolVar(&f.live, "replacements-from-live", false, "a replacement's source that is not among the objects is taken from live")
}

func (f *replaceFlags) given() bool { return len(f.files) > 0 }

// stdin reports whether the replacements are read from standard input.
func (f *replaceFlags) stdin() bool { return slices.Contains(f.files, "-") }

func (f *replaceFlags) validate(inputs *inputFlags) error {
	switch {
	case f.live && !f.given():
		return errors.New("--replacements-from-live: there are no replacements; name their file with --replacements")
	case f.stdin() && inputs.stdin():
		return errors.New("only one of --replacements and -f can be - (standard input)")
	}
	return nil
}

// change reads the replacements and returns the function that applies them. Sources are
// looked up among all objects of the input first, including those not selected by -l.
func (f *replaceFlags) change(ctx context.Context, e *env, inputs *inputFlags, from *liveSide) (func([]object.Object) ([]object.Object, error), error) {
	var all []*replacements.Rules
	for _, name := range f.files {
		rules, err := readReplacements(ctx, name, term.Stdin(ctx, e.In))
		if err != nil {
			return nil, err
		}
		all = append(all, rules)
	}
	var find replacements.Find
	if f.live {
		find = from.selected(ctx)
	}
	return func(objects []object.Object) ([]object.Object, error) {
		values := make([]any, len(objects))
		for i, o := range objects {
			values[i] = o.Value
		}
		for _, rules := range all {
			var err error
			if values, err = rules.Apply(values, find); err != nil {
				return nil, err
			}
		}
		out := make([]object.Object, len(objects))
		var errs []error
		for i, v := range values {
			var err error
			if out[i], err = objects[i].With(v); err != nil {
				errs = append(errs, fmt.Errorf("after the replacements: %w", err))
			}
		}
		if len(errs) > 0 {
			return nil, errors.Join(errs...)
		}
		return out, nil
	}, nil
}

// selected looks up the sources of replacements among the live objects.
func (l *liveSide) selected(ctx context.Context) replacements.Find {
	if len(l.files) > 0 {
		return func(s replacements.Selector) ([]any, error) { return l.selectedSaved(ctx, s) }
	}
	return func(s replacements.Selector) ([]any, error) { return l.selectedAsked(ctx, s) }
}

func (l *liveSide) selectedSaved(ctx context.Context, s replacements.Selector) ([]any, error) {
	saved, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	is := func(want, got string) bool { return want == "" || want == got }
	var out []any
	for _, o := range saved.Select(func(o object.Object) bool {
		return is(s.Group, o.Group()) && is(s.Version, o.Version()) && is(s.Kind, o.Kind()) && is(s.Namespace, o.Namespace()) && is(s.Name, o.Name())
	}) {
		whole, err := o.Whole()
		if err != nil {
			return nil, err
		}
		out = append(out, whole.Value)
	}
	return out, nil
}

// selectedAsked looks them up in the cluster: by a get if the source has a name, else by a
// list of its namespace, or of the default namespace.
func (l *liveSide) selectedAsked(ctx context.Context, s replacements.Selector) ([]any, error) {
	if s.Kind == "" {
		return nil, errors.New("to be looked for in the cluster it needs a kind")
	}
	api, err := l.cluster()
	if err != nil {
		return nil, err
	}
	ns, err := l.env.namespacing()
	if err != nil {
		return nil, err
	}
	found, err := api.Query(ctx, l.env.flags, query(s, ns.Default))
	if err != nil {
		return nil, err
	}
	var out []any
	for _, f := range found {
		if f.Live == nil {
			f.Live, err = api.Get(ctx, f.Target)
		}
		switch {
		case cluster.IsNotFound(err):
		case err != nil:
			return nil, err
		default:
			out = append(out, f.Live)
		}
	}
	return out, nil
}

// query is the selector in the syntax of kubectl's arguments: TYPE.VERSION.GROUP/NAME.
// No version means the server's preferred one.
func query(s replacements.Selector, namespace string) cluster.Query {
	typ := s.Kind
	switch {
	case s.Version != "":
		typ = strings.Join([]string{s.Kind, s.Version, s.Group}, ".")
	case s.Group != "":
		typ += "." + s.Group
	}
	if s.Namespace != "" {
		namespace = s.Namespace
	}
	if s.Name == "" {
		return cluster.Query{Args: []string{typ}, All: true, Namespace: namespace}
	}
	return cluster.Query{Args: []string{typ + "/" + s.Name}, Namespace: namespace}
}
