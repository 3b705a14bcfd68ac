package e2e

import (
	"context"
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // as cmd/kubectl-merge has it

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

// program is cmd/kubectl-merge's main: testscript runs it in a process of its own
// whenever a story says kubectl-merge, or kubectl says it for `kubectl merge`.
func program() {
	os.Exit(cli.MainAs(context.Background(), os.Args[0], os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
}
