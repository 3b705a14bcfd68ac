package cli

import (
	"fmt"
	"slices"
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

var _ = registerVerb(verb{open: newCompletion})

func newCompletion(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "completion (kubectl | bash | zsh | fish | powershell)",
		Short:   "Generate the completion script for a shell",
		Long:    completionLong,
		Example: completionExample,
		ValidArgs: []cobra.Completion{
			"kubectl\tthe helper kubectl_complete-merge, for \"kubectl merge\"",
			"bash\tfor \"kubectl merge\" and kubectl-merge", "zsh\tfor \"kubectl merge\" and kubectl-merge", "fish\tfor \"kubectl merge\" and kubectl-merge", "powershell\tfor kubectl-merge",
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("name one of kubectl, bash, zsh, fish and powershell\nSee '%s --help' for usage", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return complete.Script(cmd.Root(), args[0], e.Out)
		},
	}
}

// complete registers the completion of a command's flags and arguments: by the verb's row, then by
// the flag's name. Without a row here, nothing is completed. Every candidate passes complete.Safe.
func (e *env) complete(cmd *cobra.Command, v verb) {
	if cmd.Parent() == nil {
		cmd.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	}
	for _, set := range []map[string]cobra.CompletionFunc{v.flags, e.flagCompletions()} { // the first registration counts
		for name, f := range set {
			// Not LocalFlags, which sorts all flags again for every name, for every command.
			if cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, complete.Safe(f)) // fails only if it is registered already
			}
		}
	}
	if v.args != nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = complete.Safe(v.args(e))
	}
}

// noArgs completes no arguments, fileArgs any file.
func noArgs(*env) cobra.CompletionFunc   { return cobra.NoFileCompletions }
func fileArgs(*env) cobra.CompletionFunc { return complete.Files }

// objectArgs completes TYPE/NAME.
func objectArgs(e *env) cobra.CompletionFunc { return complete.UnlessFiles(e.server().Objects(), nil) }

// explainedArgs completes objects and fields, including fields that only live has.
func explainedArgs(e *env) cobra.CompletionFunc { return e.server().Explained }

// outputWords returns the values of --output: the printers, and kubectl's template languages.
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

// targetOutputs completes --output of verbs that change only the last-applied configuration.
func targetOutputs(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	fit, directive := mergeOutputs(cmd, args, typed)
	return slices.DeleteFunc(fit, func(c string) bool {
		name, _, _ := strings.Cut(c, "\t")
		p, _ := printerNamed(name)
		return p.merges
	}), directive
}

// mergeOutputs completes --output: after jsonpath= a template follows, and no space.
func mergeOutputs(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	fit := complete.Beginning(outputWords(), typed)
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(fit) == 1 && strings.Contains(fit[0], "=\t") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return fit, directive
}

// server returns the completion of names on the server.
func (e *env) server() *complete.Server {
	return &complete.Server{Flags: e.flags, Connect: e.connect, Quiet: func() {
		hush()
		e.warnings.hush()
	}}
}

func (e *env) flagCompletions() map[string]cobra.CompletionFunc {
	server := e.server()
	return map[string]cobra.CompletionFunc{
		"filename":  complete.Manifests,
		"kustomize": complete.Folders,
		"live":      complete.Manifests,
		"rules":     complete.Manifests,
		"schema":    complete.Manifests,
		"template":  complete.Files,

		"save-rules": complete.Manifests,

		"policy":   complete.Words(append(complete.Policies(), "ask\tasks on the terminal")...),
		"strategy": complete.Words(complete.Strategies()...),
		"original": complete.Originals,
		"dry-run":  complete.Words("client\tprint what would be created or changed, send nothing", "server\thave the server try it, store nothing", "none"),
		"validate": complete.Words("strict\tunknown fields are an error", "warn\tthey are reported", "ignore"),
		"guard":    complete.Words("warn", "refuse\texit 3, nothing is written", "off"),
		"color":    complete.Words("auto\ton a terminal", "always", "never"),
		"notes":    complete.Words("text", "json"),
		"plan":     complete.Manifests,
		"record":   complete.Manifests,
		"wait":     complete.Words("written\tuntil what was written is ready", "all\tuntil all objects are ready", "none"),

		"applyset":           server.Sets(),
		"applyset-namespace": server.Namespaces(),
		"from":               server.Sets(),
		"cascade":            complete.Words("background\tthey are deleted after it", "foreground\tthey are deleted before it", "orphan\tthey stay"),
		"recreate":           server.Kinds(),
		"prune-kinds":        complete.Words("PersistentVolumeClaim", "PersistentVolume"),

		"namespace":  server.Namespaces(),
		"context":    server.Contexts(),
		"cluster":    server.Clusters(),
		"user":       server.Users(),
		"kubeconfig": complete.Files,
		"cache-dir":  complete.Folders,
	}
}
