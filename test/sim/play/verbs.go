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
	"plan":     {input: true, args: []string{"diff", "-o", "plan"}, page: "kubectl merge diff -f FILE -o plan", codes: []int{0, 1, 2, 3}},
	"bound":    {input: true, writes: true, args: []string{"--plan", "PLAN"}, page: "kubectl merge -f FILE --plan PLAN", codes: []int{0, 1, 3}},
	"undo":     {writes: true, args: []string{"undo", "RECORD"}, page: "kubectl merge undo RECORD", codes: []int{0, 1, 3}},
	"finish":   {input: true, writes: true, args: []string{"--force-conflicts"}, page: "kubectl merge -f FILE", codes: []int{0, 3}},
	"migrate":  {writes: true, args: []string{"migrate", "-f", "FILE", "--to=client-side"}, page: "kubectl merge migrate -f FILE --to=server-side", codes: []int{0, 1, 3}},
}

// line is the command line of a step.
func (w *world) line(s Step) []string {
	c := verbs[s.Verb]
	args := slices.Clone(c.args)
	if c.input {
		args = append(args, "-f", "FILE")
		if w.Prune {
			args = append(args, "--prune", "--applyset="+set)
			if s.Verb != "diff" && s.Verb != "plan" {
				args = append(args, "--yes")
			}
		}
		if w.Server {
			args = append(args, "--server-side")
		}
	}
	if c.writes && s.Verb != "migrate" {
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
	return append(args, "--server=http://sim", "-n", namespace, "--cache-dir="+w.cache)
}
