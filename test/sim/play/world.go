// Package play simulates runs of the whole program, in one process and in no time, against a model
// of the API server. A seed decides everything: the input, the commands, who else writes between
// which requests, and what goes wrong. After each run the laws of the program are checked.
package play

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/test/sim/model"
)

// world is one scenario that is played.
type world struct {
	Scenario
	place *Place
	model *model.Model
	rand  *rand.Rand
	cache string // of discovery, of all worlds
	dir   string

	mu      sync.Mutex
	waiting []*turn
	arrived chan struct{}
	runs    []*run
	played  map[int]bool     // events that have happened, by their index
	rolling map[string]int64 // generations of Deployments that are being rolled out

	log    sync.Mutex
	trace  []string
	broken []string // laws, and how
}

// Report is how a scenario ended.
type Report struct {
	Broken []string // laws that do not hold; nil: all hold
	Trace  []string
	Runs   int
}

// Place is what all scenarios of a process share.
type Place struct {
	Dir    string
	worlds sync.Map // of runs, by the user that each runs as
}

// NewPlace has the process's clients speak to the worlds that are played in it.
func NewPlace(dir string) *Place {
	p := &Place{Dir: dir}
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the other one waits by the clock of no world
	http.DefaultTransport = source.Downloads{RoundTripper: p} // the program leaves it as it is then
	return p
}

// RoundTrip gives a request to the run that has sent it.
func (p *Place) RoundTrip(req *http.Request) (*http.Response, error) {
	r, ok := p.worlds.Load(req.Header.Get("Impersonate-User"))
	if !ok {
		return nil, fmt.Errorf("%s is of no run", req.URL)
	}
	return r.(*run).roundTrip(req)
}

// Play plays a scenario, and checks the laws.
func (p *Place) Play(t *testing.T, s Scenario) Report {
	var report Report
	synctest.Test(t, func(t *testing.T) {
		m, err := model.New(namespace)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := os.MkdirTemp(p.Dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		w := &world{Scenario: s, place: p, model: m, rand: rand.New(rand.NewPCG(s.Seed, 1)), cache: filepath.Join(p.Dir, "cache"), dir: dir,
			arrived: make(chan struct{}, 1), played: map[int]bool{}, rolling: map[string]int64{}}
		ctx, cancel := context.WithCancel(t.Context())
		var served sync.WaitGroup
		served.Go(func() { w.serve(ctx) })
		w.play()
		cancel()
		served.Wait()
		time.Sleep(time.Hour) // what an abandoned run still waits for
		report = Report{Broken: w.broken, Trace: w.trace, Runs: len(w.runs)}
	})
	return report
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// play plays the steps, and then the quiet runs that finish the work.
func (w *world) play() {
	for n, refs := range w.Files {
		if err := os.WriteFile(w.path(fmt.Sprintf("v%d.yaml", n)), []byte(file(refs, n)), 0o600); err != nil {
			w.breaks("files", "%v", err)
		}
	}
	for n, step := range w.Steps {
		if (step.Verb == "undo" || step.Verb == "bound") && !w.has(step.Verb) {
			continue // nothing was written, so there is no record
		}
		r := w.run(n, step)
		if w.check(r); n == 0 && r.code != 0 {
			w.breaks("begins", "the first run ends with %d", r.code)
		}
		if len(w.broken) > 0 {
			return
		}
	}
	last := Step{Verb: "merge", File: 2, Concurrency: 1}
	if w.Server {
		last.Verb = "finish" // server-side apply leaves others' values to others
	}
	w.check(w.run(len(w.Steps), last))
	if again := w.run(len(w.Steps)+1, last); len(w.broken) == 0 {
		w.check(again)
		w.finished(again)
	}
}

func (w *world) has(verb string) bool {
	name := map[string]string{"undo": "record.yaml", "bound": "plan.yaml"}[verb]
	info, err := os.Stat(w.path(name))
	return err == nil && info.Size() > 0
}

func (w *world) say(format string, args ...any) {
	w.log.Lock()
	defer w.log.Unlock()
	w.trace = append(w.trace, fmt.Sprintf("%8.3fs  ", time.Since(epoch).Seconds())+fmt.Sprintf(format, args...))
}

// epoch is when the clock of each world begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *world) breaks(law, format string, args ...any) {
	w.log.Lock()
	defer w.log.Unlock()
	w.broken = append(w.broken, law+": "+fmt.Sprintf(format, args...))
}
