package run

import "context"

// Compare returns an item of the same object that is merged with another live object, nil for none.
// The item itself is unchanged, and nothing is stored: Compare may be called by several goroutines,
// at any time after Merge.
func (p *Plan) Compare(ctx context.Context, item *Item, obj map[string]any) *Item {
	again := NewItem(item.Object, item.Target)
	again.found, again.UID = obj != nil, uid(obj)
	if p.Pruner != nil && again.found {
		if again.Err = p.Pruner.Admit(again, obj); again.Err != nil {
			return again
		}
	}
	again.Own()
	again.Planned, again.Err = p.plan(ctx, again, obj)
	return again
}
