package play

import (
	"syscall"
	"time"
)

// events lets happen what the scenario has for this request of a run, and gives what goes wrong
// with it.
func (w *world) events(x *exchange) (f *fault) {
	r := x.run
	for i, e := range w.Events {
		if w.played[i] || e.Step != r.n || r.asked < e.At && watchFaults[e.Kind] == nil || habits[e.Kind] != nil { // habits begin with the run
			continue
		}
		switch {
		case actors[e.Kind] != nil:
			w.played[i] = true
			w.say("       %s", e)
			actors[e.Kind](w, e)
		case watchFaults[e.Kind] != nil:
			w.played[i] = true
			r.watches = watchFaults[e.Kind]
		case signals[e.Kind] != nil:
			w.played[i] = true
			signals[e.Kind](r, e)
		case f == nil && faults[e.Kind].fits(x) && (w.lied[i] == "" || w.lied[i] == x.Resource):
			w.played[i] = e.Kind != "empty-list" || e.N%2 == 0 || w.lied[i] != "" // a server lies once, or twice
			w.lied[i] = x.Resource
			f = faults[e.Kind].of(e)
		}
	}
	w.rollouts()
	return f
}

// signals are what a run is sent: one; one twice, as timeout(1) does; another, when there was time
// to see what the first one does.
var signals = map[string]func(r *run, e Event){
	"signal": func(r *run, e Event) { r.signal(either(e)) },
	"signal-repeated": func(r *run, e Event) {
		r.signal(either(e))
		time.AfterFunc(time.Duration(1+e.N%900)*time.Millisecond, func() { r.signal(either(e)) })
	},
	"signal-twice": func(r *run, e Event) {
		r.signal(either(e))
		time.AfterFunc(time.Duration(1100+e.N%5000)*time.Millisecond, func() { r.signal(either(e)) })
	},
}

func either(e Event) syscall.Signal {
	if e.N%2 == 0 {
		return syscall.SIGINT
	}
	return syscall.SIGTERM
}
