// Command sim plays one scenario of the simulation again, and prints what has happened in it:
//
//	go run ./test/sim -seed N [-shrink]
package main

import (
	"flag"
	"fmt"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/test/sim/play"
)

var (
	seed   = flag.Uint64("seed", 1, "of the scenario")
	shrink = flag.Bool("shrink", false, "make a scenario that breaks a law as small as it can be")
)

// The clock of a scenario is that of testing/synctest, which only a test has.
func main() {
	all := func(string, string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "Seed", F: replay}}, nil, nil)
}

func replay(t *testing.T) {
	place, s := play.NewPlace(t), play.Draw(*seed)
	t.Setenv("HOME", place.Dir)
	t.Setenv("KUBECONFIG", "")
	r := place.Play(t, s)
	if *shrink && len(r.Broken) > 0 {
		s, r = place.Shrink(t, s, r)
	}
	fmt.Printf("%+v\n\n%s\n", s, r.Trace)
	for _, law := range r.Broken {
		t.Error(law)
	}
}
