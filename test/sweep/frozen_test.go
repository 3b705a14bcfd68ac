package sweep

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// TestFrozen: a policy whose columns all give live the value changes nothing, by no walker: a row
// of merge.Policies is obeyed whole.
func TestFrozen(t *testing.T) {
	frozen := merge.Policy{Update: merge.TakeLive, Drift: merge.TakeLive, Both: merge.TakeLive, Dropped: merge.TakeLive}
	kinds := append(builtin(t), shapes(t)...)
	var bad failures
	random(t, *count, func(i int) {
		k := kinds[i%len(kinds)]
		in := gen.New(*seed, uint64(i)).Triple(k.Kind, k.typ)
		changes := func(in merge.Triple) []merge.Change { return merge.Three(in, k.typ, frozen, false).Changes }
		if i%2 == 1 {
			changes = func(in merge.Triple) []merge.Change {
				wanted := merge.Three(in, k.typ, merge.Policies[0], false).Result
				return merge.Account(in, wanted, merge.Accounting{Type: k.typ, Policy: frozen}).Changes
			}
		}
		moved := func(in merge.Triple) bool { return in.Live != nil && len(changes(in)) > 0 } // what is created is local's
		if moved(in) {
			in = shrink(in, moved)
			bad.add("%s: triple %d of -sweep.seed=%d: %v\n%s", k, i, *seed, changes(in), spell(in))
		}
	})
	bad.report(t)
}
