package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/replacements"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
)

var _ = registerVerb(verb{
	use: "replacements REPLACEMENTS -f INPUT", short: "Copy fields between objects, as kustomize's replacements",
	long: `Copy fields from one object into others, as kustomize's replacements do; the comments and
the layout of the files are kept.

REPLACEMENTS is a kustomization (nothing else in it is used), a list of
replacements, or a single one. INPUT is a file, a folder, or - for standard input. The
result is printed, or with -w written back: all files, or none. Printed, it can be merged:
with -f -.`,
	example: `  kubectl merge replacements kustomization.yaml -f resources.yaml
  kubectl merge replacements image.yaml -f app/ -w

  # Into the cluster, with values that only the cluster knows
  kubectl merge replacements image.yaml -f app/ --from-live | kubectl merge -f -`,
	takes: exactly(1, func(c *call) error {
		return c.usage(fmt.Sprintf("expected the file with the replacements, got %d arguments", len(c.args)))
	}),
	args: anyFile, run: (*call).replace,
})

// replace makes kustomize's replacements in files.
func (c *call) replace(ctx context.Context) error {
	stdin, name, files := term.Stdin(ctx, c.In), c.args[0], c.inputs.Files
	switch {
	case len(files) > 1:
		return fmt.Errorf("-f: takes one file or folder, got %s: give the folder that holds them, or all of them on standard input: -f -", strings.Join(files, " and "))
	case len(files) == 0 || files[0] == "":
		return errors.New("must specify -f: the file or folder with the objects")
	case files[0] == "-" && c.write:
		return errors.New("-w: INPUT is standard input, and cannot be written; leave -w out")
	case files[0] == "-" && name == "-":
		return errors.New("only one of REPLACEMENTS and -f can be - (standard input)")
	}
	rules, err := readReplacements(ctx, name, stdin)
	if err != nil {
		return err
	}
	input, err := filemerge.Read(ctx, files[0], stdin, filemerge.YAML)
	if err != nil {
		return checkName(err, "after -f")
	}
	var find replacements.Find
	if c.fromLive {
		find = c.selected(ctx)
	}
	values, idle, err := rules.Apply(input.Values(), find)
	if err != nil {
		return err
	}
	for _, target := range idle {
		c.note("", target)
	}
	changed, err := input.Rewrite(values)
	if err != nil {
		return err
	}
	return c.deliverFiles(filemerge.Job{Dest: input}, changed, false)
}

// readReplacements reads a file of replacements, and the files beside it that it names.
func readReplacements(ctx context.Context, name string, stdin io.Reader) (replacements.Rules, error) {
	text, err := []byte(nil), error(nil)
	if info, _ := os.Stat(name); info != nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder: name the file in it that has the replacements, as in kubectl merge replacements %s -f INPUT", name, filepath.Join(name, "kustomization.yaml"))
	} else if name == "-" {
		text, err = source.ReadAll(stdin)
	} else {
		text, err = source.ReadNamed(ctx, name)
	}
	if err != nil {
		return nil, checkName(err, "of the file with the replacements")
	}
	return replacements.Parse(name, text, func(path string) ([]byte, error) {
		if !filepath.IsAbs(path) && name != "-" {
			path = filepath.Join(filepath.Dir(name), path)
		}
		return source.ReadNamed(ctx, path)
	})
}

// selected reads the sources that are not in the input from the cluster. A source with a name is
// one get; any other is a list of its namespace, or of the default namespace.
func (c *call) selected(ctx context.Context) replacements.Find {
	from := &liveSide{call: c}
	return func(s replacements.Selector) ([]any, error) {
		if s.Kind == "" {
			return nil, errors.New("to be looked for in the cluster it needs a kind")
		}
		api, err := from.cluster()
		if err != nil {
			return nil, err
		}
		ns, err := c.ownNamespace()
		if err != nil {
			return nil, err
		}
		found, err := api.Query(ctx, c.flags, query(s, ns))
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
}

// query returns the selector in the syntax of kubectl's arguments: TYPE.VERSION.GROUP/NAME. No
// version means the server's preferred one.
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
