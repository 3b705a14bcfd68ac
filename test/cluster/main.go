// Command cluster starts a throw-away Kubernetes API server for tests: it builds
// etcd, kube-apiserver and kubectl from the versions that this module's go.mod
// pins, runs the first two on loopback and takes them away again when it ends.
// It is not a cluster to keep: there are no controllers and no nodes unless a flag
// asks for them, no container ever runs, there is no fsync, and nothing is left
// behind.
//
//	go -C test/cluster run . [flags]
//
// One line of JSON on stdout says where everything is once the server is ready
// (see Info). The server runs until stdin is closed, a signal arrives or the
// process that started it is gone. For tests that break things, a line on stdin
// that says kill kills kube-apiserver, and one that says start brings it back with
// all that it had; each is answered by another line like the first.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// Info is the line on stdout: everything that a user of the server needs.
type Info struct {
	Kubeconfig   string `json:"kubeconfig"`   // admin's, by token
	Kubectl      string `json:"kubectl"`      // the peer, of the server's version
	Server       string `json:"server"`       // https://127.0.0.1:port
	Version      string `json:"version"`      // v1.36.3
	PID          int    `json:"pid"`          // this process
	EtcdPID      int    `json:"etcdPid"`      // for tests that break things
	APIServerPID int    `json:"apiserverPid"` // for tests that break things
	Dir          string `json:"dir"`          // data and logs, removed at the end
}

// options are the command line.
type options struct {
	cache          string
	kubernetes     string
	buildOnly      bool
	serviceAccount bool
	controllers    bool
	apiserverArgs  []string
	timeout        time.Duration
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == guardWord {
		os.Exit(guard(os.Args[2:], os.Stdin, os.Stderr))
	}
	// The kernel sends a child's parent-death signal when the thread that
	// started it ends, so that thread must be one that lives as long as we do.
	runtime.LockOSThread()
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2)
	}
	if err := run(o, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// parse reads the command line; what is wrong with it has been reported on stderr.
func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("cluster", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.cache, "cache", os.Getenv("KUBECTL_MERGE_CLUSTER_CACHE"),
		"`folder` for the binaries (default: kubectl-merge/cluster in the user's cache folder; also by $KUBECTL_MERGE_CLUSTER_CACHE)")
	f.StringVar(&o.kubernetes, "kubernetes", "", "another minor `version` than that of go.mod, 1.34 say; those there are lie in the folder skew")
	f.BoolVar(&o.buildOnly, "build-only", false, "build the binaries, print where they are, start nothing")
	f.BoolVar(&o.serviceAccount, "service-account-admission", false,
		"switch ServiceAccount admission on: a Pod's account must exist, and no controller makes it")
	f.BoolVar(&o.controllers, "controllers", false,
		"also run kube-controller-manager, and a kubelet that plays what the images of pods are named after (see kubelet.go)")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long the server may take to become ready")
	f.Func("apiserver-arg", "one more `--flag=value` for kube-apiserver (repeatable, wins over ours)", func(s string) error {
		o.apiserverArgs = append(o.apiserverArgs, s)
		return nil
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "unexpected argument %q\n", f.Arg(0))
		return o, errors.New("unexpected argument")
	}
	return o, nil
}

// run builds, starts, says where the server is, and stays until it is asked to end.
func run(o options, stdin io.Reader, stdout io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	orders := make(chan string)
	if !o.buildOnly {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() {
			defer cancel() // whatever ends stdin ends us
			listen(ctx, stdin, orders)
		}()
		go endWithParent(ctx, cancel)
	}
	bin, err := build(ctx, o)
	if err != nil {
		return err
	}
	if o.buildOnly {
		return json.NewEncoder(stdout).Encode(bin)
	}
	c, err := start(ctx, bin, o)
	if c != nil {
		defer c.stop()
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil // asked to end while starting
		}
		return err
	}
	for {
		if err := json.NewEncoder(stdout).Encode(c.info); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case p := <-c.died:
			return fmt.Errorf("%s ended on its own: %v\n%s", p.name, p.err, p.tail())
		case order := <-orders:
			if err := c.obey(ctx, order); err != nil {
				return err
			}
		}
	}
}

// listen hands on the lines of stdin until it or ctx ends.
func listen(ctx context.Context, stdin io.Reader, orders chan<- string) {
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		select {
		case orders <- lines.Text():
		case <-ctx.Done():
			return
		}
	}
}

// endWithParent cancels when the process that started this one is gone, which
// an inherited terminal on stdin would not tell.
func endWithParent(ctx context.Context, cancel func()) {
	parent := os.Getppid()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(500 * time.Millisecond):
			if os.Getppid() != parent { // never on Windows, where it does not change
				cancel()
				return
			}
		}
	}
}
