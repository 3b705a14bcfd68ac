package main

import (
	"context"
	"errors"
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
	config string // kubeconfig
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
	case op == create, op == unchanged, op == gets, op == bound:
		return l.base
	}
	return l.changed
}

// plan is the file of the document that bound is bound to.
func (l lane) plan() string { return filepath.Join(filepath.Dir(l.base), "plan.yaml") }

// warm has every program fetch what it caches between runs (discovery, schemas), as
// it has after a first use. The runs are not counted.
func (f field) warm(ctx context.Context, p *proxy) error {
	f.operations, f.report, f.peerRounds = all, &report{}, warmRound
	return f.round(ctx, warmSize, warmRound, p)
}

// warmSize is large enough to hold every kind.
const (
	warmSize  = 20
	warmRound = 1000 // no other has its number
)

// round takes every program through every operation, in turns. Through a proxy,
// where there is one, requests are counted and nothing else is.
func (f field) round(ctx context.Context, n, round int, p *proxy) error {
	lanes, err := f.lanes(ctx, turn{n, round, p != nil})
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

// lanes writes the files and makes the namespaces of one round.
func (f field) lanes(ctx context.Context, t turn) ([]lane, error) {
	var lanes []lane
	var namespaces []string
	for _, p := range programs(f.merge, f.server.Kubectl, f.floor) {
		if !f.takesPart(p, t) {
			continue
		}
		l, err := f.lane(ctx, p, t)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, l)
		namespaces = append(namespaces, namespacesOf(l.name, t.n)...)
	}
	return lanes, f.server.makeNamespaces(ctx, namespaces)
}

// turn is a round of a size.
type turn struct {
	n, round int
	counted  bool // through the proxy
}

// takesPart says whether the program is measured in that turn.
func (f field) takesPart(p program, t turn) bool {
	switch {
	case p.peer && (!f.kubectl || p.key == kubectl && t.n > f.kubectlTo || t.round > f.peerRounds):
		return false
	case t.counted && p.peer:
		return t.n <= f.countTo
	case p.key == oursServer || p.key == oursDirect || p.key == kubectlSSA:
		return t.n <= f.ssaTo
	}
	return true
}

// lane makes the files of a program.
func (f field) lane(ctx context.Context, p program, t turn) (lane, error) {
	name := fmt.Sprintf("b%d-%d%s", t.n, t.round, p.key)
	if t.counted {
		name += "c"
	}
	dir := filepath.Join(f.dir, name)
	l := lane{program: p, n: t.n, base: filepath.Join(dir, "base.yaml"), changed: filepath.Join(dir, "changed.yaml"),
		set: filepath.Join(dir, "set.yaml"), name: name, home: filepath.Join(f.dir, "home-"+p.key)}
	if t.counted {
		l.home += "-counted" // the proxy is another server to what is kept between runs
	}
	for _, d := range []string{dir, l.home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return l, err
		}
	}
	err := errors.Join(writeObjects(l.base, name, t.n, false), writeObjects(l.changed, name, t.n, true), writeSet(l.set, name, t.n))
	if err == nil && p.key == loop {
		err = output(ctx, p.file, "prepare", l.base, l.changed, l.set)
	}
	if err != nil {
		return l, err
	}
	return l, f.server.makeParent(ctx, name)
}

// output runs a program that is not measured.
func output(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return nil
}

// timeout is how long one run may take.
const timeout = 20 * time.Minute

// measure runs one operation of one program and looks at what it said.
func (f field) measure(ctx context.Context, l lane, op operation, p *proxy) (measured, error) {
	m := measured{Size: l.n, Operation: op, Program: l.key}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	config := f.config
	if p != nil {
		config = p.kubeconfig
	}
	if op == bound && l.key == ours {
		if err := f.writePlan(ctx, l, config); err != nil {
			return m, err
		}
	}
	before, err := f.server.meter.look(ctx)
	if err != nil {
		return m, err
	}
	if p != nil {
		p.reset()
	}
	state, err := f.run(ctx, &m, f.command(ctx, l, config, l.arguments(op, l)...))
	if err != nil {
		return m, err
	}
	if p != nil {
		m.Counted, m.Requests = true, p.count()
	}
	if m.Server, err = f.server.meter.since(ctx, before); err != nil {
		return m, err
	}
	said, err := f.said()
	if err == nil {
		err = l.check(op, l.n, state.ExitCode(), said)
	}
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", l.arguments(op, l), err, said.tail)
	}
	return m, err
}

// command is the program with what it needs to know, and nothing of the caller's.
func (f field) command(ctx context.Context, l lane, config string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.file, args...)
	cmd.Env = []string{"KUBECTL_APPLYSET=true", "HOME=" + l.home, "KUBECONFIG=" + config, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}
	return cmd
}

// said returns the output of the last run.
func (f field) said() (said, error) { return read(f.printed()) }

// printed are the files with what the last run has printed on stdout and stderr. In one
// file, a note could stand in the middle of a line.
func (f field) printed() (stdout, stderr string) {
	return filepath.Join(f.dir, "output"), filepath.Join(f.dir, "errors")
}

// run runs the command with its output in files, and fills in what it cost.
func (f field) run(ctx context.Context, m *measured, cmd *exec.Cmd) (*os.ProcessState, error) {
	out, errs := f.printed()
	stdout, err := os.Create(out)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := os.Create(errs)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	begun := time.Now()
	err = cmd.Run()
	m.Wall = time.Since(begun).Seconds()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	m.CPU, m.PeakKB = usage(cmd.ProcessState)
	return cmd.ProcessState, nil
}

// writePlan writes the document of what is to be done.
func (f field) writePlan(ctx context.Context, l lane, config string) error {
	file, err := os.Create(l.plan())
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := f.command(ctx, l, config, "diff", "-f", l.objects(bound), "-o", "plan")
	cmd.Stdout = file
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		return fmt.Errorf("%v: %w", cmd.Args, err)
	}
	return nil
}
