package run

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// When a list is read instead of single objects. A list costs one request and may contain
// objects that are not needed, so it must replace many reads and contain few others.
const (
	listFrom = 16 // objects of one kind and namespace; fewer are read concurrently anyway
	listMost = 3  // objects that a list may contain for each one needed
	listFree = 50 // and those that it may contain in any case

	firstPage = 100     // objects, while their size is unknown
	fullPage  = 500     // objects at most
	pageBytes = 1 << 20 // size of a page at most
)

// batch is the objects of one kind in one namespace.
type batch struct {
	cluster.Resource
	lister    live.Lister
	namespace string
	items     []*Item
	wanted    map[string]*Item // by name, those not merged yet
	done      func(int)        // called for each that is merged
}

// readLists reads and merges items by lists where many are of one kind and namespace. It
// returns the others in order: those for which a list does not pay, or gave no answer.
// done is called for each item that is merged.
func (p *Plan) readLists(ctx context.Context, items []*Item, done func(int)) []*Item {
	lister, ok := p.Live.(live.Lister)
	if !ok {
		return items
	}
	batches := batched(items)
	parallel.Each(ctx, parallel.Steps{N: len(batches), Limit: p.Concurrency}, func(i int) {
		batches[i].lister, batches[i].done = lister, done
		p.readList(ctx, batches[i])
	})
	merged := map[*Item]bool{}
	for _, b := range batches {
		for _, item := range b.items {
			merged[item] = b.wanted[item.Target.Name] != item
		}
	}
	return slices.DeleteFunc(slices.Clone(items), func(item *Item) bool { return merged[item] })
}

// batched returns the batches for which a list pays. Secrets are never listed: a list
// would contain values of other Secrets.
func batched(items []*Item) []*batch {
	type place struct {
		cluster.Resource
		namespace string
	}
	at := map[place]*batch{}
	var all []*batch
	for _, item := range items {
		p := place{item.Target.Resource, item.Target.Namespace}
		if at[p] == nil {
			at[p] = &batch{Resource: p.Resource, namespace: p.namespace, wanted: map[string]*Item{}}
			all = append(all, at[p])
		}
		if at[p].wanted[item.Target.Name] == nil { // a duplicate, which is an error, is read by itself
			at[p].items = append(at[p].items, item)
			at[p].wanted[item.Target.Name] = item
		}
	}
	worth := all[:0]
	for _, b := range all {
		if len(b.items) >= listFrom && !redact.IsSecretKind(b.Group, b.Kind) {
			worth = append(worth, b)
		}
	}
	return worth
}

// readList merges the batch's items that a list contains and leaves the others wanted.
// Errors are ignored here: they recur when the object itself is read.
func (p *Plan) readList(ctx context.Context, b *batch) {
	l := cluster.Listing{Resource: b.Resource, Namespace: b.namespace, Limit: min(firstPage, len(b.items)+listFree)}
	var walk cluster.Walk
	for seen := 0; len(b.wanted) > 0; {
		page, err := b.lister.List(ctx, l)
		if err != nil {
			return
		}
		p.takePage(ctx, b, page)
		seen += len(page.Objects)
		if page.Next == "" {
			break
		}
		if seen+max(page.Left, 0) > listMost*len(b.items)+listFree || walk.Past(page) != nil {
			return
		}
		l.Continue, l.Limit = page.Next, nextLimit(l.Limit, page)
	}
	if complete(b.Resource) {
		p.mergeAll(ctx, b, slices.Collect(maps.Values(b.wanted)), func(int) (map[string]any, error) { return nil, nil })
	}
}

// takePage merges the items of the batch that a page contains.
func (p *Plan) takePage(ctx context.Context, b *batch, page cluster.Page) {
	var (
		items []*Item
		found []cluster.Listed
	)
	for _, o := range page.Objects {
		if item := b.wanted[o.Name]; item != nil {
			items, found = append(items, item), append(found, o)
		}
	}
	p.mergeAll(ctx, b, items, func(i int) (map[string]any, error) { return found[i].Object() })
}

// mergeAll merges items of the batch; object returns the live object of each.
func (p *Plan) mergeAll(ctx context.Context, b *batch, items []*Item, object func(i int) (map[string]any, error)) {
	begun := parallel.Each(ctx, parallel.Steps{N: len(items), Limit: p.Concurrency, Done: b.done}, func(i int) {
		obj, err := object(i)
		if err != nil {
			items[i].Err = fmt.Errorf("%s: %w", items[i].Target, err)
			return
		}
		p.merge(ctx, items[i], obj)
	})
	for _, item := range items[:begun] {
		delete(b.wanted, item.Target.Name)
	}
}

// nextLimit is how many objects of that size make a full page.
func nextLimit(limit int, page cluster.Page) int {
	if len(page.Objects) == 0 {
		return limit
	}
	return min(max(pageBytes/(1+page.Size/len(page.Objects)), 1), fullPage)
}

// complete reports whether an object that is missing in a list of this kind does not exist.
// That holds for the API server's own kinds; an aggregated server may list only what its
// user may see.
func complete(r cluster.Resource) bool {
	_, ok := schema.BuiltinKind(r.Group, r.Version, r.Kind)
	return ok
}
