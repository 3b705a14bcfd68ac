// Package complete completes command lines in a shell: names on the server, fields of objects,
// values of flags; and prints the scripts for it. It refuses to know the verbs, and offers nothing
// that a shell would execute.
package complete

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
)

// The helper that kubectl (1.26 and later) runs to complete `kubectl merge`; the
// release carries the same text as a file.
const (
	helper = `#!/bin/sh
# kubectl runs this to complete "kubectl merge": it has to be on PATH, by this name.
exec kubectl-merge __complete "$@"
`
	helperWindows = "@rem kubectl runs this to complete \"kubectl merge\": it has to be on PATH, by this name.\r\n" +
		"@kubectl-merge.exe __complete %*\r\n"
)

// Safe filters a completion's candidates, so that a shell executes none of them; all pass through
// it. cobra's script for bash inserts the common part of several candidates unquoted and passes the
// line to eval on the next key press (https://github.com/spf13/cobra/issues/2334). Names come from
// anyone who may write an object, a file or a kubeconfig. Candidates that a shell would have to
// quote are not offered.
func Safe(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := complete(cmd, args, typed)
		var out []cobra.Completion
		seen := map[string]bool{}
		for _, c := range found {
			// For two equal names, the shell would insert the beginning of their descriptions too.
			name, help, _ := strings.Cut(c, "\t")
			if plainForShells(name, strings.Contains(typed, `"`)) && escape.Line(help) == help && !seen[name] {
				out = append(out, c)
			}
			seen[name] = true
		}
		return out, directive
	}
}

// plainForShells reports whether a word has only letters, digits and signs without a meaning for
// shells. With quotes, " is allowed: the user has already protected it from the shell.
// Letters are ASCII's, as in some encodings a part of another one is a sign; a word
// does not begin like an option, a home folder or zsh's path of a command.
func plainForShells(word string, quotes bool) bool {
	if word == "" || strings.ContainsAny(word[:1], "-~=") {
		return false
	}
	for i := range len(word) {
		c := word[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("._/:=@%+,~-[]", rune(c)) && (c != '"' || !quotes) {
			return false
		}
	}
	return true
}

// Script prints a shell's completion script for the commands of root, or the helper that kubectl
// runs. The error names an unknown shell, or is out's.
func Script(root *cobra.Command, shell string, out io.Writer) error {
	switch shell {
	case "bash":
		return bashCompletion(root, out)
	case "zsh":
		return zshCompletion(root, out)
	case "fish":
		return fishCompletion(root, out)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(out)
	case "kubectl":
		text := helper
		if runtime.GOOS == "windows" {
			text = helperWindows
		}
		_, err := strings.NewReplacer("kubectl merge", root.CommandPath(), "kubectl-merge", root.Name()).WriteString(out, text)
		return err
	}
	return fmt.Errorf("%s: no such shell; there are kubectl (for \"kubectl merge\"), bash, zsh, fish and powershell", shell)
}
