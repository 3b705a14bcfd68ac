package complete

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// edit replaces a text in one of cobra's scripts.
type edit struct{ from, to string }

// edited prints a script of cobra's with edits. The error is that one of them does not match
// exactly once: cobra's script has changed.
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

// fishCompletion prints cobra's script for fish. That puts the words of the line into a text for
// eval without their quotes: a file's name would run. The edits quote them again. It also compares
// candidates with the word as typed, including quotes.
func fishCompletion(root *cobra.Command, out io.Writer) error {
	plugin := ""
	if verb, ok := strings.CutPrefix(root.CommandPath(), "kubectl "); ok {
		plugin = "\n    if test \"$args[1..2]\" = \"kubectl " + verb + "\"\n        set args " + root.Name() + " $args[3..-1]\n    end"
	}
	err := edited("fish", out, func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		edit{"set -l args (commandline -opc)", "set -l args (string escape -- (commandline -opc))" + plugin},
		edit{"set -l prefix (commandline -t | string escape --style=regex)", `set -l prefix (commandline -t | string replace -r '^[\'"]' '' | string replace -a '\\' '' | string escape --style=regex)`})
	if err != nil {
		return err
	}
	return asPlugin(root, fishPlugin, out)
}

// bashCompletion prints cobra's script for bash. That completes no word in an open quote or with a
// backslash, as eval fails; expands brackets as patterns of files; and inserts a whole path after
// the last =, at which bash divides words. The edits pass the typed word unquoted, and reduce
// candidates to the part that bash inserts.
func bashCompletion(root *cobra.Command, out io.Writer) error {
	name := root.Name()
	err := edited("bash", out, func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		edit{`out=$(eval "${requestComp}" 2>/dev/null)`, `out=$(set -f; eval "${requestComp}" 2>/dev/null)`},
		edit{`if [[ "$comp" == *${char}* && `, `if [[ -z "${opened}" && "$comp" == *${char}* && `},
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
		edit{"    __" + name + "_process_completion_results\n}\n", `    [[ "${cur}" == *\"* ]] && printf -v cur %q "${cur}"
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
`})
	if err != nil {
		return err
	}
	return asPlugin(root, bashPlugin, out)
}

// zshCompletion prints cobra's script for zsh. That completes no word in an open quote, as eval
// fails, nor one with a bracket, which is a pattern: the edits pass the typed word unquoted.
func zshCompletion(root *cobra.Command, out io.Writer) error {
	const request = "    requestComp=\"${words[1]} __complete ${words[2,-1]}\"\n"
	err := edited("zsh", out, root.GenZshCompletion, edit{"out=$(eval ${requestComp} 2>/dev/null)", "out=$(setopt no_glob; eval ${requestComp} 2>/dev/null)"}, edit{request, `    if [[ "${lastParam[1]}" == [\'\"] && ( ${#lastParam} -eq 1 || "${lastParam[-1]}" != "${lastParam[1]}" ) ]]; then
        words[-1]=${(q)lastParam[2,-1]}
        [[ -n "${words[-1]}" ]] || words[-1]="''"
    fi
` + request})
	if err != nil {
		return err
	}
	return asPlugin(root, zshPlugin, out)
}

// asPlugin adds the completion of `kubectl merge` to a script, by the same functions. kubectl's own
// script runs the helper for it, and has the defects that the edits above remove. It prints nothing
// for a command that is not a plugin.
func asPlugin(root *cobra.Command, script string, out io.Writer) error {
	verb, plugin := strings.CutPrefix(root.CommandPath(), "kubectl ")
	if !plugin {
		return nil
	}
	_, err := strings.NewReplacer("NAME", root.Name(), "VERB", verb, "VARIABLE", strings.ReplaceAll(root.Name(), "-", "_")).WriteString(out, script)
	return err
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
