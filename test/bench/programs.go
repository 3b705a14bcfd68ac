package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// operation is what is measured.
type operation string

// The operations, in the order in which they are done: the first makes the
// objects, the last writes the changes that those before it only look at.
const (
	create    operation = "create"
	unchanged operation = "unchanged"
	diff      operation = "diff"
	planned   operation = "diff -o plan"
	dryClient operation = "dry-run=client"
	dryServer operation = "dry-run=server"
	change    operation = "changed"

	makeSet  operation = "create a set" // of other objects, of ten kinds
	plainSet operation = "unchanged without a set"
	inSet    operation = "unchanged in a set" // with --prune
)

var all = []operation{create, unchanged, diff, planned, dryClient, dryServer, change, makeSet, plainSet, inSet}

// ofSet says whether the operation is about the objects that are in a set.
func (op operation) ofSet() bool { return op == makeSet || op == plainSet || op == inSet }

// program is one column of the table.
type program struct {
	key       string // short, part of names
	label     string
	file      string
	peer      bool        // not ours
	only      []operation // none: all of them
	arguments func(op operation, file string) []string
}

// does says whether the program is measured at this.
func (p program) does(op operation, n int, o options) bool {
	if op.ofSet() && (n == 1 || n > o.setsTo || p.key == "s") || (op == plainSet || op == planned) && p.peer { // kubectl would take the objects out of the set
		return false
	}
	return (len(p.only) == 0 || slices.Contains(p.only, op)) && (p.key != "s" || n <= o.ssaTo)
}

// programs are the columns, in the order in which they take turns.
func programs(merge, kubectl string) []program {
	ours := func(more ...string) func(operation, string) []string {
		return func(op operation, file string) []string {
			switch op {
			case diff:
				return []string{"diff", "-f", file}
			case planned:
				return []string{"diff", "-f", file, "-o", "plan"}
			case dryClient, dryServer:
				return []string{"-f", file, "--" + string(op)}
			}
			return append([]string{"-f", file}, more...)
		}
	}
	theirs := func(more ...string) func(operation, string) []string {
		return func(op operation, file string) []string {
			switch op {
			case diff:
				return []string{"diff", "-f", file}
			case dryClient, dryServer:
				return []string{"apply", "-f", file, "--" + string(op)}
			}
			return append([]string{"apply", "-f", file}, more...)
		}
	}
	return []program{
		{key: "m", label: "kubectl merge", file: merge, arguments: ours()},
		{key: "k", label: "kubectl apply", file: kubectl, peer: true, arguments: theirs()},
		{key: "p", label: "kubectl merge --preflight=false", file: merge, only: []operation{create, change}, arguments: ours("--preflight=false")},
		{key: "s", label: "kubectl apply --server-side", file: kubectl, peer: true, only: []operation{create, unchanged, change}, arguments: theirs("--server-side")},
	}
}

// said is what a run printed, as far as it bears on whether it did its work.
type said struct {
	words map[string]int // outcome lines by their last words
	diffs int            // objects shown by a diff, or in a plan
	tail  string         // the last lines, for errors
}

// outcomes are how outcome lines end. What stands last here is looked for first:
// it ends like those before it.
var outcomes = []string{" created", " configured", " unchanged", " serverside-applied",
	" (dry run)", " (server dry run)"}

func read(file string) (said, error) {
	s := said{words: map[string]int{}}
	f, err := os.Open(file)
	if err != nil {
		return s, err
	}
	defer f.Close()
	var last []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		for _, word := range outcomes {
			if strings.HasSuffix(line, word) {
				s.words[word]++
			}
		}
		if strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "- action: ") {
			s.diffs++
		}
		if last = append(last, line); len(last) > 10 {
			last = last[1:]
		}
	}
	s.tail = strings.Join(last, "\n")
	return s, lines.Err()
}

// check is an error unless a run of n objects ended, and said, as it has to.
func (p program) check(op operation, n, code int, s said) error {
	changes := changesOf(n)
	want := map[string]int{}
	switch {
	case op == diff, op == planned:
		if code != 1 || s.diffs != changes {
			return fmt.Errorf("exit code %d and %d differences, want 1 and %d", code, s.diffs, changes)
		}
		return nil
	case op == dryClient:
		want[" (dry run)"] = n
	case op == dryServer:
		want[" (server dry run)"] = n
	case p.key == "s":
		want[" serverside-applied"] = n
	case op == create, op == makeSet:
		want[" created"] = n
	case op == unchanged, op.ofSet():
		want[" unchanged"] = n
	case op == change:
		want[" configured"], want[" unchanged"] = changes, n-changes
	}
	if code != 0 {
		return fmt.Errorf("exit code %d", code)
	}
	for _, word := range outcomes {
		if s.words[word] != want[word] {
			return fmt.Errorf("%d lines end with %q, want %d", s.words[word], word, want[word])
		}
	}
	return nil
}
