package play

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/test/part"
)

var (
	first = flag.Uint64("sim.seed", 1, "the first seed")
	count = flag.Int("sim.n", 20000, "seeds of which a part is played")
	most  = flag.Int("sim.failures", 1, "broken seeds after which no more are played")
	only  = flag.String("sim.only", "", "play the scenarios that have all of these: verbs, kinds of events, prune, server")
	small = flag.Bool("sim.shrinks", true, "make a scenario that breaks a law as small as it can be")
)

// TestSeeds plays scenarios. One that breaks a law is made as small as it can be, and printed with
// its seed.
func TestSeeds(t *testing.T) {
	place := NewPlace(t)
	t.Setenv("HOME", place.Dir)
	from, to := part.Chosen(t).Of(*count)
	begun, runs := time.Now(), 0
	seeds := make(chan uint64)
	var (
		mu     sync.Mutex
		failed int
		crew   sync.WaitGroup
	)
	for range 2 {
		crew.Go(func() {
			for seed := range seeds {
				s := Draw(seed)
				if !s.Has(*only) {
					continue
				}
				watch := time.AfterFunc(10*time.Minute, func() { panic(fmt.Sprintf("-sim.seed=%d does not end", seed)) })
				r := place.Play(t, s)
				watch.Stop()
				mu.Lock()
				if runs += r.Runs; len(r.Broken) > 0 {
					failed++
				}
				mu.Unlock()
				if len(r.Broken) > 0 {
					if *small {
						s, r = place.Shrink(t, s, r)
					}
					t.Errorf("go run ./test/sim -seed %d\n%s\n%+v\n%s", seed, strings.Join(r.Broken, "\n"), s, r.Trace)
				}
			}
		})
	}
	for n := from; n < to; n++ {
		mu.Lock()
		stop := failed >= *most
		mu.Unlock()
		if stop {
			break
		}
		seeds <- *first + uint64(n)
	}
	close(seeds)
	crew.Wait()
	t.Logf("%d seeds from %d, %d runs in %s", to-from, *first+uint64(from), runs, time.Since(begun).Round(time.Second))
}

func TestMain(m *testing.M) {
	for _, name := range []string{"KUBECONFIG", "KUBECTL_EXTERNAL_DIFF"} {
		_ = os.Unsetenv(name) // fails for no valid name
	}
	_ = os.Setenv("GOGC", "1000") // and the program leaves it so
	debug.SetGCPercent(1000)
	os.Exit(m.Run())
}
