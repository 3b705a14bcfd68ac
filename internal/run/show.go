package run

import (
	"context"
	"slices"
)

// showWindow is how many compressed items are restored at once.
const showWindow = 64

// Show calls show for each item in order, then for Others, with the result that a run is
// expected to have; nothing is sent. What Needs asks for is available then, and dropped
// afterwards if Shown is set. Items not shown when ctx ends get an error.
func (p *Plan) Show(ctx context.Context, show func(*Item)) {
	for some := range slices.Chunk(p.Items, showWindow) {
		p.each(ctx, some, func(i int) { p.restore(ctx, some[i]) }, func(i int) {
			some[i].dress()
			if some[i].Rendered == nil {
				some[i].Result = unsent(some[i])
			}
			show(some[i])
			if form := some[i].stored.form; form == restored || form == rendered {
				some[i].Rendered = nil
				some[i].evict()
			}
			some[i].share()
		})
	}
	for _, item := range p.Others {
		item.Own()
		item.Result = unsent(item)
		show(item)
	}
}
