// Package complete finds what the shell completes a command line with: names on the server,
// fields of objects, values of flags; and the scripts that have it do so. It refuses to know the
// verbs, and offers nothing that a shell would execute.
package complete

import (
	"bytes"
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
			if plainForShells(name) && escape.Line(help) == help && !seen[name] {
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

// Script prints the script by which a shell completes the commands of root, or the helper that
// kubectl runs.
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

// edit is a place in one of cobra's scripts, and the text that takes it.
type edit struct{ from, to string }

// edited prints a script of cobra's with some places changed. The error is that one of them is
// not there once: the script is not the one that is known.
func edited(shell string, out io.Writer, print func(io.Writer) error, edits ...edit) error {
	var script bytes.Buffer
	if err := print(&script); err != nil {
		return err
	}
	text := script.String()
	for _, e := range edits {
		if strings.Count(text, e.from) != 1 {
			return fmt.Errorf("completion for %s: the script is not the one that is known to be safe", shell)
		}
		text = strings.Replace(text, e.from, e.to, 1)
	}
	_, err := io.WriteString(out, text)
	return err
}

// fishCompletion prints cobra's script for fish, which puts the words of the line
// into a text for eval after fish has taken their quotes off: a file's name would
// run. They are quoted again.
func fishCompletion(root *cobra.Command, out io.Writer) error {
	return edited("fish", out, func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		edit{"set -l args (commandline -opc)", "set -l args (string escape -- (commandline -opc))"})
}

// bashCompletion prints cobra's script for bash, which completes no word in an open quote, as
// eval takes none, nor one with a backslash; and it inserts a whole path behind the last =, at
// which bash divides words. What is typed is asked for as it reads, and of what is offered the
// part that bash is to insert is left.
func bashCompletion(root *cobra.Command, out io.Writer) error {
	name := root.Name()
	return edited("bash", out, func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		edit{"    __" + name + "_get_completion_results\n", `    local opened="" typed="${cur}"
    if [[ "${cur}" == [\'\"]* && ( ${#cur} -eq 1 || "${cur: -1}" != "${cur:0:1}" ) ]]; then
        opened="${cur:0:1}"
        cur="${cur:1}"
    fi
    [[ -z "${opened}" && "${cur}" != [\'\"]* ]] && cur="${cur//\\/}"
    if [[ "${cur}" != "${typed}" ]]; then
        words[cword]=""
        [[ -n "${cur}" ]] && printf -v "words[cword]" %q "${cur}"
    fi
    __` + name + `_get_completion_results
`},
		edit{"    __" + name + "_process_completion_results\n}\n", `    __` + name + `_process_completion_results
    local i rest="${typed}"
    if [[ -n "${opened}" ]]; then
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]="${COMPREPLY[i]//\\/}"; done
    elif [[ "${cur}" != -* && "${typed}" != -* && "${COMP_WORDBREAKS}" == *=* ]]; then
        while [[ "${rest}" == *=* ]]; do
            rest="${rest#*=}"
            for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]="${COMPREPLY[i]#*=}"; done
        done
    fi
}
`})
}

// zshCompletion prints cobra's script for zsh, which completes no word in an open quote, as eval
// takes none: what is typed is asked for as it reads.
func zshCompletion(root *cobra.Command, out io.Writer) error {
	const request = "    requestComp=\"${words[1]} __complete ${words[2,-1]}\"\n"
	return edited("zsh", out, root.GenZshCompletion, edit{request, `    if [[ "${lastParam[1]}" == [\'\"] && ( ${#lastParam} -eq 1 || "${lastParam[-1]}" != "${lastParam[1]}" ) ]]; then
        words[-1]=${(q)lastParam[2,-1]}
        [[ -n "${words[-1]}" ]] || words[-1]="''"
    fi
` + request})
}
