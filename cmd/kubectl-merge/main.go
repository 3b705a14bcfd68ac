// Command kubectl-merge is the kubectl plugin `kubectl merge`: it starts and ends
// the process, and refuses to know a flag.
package main

import (
	"context"
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[0], os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
}
