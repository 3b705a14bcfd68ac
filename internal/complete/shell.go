// Package complete finds what the shell completes a command line with: names on the server,
// fields of objects, values of flags; and the scripts that have it do so. It refuses to know the
// verbs, and offers nothing that a shell would execute.
package complete

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
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

// Safe is a completion whose candidates no shell obeys: every one leaves
// through here. cobra's script for bash inserts what several candidates have in
// common as it is and hands the line to eval on the next key press
// (https://github.com/spf13/cobra/issues/2334), and names come from whoever may write an
// object, a file or a kubeconfig. What a shell would have to quote is not offered.
func Safe(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := complete(cmd, args, typed)
		var out []cobra.Completion
		seen := map[string]bool{}
		for _, c := range found {
			// Two of one name would have the shell insert the beginning of their
			// descriptions too.
			name, help, _ := strings.Cut(c, "\t")
			if plainForShells(name, strings.Contains(typed, `"`)) && escape.Line(help) == help && !seen[name] {
				out = append(out, c)
			}
			seen[name] = true
		}
		return out, directive
	}
}

// plainForShells: a word of letters, digits and signs that mean nothing to a shell; with quotes,
// " is one of them: who has typed it has kept it from the shell.
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

// Script prints the script by which a shell completes the commands of root, or the helper that
// kubectl runs. The error names a shell that is none of these, or is out's.
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
