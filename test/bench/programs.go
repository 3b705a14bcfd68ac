package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// operation is a measured operation.
type operation string

// The operations, in the order in which they are done: the first makes the
// objects, and change writes the changes that those before it only look at.
const (
	create    operation = "create"
	unchanged operation = "unchanged"
	gets      operation = "one GET each" // by the bare loop alone: what lists spare
	diff      operation = "diff"
	planned   operation = "diff -o plan"
	drifting  operation = "drift"
	dryClient operation = "dry-run=client"
	dryServer operation = "dry-run=server"
	change    operation = "changed"
	bound     operation = "changed back by --plan"

	makeSet  operation = "create a set" // of other objects, of ten kinds
	plainSet operation = "unchanged without a set"
	inSet    operation = "unchanged in a set" // with --prune
)

var all = []operation{create, unchanged, gets, diff, planned, drifting, dryClient, dryServer, change, bound, makeSet, plainSet, inSet}

// ofSet says whether the operation is about the objects that are in a set.
func (op operation) ofSet() bool { return op == makeSet || op == plainSet || op == inSet }

// program is one column of the table, or of some of its rows.
type program struct {
	key       string // short, part of names
	label     string
	file      string
	peer      bool // not ours
	only      []operation
	arguments func(op operation, l lane) []string
}

// The programs.
const (
	ours       = "m"
	oursBare   = "p" // without preflight
	oursServer = "q" // --server-side
	oursDirect = "r" // --server-side, without preflight
	kubectl    = "k"
	kubectlSSA = "s" // --server-side
	loop       = "f" // test/bench/floor
)

// does says whether the program is measured at this.
func (p program) does(op operation, n int, o options) bool {
	switch {
	case !slices.Contains(p.only, op), op.ofSet() && (n == 1 || n > o.setsTo):
		return false
	case p.key == kubectlSSA, p.key == oursServer, p.key == oursDirect:
		return n <= o.ssaTo
	}
	return true
}

// programs are the columns, in the order in which they take turns.
func programs(merge, peer, floor string) []program {
	writes := []operation{create, change}
	reads := []operation{create, unchanged, change}
	return []program{
		{ours, "kubectl merge", merge, false, without(gets), ourArguments()},
		// kubectl would take the objects of the set out of it
		{kubectl, "kubectl apply", peer, true, without(gets, planned, drifting, bound, plainSet), theirArguments()},
		{loop, "bare loop", floor, false, without(planned, drifting, dryClient, diff, inSet), floorArguments},
		{oursBare, "kubectl merge --preflight=false", merge, false, writes, ourArguments("--preflight=false")},
		{kubectlSSA, "kubectl apply --server-side", peer, true, reads, theirArguments("--server-side")},
		{oursServer, "kubectl merge --server-side", merge, false, reads, ourArguments("--server-side")},
		{oursDirect, "kubectl merge --server-side --preflight=false", merge, false, writes, ourArguments("--server-side", "--preflight=false")},
	}
}

// without are all operations but some.
func without(ops ...operation) []operation {
	return slices.DeleteFunc(slices.Clone(all), func(op operation) bool { return slices.Contains(ops, op) })
}

func ourArguments(more ...string) func(operation, lane) []string {
	return func(op operation, l lane) []string {
		file := l.objects(op)
		switch op {
		case diff:
			return []string{"diff", "-f", file}
		case planned:
			return []string{"diff", "-f", file, "-o", "plan"}
		case drifting:
			return []string{"drift", "-f", file}
		case dryClient, dryServer:
			return []string{"-f", file, "--" + string(op)}
		case bound:
			return []string{"-f", file, "--plan", l.plan()}
		case makeSet, inSet:
			return []string{"-f", file, "--prune", "--applyset=configmaps/set", "--applyset-namespace=" + namespacesOf(l.name, l.n)[0]}
		}
		return append([]string{"-f", file}, more...)
	}
}

func theirArguments(more ...string) func(operation, lane) []string {
	return func(op operation, l lane) []string {
		file := l.objects(op)
		switch op {
		case diff:
			return []string{"diff", "-f", file}
		case dryClient, dryServer:
			return []string{"apply", "-f", file, "--" + string(op)}
		case makeSet, inSet: // a parent that has a namespace holds, for kubectl, the members of that one alone
			return []string{"apply", "-f", file, "--prune", "--applyset=bundles.bench.example.com/" + l.name}
		}
		return append([]string{"apply", "-f", file}, more...)
	}
}

func floorArguments(op operation, l lane) []string {
	verb := map[operation]string{create: "create", makeSet: "create", gets: "get", dryServer: "try", change: "patch", bound: "patch"}[op]
	if verb == "" {
		verb = "list"
	}
	return []string{verb, l.objects(op)}
}

// said is the output of a run, as far as it shows whether the run did its work.
type said struct {
	words map[string]int // outcome lines by their last words
	diffs int            // objects shown by a diff, in a plan, or as drifted
	tail  string         // the last lines, for errors
}

// outcomes are how outcome lines end. What stands last here is looked for first:
// it ends like those before it.
var outcomes = []string{" created", " configured", " unchanged", " serverside-applied", " ready", " successfully rolled out",
	" (dry run)", " (server dry run)"}

// drifted is a row of drift: namespace and object.
var drifted = regexp.MustCompile(`^(\S+ +\S+) +changed +`)

// read reads what a run has printed, its stdout and stderr.
func read(files ...string) (said, error) {
	s := said{words: map[string]int{}}
	for _, file := range files {
		if err := s.add(file); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *said) add(file string) error {
	objects := map[string]bool{}
	f, err := os.Open(file)
	if err != nil {
		return err
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
		if row := drifted.FindStringSubmatch(line); row != nil {
			objects[row[1]] = true
		}
		if last = append(last, line); len(last) > 10 {
			last = last[1:]
		}
	}
	s.tail += strings.Join(last, "\n") + "\n"
	s.diffs += len(objects)
	return lines.Err()
}

// check is an error unless a run of n objects ended, and said, as it has to.
func (p program) check(op operation, n, code int, s said) error {
	if op == diff || op == planned || op == drifting {
		if changes := changesOf(n); code != 1 || s.diffs != changes {
			return fmt.Errorf("exit code %d and %d differences, want 1 and %d", code, s.diffs, changes)
		}
		return nil
	}
	if code != 0 {
		return fmt.Errorf("exit code %d", code)
	}
	want := p.words(op, n)
	for _, word := range outcomes {
		if s.words[word] != want[word] {
			return fmt.Errorf("%d lines end with %q, want %d", s.words[word], word, want[word])
		}
	}
	return nil
}

// words are how many outcome lines end with which word.
func (p program) words(op operation, n int) map[string]int {
	changes := changesOf(n)
	switch {
	case p.key == loop && (op == change || op == bound): // it has nothing but the patches
		return map[string]int{" configured": changes}
	case p.key == loop && op == dryServer:
		return map[string]int{" (server dry run)": changes}
	case op == dryClient:
		return map[string]int{" (dry run)": n}
	case op == dryServer:
		return map[string]int{" (server dry run)": n}
	case p.key == kubectlSSA, p.key == oursServer && op != unchanged, p.key == oursDirect:
		return p.serverSide(op, n)
	case op == create, op == makeSet:
		return map[string]int{" created": n}
	case op == change, op == bound:
		return map[string]int{" configured": changes, " unchanged": n - changes}
	}
	return map[string]int{" unchanged": n}
}

// serverSide are the words of server-side apply: kubectl has one for whatever it did.
func (p program) serverSide(op operation, n int) map[string]int {
	if p.key != kubectlSSA && op == change {
		return map[string]int{" serverside-applied": changesOf(n), " unchanged": n - changesOf(n)}
	}
	return map[string]int{" serverside-applied": n}
}
