// Package complete completes command lines in a shell: names on the server, fields of objects,
// values of flags; and prints the scripts for it. It refuses to know the verbs, and offers nothing
// that a shell would execute.
package complete

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
)

// edit replaces a text in one of cobra's scripts.
type edit struct{ from, to string }

// script is a script of cobra's, with edits.
type script struct {
	shell  string
	plugin string // completes `kubectl merge`
	print  func(io.Writer) error
	edits  []edit
}

// write prints the script, with the completion of `kubectl merge` by the same functions. kubectl's own
// script runs the helper for it, and has the defects that the edits remove. It is left out for a command
// that is not a plugin. The error is that an edit does not match exactly once: cobra's script has changed.
func (s script) write(root *cobra.Command, out io.Writer) error {
	var b bytes.Buffer
	if err := s.print(&b); err != nil {
		return err
	}
	text := b.String()
	for _, e := range s.edits {
		if strings.Count(text, e.from) != 1 {
			return fmt.Errorf("completion for %s: the script is not the one that is known to be safe", s.shell)
		}
		text = strings.Replace(text, e.from, e.to, 1)
	}
	if verb, plugin := strings.CutPrefix(root.CommandPath(), "kubectl "); plugin {
		text += strings.NewReplacer("NAME", root.Name(), "VERB", verb, "VARIABLE", strings.ReplaceAll(root.Name(), "-", "_")).Replace(s.plugin)
	}
	_, err := io.WriteString(out, text)
	return err
}

// fishCompletion returns cobra's script for fish. That puts the words of the line into a text for
// eval without their quotes: a file's name would run. The edits quote them again. It also compares
// candidates with the word as typed, including quotes.
func fishCompletion(root *cobra.Command) script {
	plugin := ""
	if verb, ok := strings.CutPrefix(root.CommandPath(), "kubectl "); ok {
		plugin = "\n    if test \"$args[1..2]\" = \"kubectl " + verb + "\"\n        set args " + root.Name() + " $args[3..-1]\n    end"
	}
	return script{"fish", fishPlugin, func(w io.Writer) error { return root.GenFishCompletion(w, true) }, []edit{
		{"set -l args (commandline -opc)", "set -l args (string escape -- (commandline -opc))" + plugin},
		{"set -l prefix (commandline -t | string escape --style=regex)", `set -l prefix (commandline -t | string replace -r '^[\'"]' '' | string replace -a '\\' '' | string escape --style=regex)`},
	}}
}

// bashCompletion returns cobra's script for bash. That completes no word in an open quote or with a
// backslash, as eval fails; expands brackets as patterns of files; and inserts a whole path after
// the last =, at which bash divides words. The edits pass the typed word unquoted, and reduce
// candidates to the part that bash inserts.
func bashCompletion(root *cobra.Command) script {
	name := root.Name()
	return script{"bash", bashPlugin, func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }, []edit{
		{`out=$(eval "${requestComp}" 2>/dev/null)`, `out=$(set -f; eval "${requestComp}" 2>/dev/null)`},
		{`if [[ "$comp" == *${char}* && `, `if [[ -z "${opened}" && "$comp" == *${char}* && `},
		{"    __" + name + "_get_completion_results\n", `    local opened="" typed="${cur}"
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
		{"    __" + name + "_process_completion_results\n}\n", `    [[ "${cur}" == *\"* ]] && printf -v cur %q "${cur}"
    __` + name + `_process_completion_results
    local i plain="${typed//\\/}" quoted
    if [[ -n "${opened}" ]]; then
        for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]="${COMPREPLY[i]//\\/}"; done
    elif [[ "${plain}" != -* && "${plain}" == *=* && "${COMP_WORDBREAKS}" == *=* ]]; then
        plain="${plain%"${plain##*=}"}"
        printf -v quoted %q "${plain}"
        for i in "${!COMPREPLY[@]}"; do
            COMPREPLY[i]="${COMPREPLY[i]#"${plain}"}"
            COMPREPLY[i]="${COMPREPLY[i]#"${quoted}"}"
        done
    fi
}
`},
	}}
}

// zshCompletion returns cobra's script for zsh. That completes no word in an open quote, as eval
// fails, nor one with a bracket, which is a pattern: the edits pass the typed word unquoted.
func zshCompletion(root *cobra.Command) script {
	const request = "    requestComp=\"${words[1]} __complete ${words[2,-1]}\"\n"
	return script{"zsh", zshPlugin, root.GenZshCompletion, []edit{{"out=$(eval ${requestComp} 2>/dev/null)", "out=$(setopt no_glob; eval ${requestComp} 2>/dev/null)"}, {request, `    if [[ "${lastParam[1]}" == [\'\"] && ( ${#lastParam} -eq 1 || "${lastParam[-1]}" != "${lastParam[1]}" ) ]]; then
        words[-1]=${(q)lastParam[2,-1]}
        [[ -n "${words[-1]}" ]] || words[-1]="''"
    fi
` + request}}}
}

// kubectl's own script completes all other command lines of kubectl; it is loaded if necessary.
const (
	bashPlugin = `
# kubectl VERB
__NAME_plugin()
{
    if [[ ${COMP_CWORD} -lt 2 || "${COMP_WORDS[1]}" != VERB ]]; then
        if ! declare -F __start_kubectl >/dev/null; then
            source <(kubectl completion bash)
            complete -o default -F __NAME_plugin kubectl
        fi
        __start_kubectl
        return
    fi
    local rest="${COMP_LINE#*[[:blank:]]VERB}" command="NAME"
    COMP_POINT=$((COMP_POINT - ${#COMP_LINE} + ${#rest} + ${#command}))
    COMP_LINE="${command}${rest}"
    COMP_WORDS=("${command}" "${COMP_WORDS[@]:2}")
    COMP_CWORD=$((COMP_CWORD - 1))
    __start_NAME
}

complete -o default -F __NAME_plugin kubectl
`
	zshPlugin = `
# kubectl VERB
_NAME_plugin()
{
    if (( CURRENT > 2 )) && [[ "${words[2]}" == VERB ]]; then
        words=(NAME "${(@)words[3,-1]}")
        (( CURRENT-- ))
        _NAME
        return
    fi
    if (( ! $+functions[_kubectl] )); then
        source <(kubectl completion zsh)
        compdef _NAME_plugin kubectl
    fi
    _kubectl
}

compdef _NAME_plugin kubectl
`
	fishPlugin = `
# kubectl VERB
function __VARIABLE_plugin
    set -l args (commandline -opc)
    test "$args[1..2]" = "kubectl VERB"
end

if type -q kubectl
    functions -q __kubectl_prepare_completions || kubectl completion fish | source
    complete -c kubectl -e
    complete -c kubectl -n 'not __VARIABLE_plugin && __kubectl_clear_perform_completion_once_result'
    complete -c kubectl -n 'not __VARIABLE_plugin && not __kubectl_requires_order_preservation && __kubectl_prepare_completions' -f -a '$__kubectl_comp_results'
    complete -k -c kubectl -n 'not __VARIABLE_plugin && __kubectl_requires_order_preservation && __kubectl_prepare_completions' -f -a '$__kubectl_comp_results'
    complete -c kubectl -n '__VARIABLE_plugin && __VARIABLE_clear_perform_completion_once_result'
    complete -c kubectl -n '__VARIABLE_plugin && not __VARIABLE_requires_order_preservation && __VARIABLE_prepare_completions' -f -a '$__VARIABLE_comp_results'
    complete -k -c kubectl -n '__VARIABLE_plugin && __VARIABLE_requires_order_preservation && __VARIABLE_prepare_completions' -f -a '$__VARIABLE_comp_results'
end
`
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
		return bashCompletion(root).write(root, out)
	case "zsh":
		return zshCompletion(root).write(root, out)
	case "fish":
		return fishCompletion(root).write(root, out)
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
