package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// shelfFrom is from how many items on what is to be shown is put away until its turn
// comes: a plan takes some 70 KB, its two sides as text take 5 or less. Fewer are kept, since
// to merge them anew takes time.
const shelfFrom = 200

// shelfWindow is how many items are whole at once while all are shown.
const shelfWindow = 64

// away is an item put on the shelf: its plan is made anew of local, which is Packed,
// and of live.
type away struct {
	live  []byte // as JSON, pressed; nil where there is none
	whole bool   // the plan is there for the moment
}

// putOnShelf puts away the plan of an item, all but its action.
func (i *Item) putOnShelf() error {
	a := &away{}
	if p := i.Planned; p.Live != nil {
		text, err := object.Encode(p.Live)
		if err != nil {
			return fmt.Errorf("%s: cannot be written as JSON: %w", i.Target, err)
		}
		if a.live, err = press(text); err != nil {
			return fmt.Errorf("%s: %w", i.Target, err)
		}
	}
	i.away = a
	i.drop()
	return nil
}

// drop leaves no more of the item's plan and outcome than what says what became of it.
func (i *Item) drop() {
	i.Object = i.Object.Packed()
	i.Planned = apply.Planned{Subject: apply.Subject{Object: i.Object, Name: i.Planned.Name}, Action: i.Planned.Action}
	i.Result.Planned, i.Result.Object = i.Planned, nil
}

// takeFromShelf makes the plan of an item again, of what it was made of before.
func (p *Plan) takeFromShelf(ctx context.Context, item *Item) {
	if item.Err != nil || item.away == nil || item.away.whole {
		return
	}
	var live map[string]any
	if item.away.live != nil {
		text, err := unpress(item.away.live)
		var v any
		if err == nil {
			v, err = merge.ReadJSON(text)
		}
		if err != nil {
			item.Err = fmt.Errorf("%s: cannot be read again: %w", item.Target, err)
			return
		}
		live, _ = v.(map[string]any)
	}
	if item.Planned, item.Err = p.again(ctx, item, live); item.Err == nil {
		item.away.whole, item.away.live = true, nil
	}
}

// Show calls show for each item that Merge has planned, in order, then for Others, with
// the result that a run would have, as far as that is known without a server. What Needs
// says is there then; afterwards it need not be, where Shown says so. An item that ctx's
// end keeps from being shown has an error.
func (p *Plan) Show(ctx context.Context, show func(*Item)) {
	for some := range slices.Chunk(p.Items, shelfWindow) {
		p.each(ctx, some, func(i int) { p.takeFromShelf(ctx, some[i]) }, func(i int) {
			some[i].Result = still(some[i])
			show(some[i])
			if some[i].away != nil {
				some[i].drop()
			}
		})
	}
	for _, item := range p.Others {
		item.Result = still(item)
		show(item)
	}
}
