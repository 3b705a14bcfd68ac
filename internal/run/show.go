package run

import (
	"context"
	"slices"
)

// showWindow is how many items are whole at once while all are shown.
const showWindow = 64

// Show calls show for each item that Merge has planned, in order, then for Others, with
// the result that a run would have, as far as that is known without a server. What Needs
// says is there then; afterwards it need not be, where Shown says so. An item that ctx's
// end keeps from being shown has an error.
func (p *Plan) Show(ctx context.Context, show func(*Item)) {
	for some := range slices.Chunk(p.Items, showWindow) {
		p.each(ctx, some, func(i int) { p.restore(ctx, some[i]) }, func(i int) {
			some[i].Result = still(some[i])
			show(some[i])
			if some[i].stored.form == restored {
				some[i].evict()
			}
		})
	}
	for _, item := range p.Others {
		item.Result = still(item)
		show(item)
	}
}
