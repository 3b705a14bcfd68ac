package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

var _ = registerVerb(verb{open: newOptions, args: noArgs})

// newOptions lists the flags that every command takes, as kubectl options does. Like
// there, the help names it below the commands and not among them.
func newOptions(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    "options",
		Short:  "List the flags that every command takes",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(e.Out, "The following options can be passed to any command:\n\n%s", cmd.Root().PersistentFlags().FlagUsages())
			return err
		},
	}
}
