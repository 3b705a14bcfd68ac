package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
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

const completionLong = `Print what makes a shell complete this program.

"kubectl merge <TAB>" is completed by kubectl's own completion, which asks an executable
on PATH named kubectl_complete-merge; "completion kubectl" prints it. Packages install it,
krew does not. The other scripts are for the command kubectl-merge, called by that name.`

const completionExample = `  # Have "kubectl merge <TAB>" complete, where kubectl's completion is set up
  kubectl merge completion kubectl > ~/.local/bin/kubectl_complete-merge
  chmod +x ~/.local/bin/kubectl_complete-merge

  # Have "kubectl-merge <TAB>" complete in this bash
  source <(kubectl merge completion bash)`

var _ = registerVerb(verb{open: newCompletion})

func newCompletion(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "completion (kubectl | bash | zsh | fish | powershell)",
		Short:   "Print what makes a shell complete this program",
		Long:    completionLong,
		Example: completionExample,
		ValidArgs: []cobra.Completion{
			"kubectl\tthe helper kubectl_complete-merge, for \"kubectl merge\"",
			"bash\tfor kubectl-merge", "zsh\tfor kubectl-merge", "fish\tfor kubectl-merge", "powershell\tfor kubectl-merge",
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("name one of kubectl, bash, zsh, fish and powershell\nSee '%s --help' for usage", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.printCompletion(cmd.Root(), args[0])
		},
	}
}

func (e *env) printCompletion(root *cobra.Command, shell string) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(e.Out, true)
	case "zsh":
		return root.GenZshCompletion(e.Out)
	case "fish":
		return fishCompletion(root, e.Out)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(e.Out)
	case "kubectl":
		text := helper
		if runtime.GOOS == "windows" {
			text = helperWindows
		}
		_, err := fmt.Fprint(e.Out, text)
		return err
	}
	return fmt.Errorf("%s: no such shell; there are kubectl (for \"kubectl merge\"), bash, zsh, fish and powershell", shell)
}

// complete gives cobra the completion of a command's flags and arguments: by the verb's row,
// then by the flag's name. What has no row here completes nothing; every candidate passes
// harmless.
func (e *env) complete(cmd *cobra.Command, v verb) {
	if cmd.Parent() == nil {
		cmd.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	}
	for _, set := range []map[string]cobra.CompletionFunc{v.flags, e.flagCompletions()} { // the first that is registered counts
		for name, f := range set {
			// Not LocalFlags, which sorts all flags again for every name: every command
			// would pay for it.
			if cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, harmless(f)) // fails only where it is registered already
			}
		}
	}
	if v.args != nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = harmless(v.args(e))
	}
}

// noArgs completes no arguments, fileArgs any file, fieldArgs the fields of the objects that
// -f names.
func noArgs(*env) cobra.CompletionFunc      { return cobra.NoFileCompletions }
func fileArgs(*env) cobra.CompletionFunc    { return anyFile }
func fieldArgs(e *env) cobra.CompletionFunc { return e.localFields }

var (
	manifests = extensions("yaml", "yml", "json")
	folders   = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	anyFile = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	}
)

// extensions completes files by their names' ends, and folders on the way.
func extensions(ext ...cobra.Completion) cobra.CompletionFunc {
	return cobra.FixedCompletions(ext, cobra.ShellCompDirectiveFilterFileExt)
}

// words completes one of few.
func words(of ...cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(of, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// outputWords are the values of --output: the printers, and kubectl's template languages.
func outputWords() []cobra.Completion {
	var out []cobra.Completion
	for _, p := range printerRows {
		out = append(out, cobra.CompletionWithDesc(p.name, p.help))
	}
	for _, t := range templates {
		out = append(out, cobra.CompletionWithDesc(t.name+"=", t.help))
	}
	return out
}

// keptOutputs are for verbs that change the last-applied configuration alone.
func keptOutputs(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	fit, directive := mergeOutputs(cmd, args, typed)
	return slices.DeleteFunc(fit, func(c string) bool {
		name, _, _ := strings.Cut(c, "\t")
		p, _ := printerNamed(name)
		return p.merges
	}), directive
}

// mergeOutputs: behind jsonpath= a template follows, and no space.
func mergeOutputs(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	fit := beginning(outputWords(), typed)
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(fit) == 1 && strings.Contains(fit[0], "=\t") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return fit, directive
}

func (e *env) flagCompletions() map[string]cobra.CompletionFunc {
	return map[string]cobra.CompletionFunc{
		"filename":     manifests,
		"kustomize":    folders,
		"live":         manifests,
		"rules":        manifests,
		"schema":       manifests,
		"replacements": manifests,
		"template":     anyFile,

		"save-rules": manifests,

		"policy":   words(append(policyWords(), "ask\tasks on the terminal")...),
		"strategy": words(strategyWords()...),
		"original": originals,
		"dry-run":  words("client\tprint the result, send nothing", "server\thave the server try it, store nothing", "none"),
		"validate": words("strict\tunknown fields are an error", "warn\tthey are reported", "ignore"),
		"notes":    words("text", "json"),
		"wait":     words("written\tuntil what was written is ready", "all\tuntil all objects are ready", "none"),

		"applyset":           e.briefly(e.sets),
		"applyset-namespace": e.briefly(e.namespaces),
		"from":               e.briefly(e.sets),
		"cascade":            words("background\tthey are deleted after it", "foreground\tthey are deleted before it", "orphan\tthey stay"),
		"prune-kinds":        words("PersistentVolumeClaim", "PersistentVolume"),

		"namespace":  e.briefly(e.namespaces),
		"context":    e.briefly(e.contexts),
		"cluster":    e.briefly(e.clusters),
		"user":       e.briefly(e.users),
		"kubeconfig": anyFile,
		"cache-dir":  folders,
	}
}

// policyWords come from the table itself, so that none is forgotten. ask is not among
// them: it is for live objects, and not for files.
func policyWords() []cobra.Completion {
	said := map[merge.Choice]string{merge.TakeLocal: "local", merge.TakeLive: "live", merge.LeaveConflict: "conflict"}
	var out []cobra.Completion
	for _, p := range merge.Policies {
		out = append(out, cobra.CompletionWithDesc(p.Name, fmt.Sprintf("only live moved: %s; both moved: %s", said[p.Drift], said[p.Both])))
	}
	return out
}

func strategyWords() []cobra.Completion {
	var out []cobra.Completion
	for _, s := range strategy.Strategies {
		out = append(out, cobra.CompletionWithDesc(s.Name, s.Help))
	}
	return out
}

// originals completes the words and, where none fits, files.
func originals(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all := []cobra.Completion{
		cobra.CompletionWithDesc(string(apply.Auto), "the annotation, if there is one"),
		cobra.CompletionWithDesc(string(apply.Annotation), "last-applied"),
		cobra.CompletionWithDesc(string(apply.ManagedFields), "what managedFields say was applied"),
		cobra.CompletionWithDesc(string(apply.None), "nothing was applied: nothing is removed"),
	}
	if fit := beginning(all, typed); len(fit) > 0 {
		return fit, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveDefault
}
