package cli

import (
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
