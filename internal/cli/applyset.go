package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/prune"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

const applysetLong = `List, view and change sets of applied objects (ApplySets, KEP-3659).

A set is an object, its parent: a Secret, a ConfigMap, or a custom resource whose definition allows
it. Its members carry the parent's id as a label. "kubectl merge -f … --prune --applyset=NAME" makes
a set and deletes the members that are no longer in the input; kubectl apply uses the same sets.`

var _ = registerVerb(verb{
	use: "applyset", short: "List, view and change sets of applied objects", long: applysetLong,
	example: `  kubectl merge applyset list -A
  kubectl merge applyset view shop`,
	takes: func(c *call) error { return unknownVerb(c.cmd, c.args) },
	run:   func(c *call, _ context.Context) error { return c.cmd.Help() },
	below: []verb{
		{
			use: "list", short: "List the sets of a namespace, or of all namespaces",
			long:    "List the sets whose parents are in the namespace, or, with -A, in all: which tool manages them, and the\nkinds and namespaces of their members.",
			example: "  kubectl merge applyset list -A", run: (*call).listSets,
			takes: exactly(0, func(c *call) error {
				return fmt.Errorf("unexpected argument %q: one set is shown by `kubectl merge applyset view %s`", c.args[0], c.args[0])
			}),
		}, {
			use: "view NAME", short: "List the members of a set, and what keeps them from being pruned",
			long:    "List the members of a set and what would happen to each if it were no longer in the input: pruned, or\nkept, and why. Namespaces and CustomResourceDefinitions are kept, too, while they contain anything else.",
			example: "  kubectl merge applyset view shop", takes: oneSet, args: (*complete.Server).OneSet, run: onSet((*setCall).view),
		},
		verifyRow, adoptRow, disbandRow, deleteRow,
	},
})

// oneSet requires one argument: the set.
func oneSet(c *call) error {
	if len(c.args) == 1 && c.set.name == "" {
		return nil
	}
	return fmt.Errorf("name one set: %s", c.cmd.UseLine())
}

// setCall is a call of a verb about one set.
type setCall struct {
	*call
	api *cluster.Cluster // once the set is open
}

// onSet returns the run of a verb about one set.
func onSet(do func(*setCall, context.Context) error) func(*call, context.Context) error {
	return func(c *call, ctx context.Context) error { return do(&setCall{call: c}, ctx) }
}

// open is readSet for the set that the first argument names.
func (v *setCall) open(ctx context.Context, checks ...func(*prune.Set) error) (*prune.Set, error) {
	api, err := v.connect()
	if err != nil {
		return nil, err
	}
	v.set.name, v.api = v.args[0], api
	s, err := v.readSet(ctx, v.set, api, checks...)
	if s != nil {
		s.Note = v.reporter().set()
	}
	return s, err
}

// outcome prints the outcome of an object.
func (v *setCall) outcome(object fmt.Stringer, word string) {
	fmt.Fprintf(v.Out, "%s %s%s\n", escape.Line(object.String()), word, v.mode.suffix())
}

// printRows prints the second column of a table with -o name, value with -o json, else the table.
func (e *call) printRows(rows [][]string, value any) error {
	switch e.output {
	case "json":
		return escape.WriteJSON(e.Out, value, "  ")
	case "name":
		for _, row := range rows[1:] {
			fmt.Fprintln(e.Out, escape.Line(row[1]))
		}
		return nil
	}
	w := tabwriter.NewWriter(e.Out, 0, 8, 3, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(each(row, escape.Line), "\t"))
	}
	return w.Flush()
}

// emit prints a text, unless it could not be made.
func (e *env) emit(text []byte, err error) error {
	if err == nil {
		_, err = e.Out.Write(text)
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
	out.Kinds = append(append(out.Kinds, merge.Texts(l.Parent.Kinds)...), l.Parent.Resources...)
	if l.Err != nil {
		out.Problem = strings.TrimPrefix(l.Err.Error(), l.Target.String()+": ")
	}
	return out
}

func (e *call) listSets(ctx context.Context) error {
	api, err := e.connect()
	if err != nil {
		return err
	}
	ns, err := e.ownNamespace()
	if err != nil {
		return err
	}
	if e.namespaces {
		ns = ""
	}
	found, missing, err := prune.List(ctx, api, ns)
	if err != nil {
		return err
	}
	for _, err := range missing {
		e.note("", oneLine(err.Error()))
	}
	if len(found) == 0 && e.output == "" {
		return e.remark(diff.Note{Kind: noteProblem, Message: "no sets found"}, "No sets found.")
	}
	sets := make([]setRow, len(found))
	rows := [][]string{{"NAMESPACE", "SET", "TOOLING", "KINDS", "NAMESPACES", "PROBLEM"}}
	for i, l := range found {
		s := row(l)
		sets[i] = s
		rows = append(rows, []string{s.Namespace, s.Set, s.Tooling, strings.Join(s.Kinds, ","), strings.Join(s.Namespaces, ","), s.Problem})
	}
	return e.printRows(rows, sets)
}

// memberRow is a member as -o json prints it.
type memberRow struct {
	Namespace string `json:"namespace,omitempty"`
	Object    string `json:"object"`
	Action    string `json:"action"` // the action if no input has it: prune, keep or terminating
	Reason    string `json:"reason,omitempty"`
}

func (v *setCall) view(ctx context.Context) error {
	s, err := v.open(ctx, (*prune.Set).Existing)
	if err != nil {
		return err
	}
	members, decisions, err := s.View(ctx)
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
	return v.printRows(table, rows)
}

var deleteRow = verb{
	use: "delete NAME", short: "Delete the members of a set, and the set",
	long: `Delete all members of a set and then its parent, by the rules of --prune: what is marked to be kept, is
owned, or holds data or anything of others is kept and reported, and the set stays with the remaining members.
It stays, too, while a deleted member waits for its finalizers; --wait waits for that first.
More than 25 objects are deleted only if that is confirmed, on the terminal or with --yes.

Exit code 0: all of it is deleted; 1: an error; 3: something is kept.`,
	example: `  # See what would be deleted
  kubectl merge applyset delete shop --dry-run

  kubectl merge applyset delete shop --wait`,
	takes: oneSet, args: (*complete.Server).OneSet, run: onSet((*setCall).delete),
}

func (v *setCall) delete(ctx context.Context) error {
	s, err := v.open(ctx, (*prune.Set).Existing, (*prune.Set).Writable)
	if err != nil {
		return err
	}
	allowed, err := v.allowed()
	if err != nil {
		return err
	}
	p := &prune.Pruner{Set: s, Allowed: allowed, Propagation: propagations[v.cascade], Disband: true}
	plan := &run.Plan{Job: &run.Job{Pruner: p, Write: cluster.Write{DryRun: v.mode == dryServer}, Concurrency: v.concurrency, Needs: run.Outcomes}}
	h := &holding{api: v.api, types: (&apply.Documents{Fetch: v.api.OpenAPI, Definition: v.api.Definition}).Type, note: s.Note, orphans: v.cascade == "orphan"}
	if v.gone {
		h.until = v.deadline
	}
	plan.Hold = h.hold
	plan.Merge(ctx)
	if err := v.confirm(ctx, plan, "--dry-run"); err != nil {
		return err
	}
	notes := v.reporter()
	if plan.Err == nil {
		v.finish(ctx, plan, plan.Send, func(item *run.Item) {
			switch item.Action() {
			case apply.Delete:
				v.outcome(item.Target, "deleted")
			case apply.Keep:
				notes.kept(item)
			}
		})
	}
	if err := plan.Failed(); err != nil {
		return err
	}
	if v.gone && v.mode == dryNone {
		if err := v.await(ctx, p, plan); err != nil {
			return err
		}
	}
	rest := p.Remaining(ctx, plan)
	if len(rest) == 0 && p.Parent.Exists() && v.mode == dryNone { // it has stayed for what is gone now
		if err := p.End(ctx, plan); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		s.Note(s.Target.String(), fmt.Sprintf("stays until %s is gone, which has the finalizers %s%s: run this again then, or with --wait", rest[0], strings.Join(rest[0].Finalizers, ", "), more(len(rest)-1)))
	}
	if unpruned(plan)+len(rest) > 0 {
		return &exit{Code: conflicted}
	}
	v.outcome(s.Target, "deleted")
	return nil
}

// await waits until objects deleted now or before are gone.
func (v *setCall) await(ctx context.Context, p *prune.Pruner, plan *run.Plan) error {
	if v.timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, v.timeout)
		defer cancel()
		ctx = limited
	}
	leaving := p.Leaving
	for _, item := range run.Deletions(plan.Others) {
		leaving = append(leaving, prune.Member{Member: applyset.Member{GroupKind: item.Target.GroupKind(), UID: item.UID}, Target: item.Target})
	}
	return p.Await(ctx, leaving)
}
