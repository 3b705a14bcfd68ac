package play

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/test/sim/model"
)

// beginning is a world after the first step of a scenario. Nothing happens beside that step, so that
// all scenarios that begin with the same objects have it in common: it is played once.
type beginning struct {
	model  *model.Model
	first  *run
	took   time.Duration
	trace  trace
	broken []string
}

// begun plays the first step of a scenario, or gives what it was when it was played.
func (p *Place) begun(t *testing.T, s Scenario) *beginning {
	play, _ := p.begins.LoadOrStore(fmt.Sprint(s.Files[0], s.Steps[0], s.Prune, s.Server), sync.OnceValue(func() *beginning {
		var b *beginning
		s := Scenario{Files: s.Files[:1], Steps: s.Steps[:1], Prune: s.Prune, Server: s.Server, Rollout: Rollout{Seconds: 1 << 20}}
		p.within(t, s, func(w *world) {
			w.files()
			r := w.run(0, s.Steps[0])
			if w.check(r); r.code != 0 {
				w.breaks("begins", "the first run ends with %d", r.code)
			}
			b = &beginning{model: w.model.Copy(), first: r, took: time.Since(epoch), trace: w.trace, broken: w.broken}
		})
		return b
	}))
	return play.(func() *beginning)()
}

// resume is the world as it began.
func (w *world) resume(b *beginning) {
	time.Sleep(b.took)
	w.model, w.trace, w.broken = b.model.Copy(), slices.Clone(b.trace), slices.Clone(b.broken)
	w.runs = []*run{{world: w, id: b.first.id, step: b.first.step, to: b.first.to, exchanges: b.first.exchanges, ended: true, checked: true}}
	w.rollouts()
}
