// Command bench measures kubectl-merge beside kubectl on the throw-away server of
// ../cluster: the same objects, in turns, in one run. It refuses to count a run
// that failed, or that did not do what it was to do.
//
//	go run ./test/bench [flags]
//
// The figures are wall time, CPU time and peak memory of the child process, and the
// requests that it sent, which are counted in rounds of their own, since a proxy
// takes time. It links the standard library alone: on Linux a child's peak memory
// begins with that of the process that starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
)

// options are the command line.
type options struct {
	sizes      []int
	operations []operation
	rounds     map[int]int
	count      bool // requests are counted
	countTo    int  // sizes beyond are not counted for kubectl
	ssaTo      int  // sizes beyond are not measured for kubectl apply --server-side
	setsTo     int  // sizes beyond are not measured in sets
	kubectl    bool // kubectl is measured too
	kubectlTo  int  // sizes beyond are measured for ours alone
	peerRounds int  // rounds beyond are not measured for kubectl
	startup    bool // only the start-up is measured
	network    network
	large      int // so many objects are measured, once, and nothing else
	wait       int // waiting for so many Deployments is measured, and nothing else

	definitions int // the upgrade of so many CustomResourceDefinitions is measured, and nothing else

	merge string // our program; "" builds it
	floor string // the bare loop
	json  string // file for the raw figures
	write bool   // into README.md and docs/performance.md
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		err = run(ctx, o)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parse reads the command line; what is wrong with a flag has been reported on stderr.
func parse(args []string) (options, error) {
	o := options{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	sizes := f.String("sizes", "1,100,1000,5000", "`numbers` of objects")
	rounds := f.String("rounds", "1:5,100:3,1000:2,5000:1", "rounds for each size, `size:rounds,...`; 1 where none is given")
	operations := f.String("operations", strings.Join(names(all), ","), "what is done, in this order")
	f.BoolVar(&o.count, "count", true, "count requests too, in a round of its own for each size")
	f.IntVar(&o.countTo, "count-to", 1000, "the largest size at which kubectl's requests are counted")
	f.IntVar(&o.ssaTo, "server-side-to", 1000, "the largest size at which kubectl apply --server-side is measured too")
	f.IntVar(&o.setsTo, "sets-to", 1000, "the largest size at which a set of objects is measured too, beyond 1")
	f.BoolVar(&o.kubectl, "kubectl", true, "measure kubectl too")
	f.IntVar(&o.kubectlTo, "kubectl-to", 5000, "the largest size at which kubectl is measured too")
	f.IntVar(&o.peerRounds, "kubectl-rounds", 3, "rounds that kubectl is measured in, of those that there are")
	slow := f.String("network", "", "put a slow line before the server: `TIME,MBIT` of a round trip and in a second (50ms,10)")
	f.IntVar(&o.large, "large", 0, "measure nothing but so many objects, once, without kubectl")
	f.IntVar(&o.wait, "wait", 0, "measure nothing but waiting for so many Deployments, with controllers")
	f.IntVar(&o.definitions, "definitions", 0, "measure nothing but upgrades of so many CustomResourceDefinitions")
	f.BoolVar(&o.startup, "startup", false, "measure nothing but the runs that have next to nothing to do")
	f.StringVar(&o.merge, "merge", "", "a kubectl-merge that is built already")
	f.StringVar(&o.json, "o", "", "`file` for the raw figures, as JSON")
	f.BoolVar(&o.write, "write", false, "put the table into docs/performance.md and README.md")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.sizes, err = numbers(*sizes); err != nil {
		return o, fmt.Errorf("-sizes: %w", err)
	}
	if o.network, err = networkOf(*slow); err != nil {
		return o, fmt.Errorf("-network: %w", err)
	}
	if o.rounds, err = roundsOf(*rounds); err != nil {
		return o, fmt.Errorf("-rounds: %w", err)
	}
	for _, name := range strings.Split(*operations, ",") {
		if !slices.Contains(all, operation(name)) {
			return o, fmt.Errorf("-operations: %q: there are %s", name, strings.Join(names(all), ", "))
		}
		o.operations = append(o.operations, operation(name))
	}
	return o, nil
}

func numbers(text string) ([]int, error) {
	var out []int
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number above 0", s)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func roundsOf(text string) (map[int]int, error) {
	out := map[int]int{}
	for _, pair := range strings.Split(text, ",") {
		size, rounds, _ := strings.Cut(pair, ":")
		n, err := strconv.Atoi(size)
		times, err2 := strconv.Atoi(rounds)
		if err != nil || err2 != nil || n < 1 || times < 1 {
			return nil, fmt.Errorf("%q is not size:rounds", pair)
		}
		out[n] = times
	}
	return out, nil
}

func names(ops []operation) []string {
	var out []string
	for _, op := range ops {
		out = append(out, string(op))
	}
	return out
}

// run measures, and reports: the table on stdout, how it goes on stderr.
func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "kubectl-merge-bench-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.merge == "" {
		if o.merge, err = build(ctx, dir, "./cmd/kubectl-merge"); err != nil {
			return err
		}
	}
	if o.floor, err = build(ctx, dir, "./test/bench/floor"); err != nil {
		return err
	}
	if o.large > 0 || o.wait > 0 || o.definitions > 0 {
		return runSingle(ctx, o, dir)
	}
	r := report{Facts: factsOf(ctx)}
	if err := measureAll(ctx, o, dir, &r); err != nil {
		return err
	}
	if err := r.print(os.Stdout); err != nil {
		return err
	}
	if o.json != "" {
		if err := r.save(o.json); err != nil {
			return err
		}
	}
	if o.write && len(r.Runs) > 0 {
		return r.write(".")
	}
	return nil
}

// measureAll starts the server and measures the start-up and every size: first all that is
// timed, then, through the proxy, all that is counted.
func measureAll(ctx context.Context, o options, dir string, r *report) error {
	s, err := startServer(ctx, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	r.Facts.Server = s.Version
	f := field{options: o, server: s, dir: dir, report: r, config: s.Kubeconfig}
	if r.Facts.Network = o.network.String(); o.network.rate > 0 {
		l, err := newLine(ctx, s, o.network)
		if err != nil {
			return err
		}
		defer l.close()
		f.config = l.kubeconfig
	}
	if r.Startup, err = f.startup(ctx); err != nil || o.startup {
		return err
	}
	if err := f.warm(ctx, nil); err != nil {
		return err
	}
	for _, n := range o.sizes {
		for round := 1; round <= max(o.rounds[n], 1); round++ {
			if err := f.round(ctx, n, round, nil); err != nil {
				return err
			}
		}
	}
	if r.Floor = ownPeak(); !o.count {
		return nil
	}
	return f.count(ctx)
}

// count takes a round of each size through the proxy.
func (f field) count(ctx context.Context) error {
	p, err := newProxy(f.server)
	if err != nil {
		return err
	}
	defer p.close()
	if err := f.warm(ctx, p); err != nil {
		return err
	}
	for _, n := range f.sizes {
		if err := f.round(ctx, n, 0, p); err != nil {
			return err
		}
	}
	return nil
}
