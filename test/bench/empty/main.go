// Command empty is the least program of this kind: a cobra command with kubectl's
// connection flags and logins. It does nothing, and test/bench measures how long
// that takes.
package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // as every plugin has
)

func main() {
	cmd := &cobra.Command{Use: "empty", RunE: func(*cobra.Command, []string) error { return nil }}
	genericclioptions.NewConfigFlags(true).AddFlags(cmd.PersistentFlags())
	if err := cmd.Execute(); err != nil {
		os.Exit(1)
	}
}
