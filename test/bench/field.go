package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// field is where the programs run against each other.
type field struct {
	options
	server *server
	dir    string
	report *report
}

// lane is one program's own objects of one round: its files, and its namespaces.
type lane struct {
	program
	n             int
	base, changed string // files
	set           string // the same number of objects, of ten kinds
	name          string // of the set's parent, too
	home          string
}

// objects is the file that the operation reads.
func (l lane) objects(op operation) string {
	switch {
	case op.ofSet():
		return l.set
	case op == create, op == unchanged:
		return l.base
	}
	return l.changed
}

// warm has every program fetch what it keeps between runs (discovery, schemas), as
// it has for whoever uses it twice. The runs are not counted.
func (f field) warm(ctx context.Context, p *proxy) error {
	f.operations, f.report = all, &report{}
	return f.round(ctx, warmSize, 0, p)
}

// warmSize is large enough to hold every kind.
const warmSize = 20

// round takes every program through every operation, in turns. Through a proxy,
// where there is one, requests are counted and nothing else is.
func (f field) round(ctx context.Context, n, round int, p *proxy) error {
	lanes, err := f.lanes(ctx, n, round, p != nil)
	if err != nil {
		return err
	}
	for _, op := range all { // in this order, whatever is asked for: what is unchanged has to be there
		for _, l := range lanes {
			if !l.does(op, n, f.options) || !f.needed(op) {
				continue
			}
			m, err := f.measure(ctx, l, op, p)
			if err != nil {
				return fmt.Errorf("%s of %d objects by %s: %w", op, n, l.label, err)
			}
			m.Round = round
			f.report.Runs = append(f.report.Runs, m)
			fmt.Fprintf(os.Stderr, "%5d  %-15s %-28s %8.3f s  cpu %8.3f s  %4d MB  %s\n", n, op, l.label, m.Wall, m.CPU, m.PeakKB>>10, m.counted())
		}
	}
	for _, l := range lanes {
		if err := os.RemoveAll(filepath.Dir(l.base)); err != nil {
			return err
		}
	}
	return nil
}

// needed: create makes what the others work on, and makeSet what the other two do.
func (f field) needed(op operation) bool {
	if op == makeSet && (slices.Contains(f.operations, plainSet) || slices.Contains(f.operations, inSet)) {
		return true
	}
	return op == create || slices.Contains(f.operations, op)
}

// inSet are the arguments that name the set.
func (l lane) inSet(op operation) []string {
	if op != makeSet && op != inSet {
		return nil
	}
	if l.peer { // a parent that has a namespace holds, for kubectl, the members of that one alone
		return []string{"--prune", "--applyset=bundles.bench.example.com/" + l.name}
	}
	return []string{"--prune", "--applyset=configmaps/set", "--applyset-namespace=" + namespacesOf(l.name, l.n)[0]}
}

// lanes writes the files and makes the namespaces of one round.
func (f field) lanes(ctx context.Context, n, round int, counted bool) ([]lane, error) {
	var lanes []lane
	var namespaces []string
	for _, p := range programs(f.merge, f.server.Kubectl) {
		if p.peer && (!f.kubectl || n > f.kubectlTo) || counted && p.peer && (n > f.countTo || p.key == "s") {
			continue
		}
		name := fmt.Sprintf("b%d-%d%s", n, round, p.key)
		if counted {
			name += "c"
		}
		dir := filepath.Join(f.dir, name)
		l := lane{program: p, n: n, base: filepath.Join(dir, "base.yaml"), changed: filepath.Join(dir, "changed.yaml"),
			set: filepath.Join(dir, "set.yaml"), name: name, home: filepath.Join(f.dir, "home-"+p.key)}
		if counted {
			l.home += "-counted" // the proxy is another server to what is kept between runs
		}
		for _, d := range []string{dir, l.home} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return nil, err
			}
		}
		if err := writeObjects(l.base, name, n, false); err != nil {
			return nil, err
		}
		if err := writeObjects(l.changed, name, n, true); err != nil {
			return nil, err
		}
		if err := writeSet(l.set, name, n); err != nil {
			return nil, err
		}
		lanes = append(lanes, l)
		namespaces = append(namespaces, namespacesOf(name, n)...)
		if err := f.server.makeParent(ctx, name); err != nil {
			return nil, err
		}
	}
	return lanes, f.server.makeNamespaces(ctx, namespaces)
}

// timeout is how long one run may take.
const timeout = 20 * time.Minute

// measure runs one operation of one program and looks at what it said.
func (f field) measure(ctx context.Context, l lane, op operation, p *proxy) (measured, error) {
	m := measured{Size: l.n, Operation: op, Program: l.key}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := os.Create(filepath.Join(f.dir, "output"))
	if err != nil {
		return m, err
	}
	defer out.Close()
	config := f.server.Kubeconfig
	if p != nil {
		config = p.kubeconfig
		p.reset()
	}
	cmd := exec.CommandContext(ctx, l.file, slices.Concat(l.arguments(op, l.objects(op)), l.inSet(op))...)
	cmd.Env = []string{"KUBECTL_APPLYSET=true", "HOME=" + l.home, "KUBECONFIG=" + config, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	cmd.Stdout, cmd.Stderr = out, out
	begun := time.Now()
	err = cmd.Run()
	m.Wall = time.Since(begun).Seconds()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		return m, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	m.CPU, m.PeakKB = usage(cmd.ProcessState)
	if p != nil {
		m.Counted, m.Requests = true, p.count()
	}
	said, err := read(out.Name())
	if err == nil {
		err = l.check(op, l.n, cmd.ProcessState.ExitCode(), said)
	}
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", cmd.Args, err, said.tail)
	}
	return m, err
}
