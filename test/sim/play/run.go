package play

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
	"github.com/kubectl-merge/kubectl-merge/test/sim/model"
)

// run is one run of the program.
type run struct {
	world *world
	id    string
	n     int // of its step
	step  Step

	out, errs output
	code      int
	from, to  int // the model's history when it began and ended
	ended     bool
	checked   bool

	asked     int // requests so far
	exchanges []*exchange
	watches   *fault       // what happens to all of its watches
	paged     bool         // lists have pages of one object
	blind     int          // so many requests of discovery fail
	blindness int          // in which way: an index of blindnesses
	sighted   int          // so many are answered before
	begun     *model.Model // the server as it was; nil if no event needs it

	signals   chan os.Signal
	signalled []time.Time
	dead      bool // it was killed, or has ended by a signal's default effect
	died      bool // by a signal
	edited    []edited
	kept      map[string][]byte // files as they were when it died; nil: were not there
	stop      context.CancelFunc
}

// errDead is the answer to the requests of a run that was killed.
var errDead = errors.New("connect: connection refused")

// output is the output of a run until it ends.
type output struct {
	mu   sync.Mutex
	of   *run
	text bytes.Buffer
}

// Write takes what is printed.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.of.dead {
		o.text.Write(p)
	}
	return len(p), nil
}

// start begins a run; done is closed when it has ended.
func (w *world) start(n int, step Step) (r *run, done chan struct{}) {
	r = &run{world: w, n: n, step: step, id: fmt.Sprintf("run%d", len(w.runs)), from: len(w.model.History()), signals: make(chan os.Signal, 1)}
	r.out.of, r.errs.of = r, r
	w.runs = append(w.runs, r)
	cache := w.cache
	for _, e := range w.Events {
		if habit := habits[e.Kind]; habit != nil && e.Step == n {
			if habit(r, e); r.blind > 0 {
				cache = w.path(r.id) // it knows nothing
			}
		}
	}
	if w.Has("stale-list") {
		r.begun = w.model.Copy()
	}
	ctx, cancel := context.WithCancel(cli.Process{Signals: r.signals, Run: r.edits, Die: func(os.Signal) { r.died = true; r.dies() }}.In(context.Background()))
	r.stop = cancel
	user := fmt.Sprintf("%s-%d-%s", w.dir[strings.LastIndexByte(w.dir, '/')+1:], w.Seed, r.id)
	w.place.worlds.Store(user, r)
	args := append(w.line(step), "--cache-dir="+cache, "--as="+user)
	w.say("%s  kubectl merge %s", r.id, strings.ReplaceAll(strings.Join(args[:len(args)-4], " "), w.dir+"/", ""))
	done = make(chan struct{})
	go func() {
		defer close(done)
		defer w.place.worlds.Delete(user)
		defer cancel()
		code := cli.Main(ctx, "kubectl-merge", args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &r.out, ErrOut: &r.errs})
		r.ends(code)
	}()
	return r, done
}

// run plays a step to its end.
func (w *world) run(n int, step Step) *run {
	r, done := w.start(n, step)
	select {
	case <-done:
	case <-time.After(2 * time.Hour):
		stacks := make([]byte, 1<<20)
		w.breaks("ends", "%s has not ended after two hours\n%s", r.id, stacks[:runtime.Stack(stacks, true)])
		r.dies()
		<-done
	}
	for _, other := range w.runs { // that an event has begun
		if other == r || other.checked {
			continue
		}
		for !other.ended {
			time.Sleep(time.Second)
		}
		w.check(other)
	}
	if r.step.Verb == "plan" && !r.dead {
		if err := os.WriteFile(w.path("plan.yaml"), r.out.text.Bytes(), 0o600); err != nil {
			w.breaks("files", "%v", err)
		}
	}
	return r
}

func (r *run) ends(code int) {
	r.code, r.to = code, len(r.world.model.History())
	if r.dead {
		r.code = -1
		for name, text := range r.kept {
			if text == nil {
				_ = os.Remove(name)
			} else if err := os.WriteFile(name, text, 0o600); err != nil {
				r.world.breaks("files", "%v", err)
			}
		}
	}
	r.ended = true
	r.world.say("%s  exit %d\n%s%s", r.id, r.code, printout(r.out.text.String()), printout(r.errs.text.String()))
}

type printout string

// String is the text as the trace has it.
func (p printout) String() string {
	var b strings.Builder
	for line := range strings.Lines(string(p)) {
		b.WriteString("             | " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// dies ends the run at once: what it prints, sends and stores from here on does not count.
func (r *run) dies() {
	if r.dead {
		return
	}
	r.dead, r.kept = true, map[string][]byte{}
	for _, name := range []string{r.world.path("record.yaml"), r.world.path("plan.yaml"), r.world.path("v0.yaml")} {
		text, err := os.ReadFile(name)
		if err != nil {
			text = nil
		}
		r.kept[name] = text
	}
	r.stop()
}

// signal sends a signal, as the system does: one that cannot be taken is lost.
func (r *run) signal(s syscall.Signal) {
	if r.ended {
		return
	}
	r.signalled = append(r.signalled, time.Now())
	r.world.say("%s  gets %s", r.id, s)
	select {
	case r.signals <- s:
	default:
	}
}
