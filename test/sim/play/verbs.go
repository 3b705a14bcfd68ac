package play

import (
	"fmt"
	"slices"
)

// command is the row of a verb.
type command struct {
	args   []string // FILE, RECORD, PLAN and their like stand for paths
	page   string   // the row of docs/permissions.md
	writes bool
	input  bool // it takes -f, and the set
	set    bool // it is about the set
	owners bool // it writes who owns what, or what was applied last, and no value
	codes  []int
}

// verbs are the command lines that are played.
var verbs = map[string]command{
	"merge":    {input: true, writes: true, page: "kubectl merge -f FILE", codes: []int{0, 1, 3}},
	"record":   {input: true, writes: true, args: []string{"--record", "RECORD"}, page: "kubectl merge -f FILE --record RECORD", codes: []int{0, 1, 3}},
	"wait":     {input: true, writes: true, args: []string{"--wait", "--timeout=90s"}, page: "kubectl merge -f FILE", codes: []int{0, 1, 3, 4}},
	"rollback": {input: true, writes: true, args: []string{"--wait", "--timeout=90s", "--rollback-on-failure", "--record", "RECORD"}, page: "kubectl merge undo RECORD", codes: []int{0, 1, 3, 4}},
	"diff":     {input: true, args: []string{"diff"}, page: "kubectl merge diff -f FILE", codes: []int{0, 1, 2, 3}},
	"drift":    {args: []string{"drift", "-f", "FILE"}, page: "kubectl merge drift -f FILE", codes: []int{0, 1, 2}},
	"watch":    {args: []string{"drift", "-f", "FILE", "--watch", "--timeout=60s"}, page: "kubectl merge drift -f FILE", codes: []int{0, 1, 2}},
	"absorb":   {args: []string{"absorb", "-f", "FILE"}, page: "kubectl merge absorb -f FILE", codes: []int{0, 1, 2}},
	"view":     {set: true, args: []string{"applyset", "view", "secrets/" + set}, page: "kubectl merge applyset view configmaps/NAME", codes: []int{0, 1}},
	"verify":   {set: true, writes: true, args: []string{"applyset", "verify", "secrets/" + set, "--fix"}, page: "kubectl merge applyset verify configmaps/NAME --fix", codes: []int{0, 1}},
	"adopt":    {set: true, writes: true, args: []string{"applyset", "adopt", "secrets/" + set, "configmap/theirs"}, page: "kubectl merge applyset adopt configmaps/NAME TYPE/NAME", codes: []int{0, 1}},
	"disband":  {set: true, writes: true, args: []string{"applyset", "disband", "secrets/" + set}, page: "kubectl merge applyset disband configmaps/NAME", codes: []int{0, 1, 3}},
	"delete":   {set: true, writes: true, args: []string{"applyset", "delete", "secrets/" + set, "--yes"}, page: "kubectl merge applyset delete configmaps/NAME", codes: []int{0, 1, 3}},
	"plan":     {input: true, args: []string{"diff", "-o", "plan"}, page: "kubectl merge diff -f FILE -o plan", codes: []int{0, 1, 2, 3}},
	"bound":    {input: true, writes: true, args: []string{"--plan", "PLAN"}, page: "kubectl merge -f FILE --plan PLAN", codes: []int{0, 1, 3}},
	"undo":     {writes: true, args: []string{"undo", "RECORD"}, page: "kubectl merge undo RECORD", codes: []int{0, 1, 3}},
	"finish":   {input: true, writes: true, args: []string{"--force-conflicts"}, page: "kubectl merge -f FILE", codes: []int{0, 3}},
	"migrate":  {writes: true, owners: true, args: []string{"migrate", "-f", "FILE", "--to=client-side"}, page: "kubectl merge migrate -f FILE --to=server-side", codes: []int{0, 1, 3}},
	"modern":   {writes: true, owners: true, args: []string{"migrate", "-f", "FILE", "--to=server-side"}, page: "kubectl merge migrate -f FILE --to=server-side", codes: []int{0, 1, 3}},
	"sets":     {writes: true, owners: true, args: []string{"set-last-applied", "-f", "FILE", "--create-annotation"}, page: "kubectl merge set-last-applied -f FILE", codes: []int{0, 1}},
	"disown":   {writes: true, owners: true, args: []string{"disown", "configmap/a", "data.v"}, page: "kubectl merge disown TYPE/NAME FIELD", codes: []int{0, 1, 3}},
	"edit":     {writes: true, owners: true, args: []string{"edit-last-applied", "configmap/a"}, page: "kubectl merge edit-last-applied TYPE/NAME", codes: []int{0, 1}},
	"applied":  {args: []string{"view-last-applied", "configmap/a"}, page: "kubectl merge view-last-applied TYPE/NAME", codes: []int{0, 1}},
	"explain":  {input: true, args: []string{"explain"}, page: "kubectl merge explain -f FILE", codes: []int{0, 1, 3}},
	"awaits":   {args: []string{"wait", "-f", "FILE", "--timeout=90s"}, page: "kubectl merge wait -f FILE", codes: []int{0, 1, 4}},
	"sets-all": {set: true, args: []string{"applyset", "list"}, page: "kubectl merge applyset list", codes: []int{0, 1}},
	"take":     {args: []string{"absorb", "-f", "FILE", "-w"}, page: "kubectl merge absorb -f FILE", codes: []int{0, 1, 2}},
}

// line is the command line of a step.
func (w *world) line(s Step) []string {
	c := verbs[s.Verb]
	args := slices.Clone(c.args)
	if c.input {
		args = append(args, "-f", "FILE")
		if w.Prune {
			args = append(args, "--prune", "--applyset="+set)
			if c.writes {
				args = append(args, "--yes")
			}
		}
		if w.Server {
			args = append(args, "--server-side")
		}
	}
	if c.writes && !c.set && !c.owners {
		args = append(args, fmt.Sprint("--concurrency=", s.Concurrency))
	}
	for i, arg := range args {
		switch arg {
		case "FILE":
			args[i] = w.path(fmt.Sprintf("v%d.yaml", s.File))
		case "RECORD":
			args[i] = w.path("record.yaml")
		case "PLAN":
			args[i] = w.path("plan.yaml")
		}
	}
	return append(args, "--server=http://sim", "-n", namespace)
}
