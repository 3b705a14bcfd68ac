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
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
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
	played  map[int]bool                         // events that have happened, by their index
	drafts  []string                             // folders of editors
	lied    map[int]string                       // of events that happen twice, the resource
	rolling map[string]int64                     // generations of Deployments that are being rolled out
	values  map[runtime.Object]map[string]string // see leaves

	log    sync.Mutex
	trace  trace
	broken []string // laws, and how
}

// Report is how a scenario ended.
type Report struct {
	Broken []string // laws that do not hold; nil: all hold
	Trace  fmt.Stringer
	Runs   int
}

// Place has the state that all scenarios of a process share.
type Place struct {
	Dir    string
	empty  *model.Model
	worlds sync.Map // of runs, by the user that each runs as
	begins sync.Map // functions of beginnings, by what they depend on
}

// NewPlace has the process's clients speak to the worlds that are played in it. Their files are in
// memory where the system has a place for that.
func NewPlace(t *testing.T) *Place {
	dir, err := os.MkdirTemp("/dev/shm", "sim")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("KUBE_EDITOR", "editor") // see edits
	m, err := model.New(namespace)
	if err != nil {
		t.Fatal(err)
	}
	p := &Place{Dir: dir, empty: m}
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
	begun := p.begun(t, s)
	return p.within(t, s, func(w *world) {
		if w.resume(begun); len(w.broken) == 0 {
			w.play()
		}
	})
}

// within has a world exist while a scenario is played in it. It has no objects.
func (p *Place) within(t *testing.T, s Scenario, play func(w *world)) (report Report) {
	synctest.Test(t, func(t *testing.T) {
		dir, err := os.MkdirTemp(p.Dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		w := &world{Scenario: s, place: p, model: p.empty.Copy(), rand: rand.New(rand.NewPCG(s.Seed, 1)), cache: filepath.Join(p.Dir, "cache"), dir: dir,
			arrived: make(chan struct{}, 1), played: map[int]bool{}, lied: map[int]string{}, rolling: map[string]int64{}, values: map[runtime.Object]map[string]string{}}
		ctx, cancel := context.WithCancel(t.Context())
		var served sync.WaitGroup
		served.Go(func() { w.serve(ctx) })
		play(w)
		cancel()
		served.Wait()
		time.Sleep(time.Hour) // what an abandoned run still waits for
		for _, dir := range w.drafts {
			_ = os.RemoveAll(dir)
		}
		report = Report{Broken: w.broken, Trace: w.trace, Runs: len(w.runs) - 1}
	})
	return report
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) files() {
	for n, refs := range w.Files {
		if err := os.WriteFile(w.path(fmt.Sprintf("v%d.yaml", n)), []byte(file(refs, n)), 0o600); err != nil {
			w.breaks("files", "%v", err)
		}
	}
}

// play plays the steps after the first, and then the quiet runs that finish the work.
func (w *world) play() {
	w.files()
	for n, step := range w.Steps[1:] {
		n++
		if (step.Verb == "undo" || step.Verb == "bound") && !w.has(step.Verb) {
			continue // nothing was written, so there is no record
		}
		if w.check(w.run(n, step)); len(w.broken) > 0 {
			return
		}
		w.Server = w.Server || step.Verb == "modern"
	}
	time.Sleep(held)
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
	w.trace = append(w.trace, line{time.Since(epoch), format, args})
}

// trace lists what has happened. It becomes text when it is printed.
type trace []line

type line struct {
	at     time.Duration
	format string
	args   []any
}

// String is the trace as lines.
func (t trace) String() string {
	var b strings.Builder
	for _, l := range t {
		fmt.Fprintf(&b, "%8.3fs  "+l.format+"\n", append([]any{l.at.Seconds()}, l.args...)...)
	}
	return b.String()
}

// epoch is when the clock of each world begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *world) breaks(law, format string, args ...any) {
	w.log.Lock()
	defer w.log.Unlock()
	w.broken = append(w.broken, law+": "+fmt.Sprintf(format, args...))
}
