package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// harmless is a completion whose candidates no shell obeys: every one leaves
// through here. cobra's script for bash inserts what several candidates have in
// common as it is and hands the line to eval on the next key press
// (https://github.com/spf13/cobra/issues/2334), and names come from whoever may write an
// object, a file or a kubeconfig. What a shell would have to quote is not offered.
func harmless(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := complete(cmd, args, typed)
		var out []cobra.Completion
		seen := map[string]bool{}
		for _, c := range found {
			// Two of one name would have the shell insert the beginning of their
			// descriptions too.
			name, help, _ := strings.Cut(c, "\t")
			if plainForShells(name) && plainly(help) == help && !seen[name] {
				out = append(out, c)
			}
			seen[name] = true
		}
		return out, directive
	}
}

// plainForShells: a word of letters, digits and signs that mean nothing to a shell.
// Letters are ASCII's, as in some encodings a part of another one is a sign; a word
// does not begin like an option, a home folder or zsh's path of a command.
func plainForShells(word string) bool {
	if word == "" || strings.ContainsAny(word[:1], "-~=") {
		return false
	}
	for i := range len(word) {
		c := word[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("._/:=@%+,~-[]", rune(c)) {
			return false
		}
	}
	return true
}

// fishCompletion prints cobra's script for fish, which puts the words of the line
// into a text for eval after fish has taken their quotes off: a file's name would
// run. They are quoted again.
func fishCompletion(root *cobra.Command, out io.Writer) error {
	const unquoted, quoted = "set -l args (commandline -opc)", "set -l args (string escape -- (commandline -opc))"
	var script bytes.Buffer
	if err := root.GenFishCompletion(&script, true); err != nil {
		return err
	}
	if strings.Count(script.String(), unquoted) != 1 {
		return fmt.Errorf("completion for fish: the script is not the one that is known to be safe")
	}
	_, err := io.WriteString(out, strings.Replace(script.String(), unquoted, quoted, 1))
	return err
}
