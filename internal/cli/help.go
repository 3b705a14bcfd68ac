package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// addHelp adds cobra's command help. For an unknown command, cobra prints the root's help, and
// succeeds: here that is an error.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Run, cmd.RunE = nil, helpOf
		}
	}
}

// helpOf prints the help of the command that the arguments name.
func helpOf(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		text, _ := unknown(cmd, rest[0])
		return fmt.Errorf("%s\nSee '%s --help' for usage", text, cmd.CommandPath())
	}
	cmd.InitDefaultHelpFlag() // as cobra itself does
	return cmd.Help()
}

// Lists the flags that every command takes, as kubectl options does. Like there, the help names it
// below the commands and not among them.
var _ = registerVerb(verb{use: "options", short: "List the flags that every command takes", hidden: true, run: func(c *call, _ context.Context) error {
	_, err := fmt.Fprintf(c.Out, "The following options can be passed to any command:\n\n%s", c.cmd.Root().PersistentFlags().FlagUsages())
	return err
}})
