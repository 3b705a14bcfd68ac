package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/term"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// env is the environment of every verb.
type env struct {
	genericiooptions.IOStreams
	flags    *genericclioptions.ConfigFlags
	warnings *warnings
	line     *term.Progress      // nil if progress is not shown
	limit    string              // --request-timeout
	json     bool                // stderr is for programs: --notes=json
	color    string              // --color
	notes    string              // --notes
	profiled string              // --profile
	profile  profile             // the same
	ran      *call               // that reports errors; nil before a command line was read
	signals  *signals            // that end the run; nil in tests
	rename   func(string) string // of the program in texts; nil: it has its own name
	blanked  *redact.Values      // that are blanked in what is collected for standard error; nil: see secretValues
	typed    []string            // the program's own name and the command line; nil: any
}

// says reports whether the command line may have one of the words.
func (e *env) says(words ...string) bool {
	return e.typed == nil || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(e.typed, w) })
}

// completes reports whether the command line may be a shell's request. Only then are completions
// registered, since cobra keeps what is registered, and with it the commands, for ever.
func (e *env) completes() bool {
	return e.says(cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd)
}

func newRoot(e *env) *cobra.Command {
	e.flags = e.connection()
	root := e.command(mergeRow)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl merge"}
	root.SilenceErrors = true
	root.SilenceUsage = true
	e.flags.AddFlags(root.PersistentFlags())
	addLogFlags(root.PersistentFlags())
	for _, f := range rowsOf()["every"] {
		f.declare(&call{env: e, cmd: root}, root.PersistentFlags())
	}
	if e.completes() {
		e.completeShared(root)
	}
	e.style() // of errors in the flags
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		if e.profile, err = profileNamed(cmd.Context(), e.profiled); err == nil {
			err = e.profile.apply(cmd)
		}
		e.json = e.notes == "json" || err != nil && e.json
		// The client library's log lines are kept out of stderr, where others read notes, unless asked
		// for. Errors that it both returns and logs are printed as errors; one that it only logs becomes
		// a warning.
		if !cmd.Flags().Changed("v") && !cmd.Flags().Changed("vmodule") {
			klog.SetLogger(klog.New(logged{e.warnings}))
		}
		if r, ok := e.ErrOut.(*term.Stderr); ok {
			r.Shown, _ = cmd.Flags().GetBool("show-secrets") // most verbs lack it
		}
		// The loader of the connection's flags would treat a timeout as a configuration: a pod without
		// a kubeconfig would not be connected to its own cluster.
		e.limit, e.flags.Timeout = *e.flags.Timeout, nil
		if e.json && !klog.V(1).Enabled() {
			hush() // errors are JSON notes
		}
		// Unlike kubectl: which asks for a user and a password there, too.
		if *e.flags.Password == "" && !(term.IsTerminal(e.In) && term.IsTerminal(e.Out)) {
			e.flags.Password = nil
		}
		e.style()
		if err = cmp.Or(err, swallowed(cmd.Flags()), selects(cmd.Flags())); err != nil {
			return cmd.FlagErrorFunc()(cmd, err)
		}
		return nil
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(e.help)
	for _, v := range verbs {
		root.AddCommand(e.command(v))
	}
	addHelp(root)
	return root
}

// flagError suggests the flag that was probably meant, and says what a missing value is.
func flagError(cmd *cobra.Command, err error) error {
	text, reason := err.Error(), "usage"
	if r := reasonOf(err).name; r != "other" {
		reason = r
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name, _, _ := strings.Cut(cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()), "=") // -dry-run=client
		if name == "field" && strings.Contains(cmd.Use, "FIELD") {
			text += ": fields are arguments, as spec.replicas"
		} else if near := nearestFlag(cmd.Flags(), name); near != "" && len(name) > 1 {
			text += fmt.Sprintf("; did you mean --%s?", near)
		}
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		text += " (" + missing.GetFlag().Usage + ")"
	}
	if strings.HasPrefix(text, `invalid argument "-`) {
		text += ": a flag stands where its value belongs"
	}
	return mark(reason, fmt.Errorf("%s\nSee '%s --help' for usage", unitless.ReplaceAllString(parsing.ReplaceAllStringFunc(text, wanted), "must be a number with a unit: 30s, 5m or 1h"), cmd.CommandPath()))
}

// parsing matches package strconv's report of an invalid flag value.
var parsing = regexp.MustCompile(`strconv\.Parse(Int|Uint|Float|Bool|Atoi): parsing ".*": (invalid syntax|value out of range)`)

// unitless matches package time's report of an invalid duration.
var unitless = regexp.MustCompile(`time: (missing unit in|invalid|unknown unit ".*" in) duration ".*"`)

// wanted returns a readable text for it.
func wanted(text string) string {
	if strings.Contains(text, "ParseBool") {
		return "must be true or false"
	}
	return "must be a whole number"
}

func nearestFlag(flags *pflag.FlagSet, name string) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return suggest.Begun(name, names)
}

// unknownVerb returns an error for arguments where flags were expected.
func unknownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasParent() && suggest.Name(args[0], []string{"apply", "merge"}) != "" {
		verb := ""
		if below, _, err := cmd.Find(args[1:]); err == nil && below != cmd {
			verb = " " + below.Name()
		}
		return fmt.Errorf("leave out %q, since %s applies by itself; did you mean `%s%s -f FILE`?", args[0], cmd.CommandPath(), cmd.CommandPath(), verb)
	}
	text, meant := unknown(cmd, args[0])
	if slices.Contains(kubectls, args[0]) && !cmd.HasParent() {
		text, _, _ = strings.Cut(text, ";")
		text += fmt.Sprintf("; did you mean `kubectl %s`?", args[0])
		switch args[0] {
		case "delete":
			text += " A set is deleted with kubectl merge applyset delete NAME"
		case "edit":
			text += " What was applied last is edited with kubectl merge edit-last-applied"
		}
		return errors.New(text)
	}
	if cmd.Name() == "applyset" && (args[0] == "remove" || args[0] == "rm") {
		text += `: "disband" takes all objects out of a set, "delete" deletes them; one leaves with kubectl label TYPE/NAME ` + lastapplied.PartOf + "-"
	}
	if flag := cmd.Flags().Lookup(args[0]); !meant && flag != nil && !flag.Hidden {
		return fmt.Errorf("%s; it is a flag: --%s\nSee '%s --help' for usage", text, args[0], cmd.CommandPath())
	}
	if f := cmd.Flags().Lookup("filename"); !meant && f != nil && (!f.Changed || strings.ContainsAny(args[0], "./")) { // a second file
		_, err := os.Stat(args[0])
		switch text += "; files are given with -f"; {
		case f.Changed:
			text += ", each with its own, and a pattern in quotes: -f '*.yaml'; single fields are for explain, absorb and disown"
		case err != nil && strings.Contains(args[0], "/"):
			text += fmt.Sprintf(", and an object is compared with kubectl merge diff %s", args[0])
		}
	}
	return fmt.Errorf("%s\nSee '%s --help' for usage", text, cmd.CommandPath())
}

// unknown returns the text about an unknown command; meant states that it suggests one.
func unknown(cmd *cobra.Command, name string) (text string, meant bool) {
	available := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
	names := object.Each(available, (*cobra.Command).Name)
	text = fmt.Sprintf("unknown command %q for %q", name, cmd.CommandPath())
	near := suggest.Begun(cmp.Or(elsewhere[name], name), names)
	if near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text, near != ""
}

// kubectls are commands of kubectl, of which users expect one here.
var kubectls = []string{"annotate", "create", "delete", "describe", "edit", "get", "label", "logs", "patch", "replace", "rollout", "scale", "set"}

// elsewhere maps what other tools call a verb to its name.
var elsewhere = map[string]string{"rollback": "undo", "revert": "undo", "ls": "list", "get": "list", "plan": "diff", "preview": "diff", "last-applied": "view-last-applied", "status": "drift", "show": "view"}

// addHelp adds cobra's command help. For an unknown command, cobra prints the root's help, and
// succeeds: here that is an error.
func addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Run, cmd.RunE = nil, helpOf
		}
	}
}

// helpOf prints the help of the command that the arguments name.
func helpOf(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		text, _ := unknown(cmd, rest[0])
		return fmt.Errorf("%s\nSee '%s --help' for usage", text, cmd.CommandPath())
	}
	cmd.InitDefaultHelpFlag() // as cobra itself does
	return cmd.Help()
}

// Lists the flags that every command takes, as kubectl options does. Like there, the help names it
// below the commands and not among them.
var _ = registerVerb(verb{use: "options", short: "List the flags that every command takes", hidden: true, run: func(c *call, _ context.Context) error {
	_ = c.cmd.Flags().Set("help", flagGroups[len(flagGroups)-1].Key)
	return c.cmd.Help()
}})
