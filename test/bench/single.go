package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// single is a measurement of its own: what would take too long in rounds, or needs
// another server. Each of its runs is one line.
type single struct {
	field
	lane lane
	runs []measured
	n    int
}

// try is one run of it.
type try struct {
	label string // of the line, "" for one that is not measured
	file  string // program
	args  []string
	code  int            // exit code that it has to have
	words map[string]int // outcome lines that it has to print
	diffs int
}

// do runs it, as often as there are tries, and looks at what was printed.
func (s *single) do(ctx context.Context, tries ...try) error {
	for _, t := range tries {
		s.lane.file = t.file
		before, err := s.server.meter.look(ctx)
		if err != nil {
			return err
		}
		m := measured{Size: s.n, Operation: operation(t.label)}
		state, err := s.run(ctx, &m, s.command(ctx, s.lane, s.config, t.args...))
		if err != nil {
			return err
		}
		if m.Server, err = s.server.meter.since(ctx, before); err != nil {
			return err
		}
		said, err := s.said()
		if err == nil {
			err = t.check(said, state.ExitCode())
		}
		if err != nil {
			return fmt.Errorf("%v: %w\n%s", t.args, err, said.tail)
		}
		if t.label == "" {
			continue
		}
		s.runs = append(s.runs, m)
		fmt.Fprintf(os.Stderr, "%s: %.3f s, cpu %.3f s, %d MB\n", t.label, m.Wall, m.CPU, m.PeakKB>>10)
	}
	return nil
}

func (t try) check(s said, code int) error {
	if code != t.code || s.diffs != t.diffs {
		return fmt.Errorf("exit code %d and %d differences, want %d and %d", code, s.diffs, t.code, t.diffs)
	}
	for word, n := range t.words {
		if s.words[word] != n {
			return fmt.Errorf("%d lines end with %q, want %d", s.words[word], word, n)
		}
	}
	return nil
}

// table is a line for each run.
func (s *single) table() string {
	var b strings.Builder
	b.WriteString("| objects | operation | time | CPU | peak memory | requests | API server CPU | etcd reads | etcd writes |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, m := range s.runs {
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %d MB | %d | %s | %d | %d |\n", m.Size, m.Operation, seconds(m.Wall), seconds(m.CPU), m.PeakKB>>10,
			int(m.Server.Requests), seconds(m.Server.CPU), int(m.Server.Reads), int(m.Server.Writes))
	}
	return b.String()
}

// runSingle measures what -large, -wait and -definitions ask for.
func runSingle(ctx context.Context, o options, dir string) error {
	var serverArgs []string
	if o.wait > 0 {
		serverArgs = []string{"-controllers"}
	}
	server, err := startServer(ctx, dir, serverArgs...)
	if err != nil {
		return err
	}
	defer server.stop()
	facts := factsOf(ctx)
	facts.Server, facts.Network = server.Version, o.network.String()
	s := &single{field: field{options: o, server: server, dir: dir, config: server.Kubeconfig}, lane: lane{home: dir}, n: max(o.large, o.wait, o.definitions)}
	measure := s.large
	switch {
	case o.wait > 0:
		measure = s.waits
	case o.definitions > 0:
		measure = s.definitions
	}
	err = measure(ctx)
	fmt.Printf("Measured once on %s.\n\n%s", facts, s.table())
	return err
}
