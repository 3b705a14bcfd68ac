package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/docs/schemas"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
)

var _ = registerVerb(verb{
	use: "schema [NAME]", short: "Print the JSON schema of what is printed for programs",
	long: `Print the JSON schema of a document that this program prints: of a plan, an outcome, an error.
Without NAME, list them. They are the files of docs/schemas, of this version.`,
	example: "  kubectl merge schema\n  kubectl merge schema errors",
	args: always(func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return complete.Words(schemaWords()...)(cmd, args, typed)
	}),
	takes: func(c *call) error {
		if len(c.args) > 1 {
			return c.usage("give one name, or none for a list of them")
		}
		return nil
	},
	run: (*call).schema,
})

// schemaWords returns the names of the schemas, with their titles.
func schemaWords() (words []cobra.Completion) {
	for _, s := range schemas.All() {
		words = append(words, cobra.CompletionWithDesc(s.Name, s.Title))
	}
	return words
}

func (c *call) schema(context.Context) error {
	var names []string
	for _, s := range schemas.All() {
		names = append(names, s.Name)
		switch {
		case len(c.args) == 0:
			if _, err := fmt.Fprintf(c.Out, "%-9s %s\n", s.Name, s.Title); err != nil {
				return err
			}
		case c.args[0] == s.Name:
			_, err := c.Out.Write(s.Text)
			return err
		}
	}
	if len(c.args) == 0 {
		return nil
	}
	return mark("usage", fmt.Errorf("%s: there is no such schema%s: kubectl merge schema lists them", c.args[0], suggest.Hint(c.args[0], names)))
}
