// Command sim plays one scenario of the simulation again, and prints what has happened in it:
//
//	go run ./test/sim -seed N [-shrink]
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/test/sim/play"
)

func main() {
	testing.Init()
	seed := flag.Uint64("seed", 1, "of the scenario")
	shrink := flag.Bool("shrink", false, "make a scenario that breaks a law as small as it can be")
	flag.Parse()
	dir, err := os.MkdirTemp("", "sim")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	held := true
	// The clock of a scenario is that of testing/synctest, which only a test has.
	testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "Seed", F: func(t *testing.T) {
		t.Setenv("HOME", dir)
		t.Setenv("KUBECONFIG", "")
		place, s := play.NewPlace(dir), play.Draw(*seed)
		r := place.Play(t, s)
		if *shrink && len(r.Broken) > 0 {
			s, r = place.Shrink(t, s, r)
		}
		held = len(r.Broken) == 0
		fmt.Printf("%+v\n\n%s\n%s\n", s, strings.Join(r.Trace, "\n"), strings.Join(r.Broken, "\n"))
	}}})
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !held {
		os.Exit(1)
	}
}
