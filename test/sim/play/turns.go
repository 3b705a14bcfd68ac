package play

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/kubectl-merge/kubectl-merge/test/sim/model"
)

// turn is a request that waits for its answer.
type turn struct {
	run  *run
	req  *http.Request
	body []byte
	model.Asked
	sent  int // how many of the run's requests had been answered when it was sent
	reply chan answer
}

type answer struct {
	res *http.Response
	err error
}

// roundTrip has a request wait for its turn. Discovery is answered at once: the program asks for it
// with locks held, which no clock of a test can wait for.
func (r *run) roundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	t := &turn{run: r, req: req, sent: r.asked, reply: make(chan answer, 1)}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		t.body = body
	}
	var objects bool
	if t.Asked, objects = model.Read(req, t.body); !objects {
		return r.discover(req)
	}
	r.world.wait(t)
	select {
	case a := <-t.reply:
		return a.res, a.err
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func (w *world) wait(t *turn) {
	w.mu.Lock()
	w.waiting = append(w.waiting, t)
	w.mu.Unlock()
	select {
	case w.arrived <- struct{}{}:
	default:
	}
}

// serve answers the waiting requests one after another, in an order that the seed decides: each when
// the program waits for nothing else.
func (w *world) serve(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.arrived:
		}
		time.Sleep(time.Millisecond)
		for {
			synctest.Wait()
			t := w.next()
			if t == nil {
				break
			}
			if t.req.Context().Err() == nil {
				w.answer(t)
			}
		}
	}
}

func (w *world) next() *turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return nil
	}
	slices.SortStableFunc(w.waiting, func(a, b *turn) int {
		return cmp.Or(strings.Compare(a.run.id, b.run.id), strings.Compare(a.req.Method, b.req.Method), strings.Compare(a.req.URL.String(), b.req.URL.String()), bytes.Compare(a.body, b.body))
	})
	i := w.rand.IntN(len(w.waiting))
	t := w.waiting[i]
	w.waiting = slices.Delete(w.waiting, i, i+1)
	return t
}

// exchange is one request, and what came of it.
type exchange struct {
	*turn
	at      time.Time
	code    int // 0: no answer
	fault   string
	changes []model.Event // that it made
	pause   time.Duration // that the answer asks for
	late    time.Duration // how long it is under way
}

// answer lets happen what the scenario has for this request, and answers it.
func (w *world) answer(t *turn) {
	r := t.run
	if r.dead {
		t.reply <- answer{err: errDead}
		return
	}
	x := &exchange{turn: t, at: time.Now()}
	f := w.events(x)
	r.asked++
	before := len(w.model.History())
	r.exchanges = append(r.exchanges, x)
	a := w.send(x, f)
	w.rollouts()
	for _, e := range w.model.History()[before:] {
		if e.By == r.id {
			x.changes = append(x.changes, e)
		}
	}
	w.say("%s  %s %s%s: %d%s%s", r.id, x.Verb, x.Resource+"/"+x.Name, tried(x), x.code, words(x.fault), written(x.changes))
	if r.dead { // it died of this request
		a = answer{err: errDead}
	}
	if x.late > 0 {
		time.AfterFunc(x.late, func() { t.reply <- a })
		return
	}
	t.reply <- a
}

// send is the request's way to the model and back.
func (w *world) send(x *exchange, f *fault) answer {
	ask := func() answer {
		req := x.req
		if x.run.paged && x.Verb == "list" {
			req = paged(req)
		}
		res, err := w.model.Serve(req, x.body, x.run.id)
		not := model.Uncovered("")
		if errors.As(err, &not) {
			w.breaks("model", "%s", err)
		}
		if err == nil {
			x.code = res.StatusCode
		}
		return answer{res, err}
	}
	if x.Verb == "watch" {
		if k := x.run.watches; k != nil {
			x.fault = k.name
			return k.do(w, x, ask)
		}
	}
	if f == nil {
		return ask()
	}
	x.fault = f.name
	return f.do(w, x, ask)
}

func tried(x *exchange) string {
	if x.DryRun {
		return " (dry run)"
	}
	return ""
}

func words(s string) string {
	if s == "" {
		return ""
	}
	return " [" + s + "]"
}

// written are the changes of an exchange.
type written []model.Event

// String is the last one as the trace has it.
func (all written) String() string {
	if len(all) == 0 {
		return ""
	}
	e := all[len(all)-1]
	return " " + strings.ToLower(string(e.Type)) + " " + text(leaves(e.Is))
}
