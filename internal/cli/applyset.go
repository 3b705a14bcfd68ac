package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

const applysetLong = `List, view and change sets of applied objects (ApplySets, KEP-3659).

A set is an object, its parent: a Secret, a ConfigMap, or a custom resource whose definition allows
it. Its members carry the parent's id as a label. "kubectl merge -f … --prune --applyset=NAME" makes
a set and deletes the members that are no longer in the input; kubectl apply uses the same sets.`

var _ = registerVerb(verb{open: newApplyset, args: noArgs, below: []verb{
	{open: newSetList, args: noArgs, flags: map[string]cobra.CompletionFunc{"output": complete.Words("name", "json")}},
	{open: newSetView, args: setArgs, flags: map[string]cobra.CompletionFunc{"output": complete.Words("name", "json")}},
	{open: newSetVerify, args: setArgs},
	{open: newSetAdopt, args: func(e *env) cobra.CompletionFunc { return e.server().SetOrObject() }},
	{open: newSetDisband, args: setArgs},
	{open: newSetDelete, args: setArgs, flags: deleteFlags},
}})

// setArgs completes the name of a set.
func setArgs(e *env) cobra.CompletionFunc { return complete.FirstOnly(e.server().Sets()) }

// newApplyset returns the verb; its sub-verbs have rows of their own.
func newApplyset(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "applyset",
		Short: "List, view and change sets of applied objects",
		Long:  applysetLong,
		Example: `  kubectl merge applyset list -A
  kubectl merge applyset view shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args)
			}
			return cmd.Help()
		},
	}
}

// oneSet requires one argument: the set.
func oneSet(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("name one set: %s", cmd.UseLine())
}

// membersVerb is the common part of the verbs about one set.
type membersVerb struct {
	*env
	setFlags
	concurrency int
	dryRun      dryRunFlag
	quiet       bool

	api *cluster.Cluster // once the set is open
}

func (v *membersVerb) add(flags *pflag.FlagSet) {
	flags.StringVar(&v.namespace, "applyset-namespace", "", "namespace of the set's parent (default: that of -n or the context)")
	flags.IntVar(&v.concurrency, "concurrency", parallel.Limit, "requests under way at once")
	flags.BoolVarP(&v.quiet, "quiet", "q", false, "report errors only, no notes")
}

// open reads the set that the argument names.
func (v *membersVerb) open(ctx context.Context, name string) (*prune.Set, error) {
	api, err := v.connect()
	if err != nil {
		return nil, err
	}
	v.name, v.api = name, api
	s, err := v.read(ctx, v.env, api)
	if s != nil {
		s.Note = v.reporter(v.quiet).set()
	}
	return s, err
}

// existingSet is open for a set that must exist.
func (v *membersVerb) existingSet(ctx context.Context, name string) (*prune.Set, error) {
	s, err := v.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return s, s.Existing()
}

// line prints the outcome of an object.
func (v *membersVerb) line(object fmt.Stringer, word string, mode dryRun) {
	fmt.Fprintf(v.Out, "%s %s%s\n", escape.Line(object.String()), word, mode.suffix())
}

// table prints rows with aligned columns.
func (e *env) table(rows [][]string) error {
	w := tabwriter.NewWriter(e.Out, 0, 8, 3, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = escape.Line(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// printJSON prints a value for programs.
func (e *env) printJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(e.Out, "%s\n", escape.JSON(text))
	}
	return err
}

// setRow is a set as -o json prints it.
type setRow struct {
	Namespace  string   `json:"namespace,omitempty"`
	Set        string   `json:"set"`
	ID         string   `json:"id"`
	Tooling    string   `json:"tooling"`
	Kinds      []string `json:"kinds"`
	Namespaces []string `json:"namespaces"`
	Problem    string   `json:"problem,omitempty"`
}

func row(l prune.Listed) setRow {
	out := setRow{Namespace: l.Target.Namespace, Set: l.Target.String(), ID: l.Parent.ID(), Tooling: l.Parent.Tooling, Kinds: []string{}, Namespaces: append([]string{}, l.Parent.AllNamespaces()...)}
	for _, gk := range l.Parent.Kinds {
		out.Kinds = append(out.Kinds, gk.String())
	}
	out.Kinds = append(out.Kinds, l.Parent.Resources...)
	if l.Err != nil {
		out.Problem = strings.TrimPrefix(l.Err.Error(), l.Target.String()+": ")
	}
	return out
}

func newSetList(e *env) *cobra.Command {
	var (
		all    bool
		output string
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sets of a namespace, or of all namespaces",
		Long:    "List the sets whose parents are in the namespace, or, with -A, in all: which tool manages them, and the\nkinds and namespaces of their members.",
		Example: "  kubectl merge applyset list -A",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return e.listSets(cmd.Context(), all, output) },
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "the sets of all namespaces")
	cmd.Flags().StringVarP(&output, "output", "o", "", "name or json")
	return cmd
}

func (e *env) listSets(ctx context.Context, all bool, output string) error {
	if output != "" && output != "name" && output != "json" {
		return fmt.Errorf("--output=%s: must be name or json", output)
	}
	api, err := e.connect()
	if err != nil {
		return err
	}
	ns, err := e.ownNamespace()
	if err != nil {
		return err
	}
	if all {
		ns = ""
	}
	found, missing, err := prune.List(ctx, api, ns)
	if err != nil {
		return err
	}
	for _, err := range missing {
		e.note("", oneLine(err.Error()))
	}
	sets := make([]setRow, len(found))
	for i, l := range found {
		sets[i] = row(l)
	}
	switch {
	case output == "json":
		return e.printJSON(sets)
	case output == "name":
		for _, s := range sets {
			fmt.Fprintln(e.Out, escape.Line(s.Set))
		}
		return nil
	case len(sets) == 0:
		return e.remark(diff.Note{Kind: noteProblem, Message: "no sets found"}, "No sets found.")
	}
	rows := [][]string{{"NAMESPACE", "SET", "TOOLING", "KINDS", "NAMESPACES", "PROBLEM"}}
	for _, s := range sets {
		rows = append(rows, []string{s.Namespace, s.Set, s.Tooling, strings.Join(s.Kinds, ","), strings.Join(s.Namespaces, ","), s.Problem})
	}
	return e.table(rows)
}

// memberRow is a member as -o json prints it.
type memberRow struct {
	Namespace string `json:"namespace,omitempty"`
	Object    string `json:"object"`
	Action    string `json:"action"` // the action if no input has it: prune, keep or terminating
	Reason    string `json:"reason,omitempty"`
}

func newSetView(e *env) *cobra.Command {
	v := &membersVerb{env: e}
	var output string
	cmd := &cobra.Command{
		Use:     "view NAME",
		Short:   "List the members of a set, and what keeps them from being pruned",
		Long:    "List the members of a set and what would happen to each if it were no longer in the input: pruned, or\nkept, and why. Namespaces and CustomResourceDefinitions are kept, too, while they contain anything else.",
		Example: "  kubectl merge applyset view shop",
		Args:    oneSet,
		RunE:    func(cmd *cobra.Command, args []string) error { return v.view(cmd.Context(), args[0], output) },
	}
	v.add(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "", "name or json")
	return cmd
}

func (v *membersVerb) view(ctx context.Context, name, output string) error {
	if output != "" && output != "name" && output != "json" {
		return fmt.Errorf("--output=%s: must be name or json", output)
	}
	s, err := v.existingSet(ctx, name)
	if err != nil {
		return err
	}
	members, decisions, err := s.View(ctx, v.concurrency)
	if err != nil {
		return err
	}
	rows := make([]memberRow, len(members))
	table := [][]string{{"NAMESPACE", "OBJECT", "IF NOT IN THE INPUT"}}
	for i, m := range members {
		rows[i] = memberRow{Namespace: m.Namespace, Object: m.String(), Action: "prune"}
		text := "pruned"
		switch d := decisions[i]; d.Action {
		case applyset.Keep:
			rows[i].Action, rows[i].Reason, text = "keep", d.Reason, "kept: "+d.Reason
		case applyset.Terminating:
			rows[i].Action, rows[i].Reason, text = "terminating", d.Reason, d.Reason
		}
		table = append(table, []string{m.Namespace, m.String(), text})
	}
	switch output {
	case "json":
		return v.printJSON(rows)
	case "name":
		for _, m := range members {
			fmt.Fprintln(v.Out, escape.Line(m.String()))
		}
		return nil
	}
	return v.table(table)
}
