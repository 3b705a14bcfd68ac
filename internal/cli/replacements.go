package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	filemerge "github.com/kubectl-merge/kubectl-merge/internal/files"
	"github.com/kubectl-merge/kubectl-merge/internal/replacements"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
)

// replacementsVerb makes kustomize's replacements in files.
type replacementsVerb struct {
	*env
	inputs  []string
	input   string // the only one
	secrets bool
	fileOutput
}

var _ = registerVerb(verb{open: newReplacements, args: fileArgs, flags: map[string]cobra.CompletionFunc{"output": complete.Words("yaml\tthe resulting text", "diff\twhat changes in INPUT")}})

func newReplacements(e *env) *cobra.Command {
	v := &replacementsVerb{env: e}
	cmd := &cobra.Command{
		Use:   "replacements REPLACEMENTS -f INPUT",
		Short: "Copy fields between the objects of files, as kustomize's replacements do",
		Long: `Copy fields from one object into others, as kustomize's replacements do; the comments and
the layout of the files are kept.

REPLACEMENTS is a kustomization (nothing else in it is used), a list of
replacements, or a single one. INPUT is a file, a folder, or - for standard input. The
result is printed, or with -w written back: all files, or none.`,
		Example: `  kubectl merge replacements kustomization.yaml -f resources.yaml
  kubectl merge replacements image.yaml -f manifests/ -w`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return fmt.Errorf("expected the file with the replacements, got %d arguments\nSee '%s --help' for usage", len(args), cmd.CommandPath())
		},
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args[0]) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&v.inputs, "filename", "f", nil, "file or folder with the objects, or - for standard input")
	flags.BoolVar(&v.secrets, "show-secrets", false, "show the values of Secrets in a diff")
	v.fileOutput.add(cmd, "INPUT")
	return cmd
}

func (v *replacementsVerb) run(ctx context.Context, name string) error {
	stdin := term.Stdin(ctx, v.In)
	switch {
	case len(v.inputs) > 1:
		return fmt.Errorf("-f: takes one file or folder, got %s: give the folder that holds them, or all of them on standard input: -f -", strings.Join(v.inputs, " and "))
	case len(v.inputs) == 0 || v.inputs[0] == "":
		return errors.New("must specify -f: the file or folder with the objects")
	}
	v.input = v.inputs[0]
	switch {
	case v.input == "-" && v.write:
		return errors.New("-w: INPUT is standard input, and cannot be written; leave -w out")
	case v.input == "-" && name == "-":
		return errors.New("only one of REPLACEMENTS and -f can be - (standard input)")
	}
	if err := v.fileOutput.check(); err != nil {
		return err
	}
	rules, err := readReplacements(ctx, name, stdin)
	if err != nil {
		return err
	}
	input, err := filemerge.Read(ctx, v.input, stdin)
	if err != nil {
		return err
	}
	values, err := rules.Apply(input.Values(), nil)
	if err != nil {
		return err
	}
	changed, err := input.Rewrite(values)
	if err != nil {
		return err
	}
	return v.fileOutput.deliver(v.Out, input, changed, delivery{hides: filemerge.Hiding{ShowSecrets: v.secrets}, color: v.colored()})
}

// readReplacements reads a file of replacements, and the files that it names, which
// are beside it.
func readReplacements(ctx context.Context, name string, stdin io.Reader) (*replacements.Rules, error) {
	text, err := []byte(nil), error(nil)
	if name == "-" {
		text, err = source.ReadAll(stdin)
	} else {
		text, err = source.ReadNamed(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("replacements: %w", err)
	}
	return replacements.Parse(name, text, func(path string) ([]byte, error) {
		if !filepath.IsAbs(path) && name != "-" {
			path = filepath.Join(filepath.Dir(name), path)
		}
		return source.ReadNamed(ctx, path)
	})
}
