package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/complete"
)

const completionLong = `Print what makes a shell complete this program.

The scripts for bash, zsh and fish complete "kubectl merge <TAB>" and "kubectl-merge <TAB>".
Load them after kubectl's own.

Without them, kubectl's own script completes "kubectl merge <TAB>" with the help of an
executable on PATH named kubectl_complete-merge, which "completion kubectl" prints. In bash
and zsh that script completes no path in an open quote, and in bash inserts some paths with
brackets twice.`

const completionExample = `  # In ~/.bashrc, behind kubectl's own completion (zsh: the same in ~/.zshrc)
  source <(kubectl completion bash)
  source <(kubectl merge completion bash)

  # Where only kubectl's own completion is set up
  kubectl merge completion kubectl > ~/.local/bin/kubectl_complete-merge
  chmod +x ~/.local/bin/kubectl_complete-merge`

var _ = registerVerb(verb{
	use: "completion (kubectl | bash | zsh | fish | powershell)", short: "Generate the completion script for a shell", long: completionLong, example: completionExample,
	words: []cobra.Completion{
		"kubectl\tthe helper kubectl_complete-merge, for \"kubectl merge\"",
		"bash\tfor \"kubectl merge\" and kubectl-merge", "zsh\tfor \"kubectl merge\" and kubectl-merge", "fish\tfor \"kubectl merge\" and kubectl-merge", "powershell\tfor kubectl-merge",
	},
	takes: exactly(1, func(c *call) error { return c.usage("name one of kubectl, bash, zsh, fish and powershell") }),
	run:   func(c *call, _ context.Context) error { return complete.Script(c.cmd.Root(), c.args[0], c.Out) },
})

// anyFile completes arguments that are files, objectArgs TYPE/NAME.
var anyFile = always(complete.Files)

func objectArgs(s *complete.Server) cobra.CompletionFunc {
	return complete.UnlessFiles(s.Objects(), cobra.NoFileCompletions)
}

// outputs completes --output with the printers that fit, and kubectl's template languages: after
// jsonpath= a template follows, and no space.
func outputs(fit func(printerRow) bool) completer {
	return always(func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		words := append(printerWords(fit), each(templates, func(l language) string { return cobra.CompletionWithDesc(l.name+"=", l.help) })...)
		words = complete.Beginning(words, typed)
		directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(words) == 1 && strings.Contains(words[0], "=\t") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return words, directive
	})
}

// server returns the completion of names on the server.
func (e *env) server() *complete.Server {
	return &complete.Server{Flags: e.flags, Connect: e.connect, Quiet: func() {
		hush()
		e.warnings.hush()
	}}
}

// completeShared registers the completion of the flags that all verbs take.
func (e *env) completeShared(root *cobra.Command) {
	server := e.server()
	for name, f := range map[string]cobra.CompletionFunc{
		"namespace":  server.Namespaces(),
		"context":    server.Contexts(),
		"cluster":    server.Clusters(),
		"user":       server.Users(),
		"kubeconfig": complete.Files,
		"cache-dir":  complete.Folders,
	} {
		_ = root.RegisterFlagCompletionFunc(name, complete.Safe(f)) // fails only if it is registered already
	}
}
