package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// When a list is read instead of single objects. A list costs one request and may contain
// objects that are not needed, so it must replace several reads and contain few others.
const (
	listFrom  = 4  // objects of one kind and namespace
	listMany  = 16 // objects of one kind that are many
	listMost  = 3  // maximum of objects in a list for each one needed
	listFree  = 50 // objects that it may contain in any case, if many are needed
	wideSpans = 4  // namespaces with few objects each that one list of all replaces

	firstPage = 100     // objects, while their size is unknown
	fullPage  = 500     // objects at most
	pageBytes = 1 << 20 // size of a page at most
)

// batch holds the objects of one kind in one namespace, or in several.
type batch struct {
	cluster.Resource
	namespace string // "" for all, and for a cluster-scoped kind
	items     []*Item
	wanted    map[place]*Item // those not merged yet
}

// place locates an object within its kind.
type place struct{ namespace, name string }

func placeOf(t cluster.Target) place { return place{t.Namespace, t.Name} }

// readLists reads and merges items by lists if that takes fewer requests. At the same time it reads
// single items for which no list pays. It returns the others in order: those that no list answered.
// done is called for each item that is merged.
func (p *Plan) readLists(ctx context.Context, items []*Item, done func(int)) []*Item {
	server, ok := p.Live.(*live.Server)
	if !ok {
		return items
	}
	all := &lists{Plan: p, api: server.API, done: done}
	wide, rest := spread(batched(items))
	left := all.read(ctx, append(wide, rest...), items)
	if len(wide) > 0 && len(left) > 0 { // the user may list only in single namespaces, or one list of all is too large
		left = all.read(ctx, batched(left), left)
	}
	return left
}

// lists reads batches. It remembers the kinds that the user may not list in some namespace, and
// does not list them in others.
type lists struct {
	*Plan
	api     *cluster.Cluster
	done    func(int)
	refused sync.Map // cluster.Resource
}

// read reads the batches for which a list pays, and the items in no such batch. It returns
// the items that are not merged.
func (l *lists) read(ctx context.Context, batches []*batch, items []*Item) []*Item {
	batches = slices.DeleteFunc(batches, func(b *batch) bool { return !b.pays() })
	listed := map[*Item]*batch{}
	for _, b := range batches {
		for _, item := range b.items {
			listed[item] = b
		}
	}
	single := slices.DeleteFunc(slices.Clone(items), func(item *Item) bool { return listed[item] != nil })
	begun := parallel.Each(ctx, parallel.Steps{N: len(batches) + len(single), Limit: l.Concurrency, Adapt: l.adaptFrom(len(batches))}, func(i int) {
		if i < len(batches) {
			l.readBatch(ctx, batches[i])
			return
		}
		l.Plan.read(ctx, single[i-len(batches)])
		l.done(0)
	})
	merged := map[*Item]bool{}
	for i, item := range single {
		merged[item] = len(batches)+i < begun
	}
	for item, b := range listed {
		merged[item] = b.wanted[placeOf(item.Target)] != item
	}
	return slices.DeleteFunc(slices.Clone(items), func(item *Item) bool { return merged[item] })
}

// adaptFrom adapts from the nth step on: the first are lists, each of which costs the server as
// much as many other requests.
func (j *Job) adaptFrom(n int) func(limit int) int {
	if j.Adapt == nil {
		return nil
	}
	begun := 0
	return func(limit int) int {
		if begun++; begun <= n {
			return limit
		}
		return j.Adapt(limit)
	}
}

func (l *lists) readBatch(ctx context.Context, b *batch) {
	if _, no := l.refused.Load(b.Resource); no && len(b.items) < listMany {
		return
	}
	if err := l.readList(ctx, b); b.namespace != "" && cluster.IsForbidden(err) {
		l.refused.Store(b.Resource, true)
	}
}

// batched groups the items by kind and namespace. Secrets are never listed: a list would contain
// values of other Secrets.
func batched(items []*Item) (all []*batch) {
	at := map[cluster.Target]*batch{} // without their names
	for _, item := range items {
		k := cluster.Target{Resource: item.Target.Resource, Namespace: item.Target.Namespace}
		if redact.IsSecretKind(k.Group, k.Kind) {
			continue
		}
		if at[k] == nil {
			at[k] = &batch{Resource: k.Resource, namespace: k.Namespace, wanted: map[place]*Item{}}
			all = append(all, at[k])
		}
		at[k].add(item)
	}
	return all
}

// add adds an item. A duplicate, which is an error, is read individually.
func (b *batch) add(item *Item) {
	if at := placeOf(item.Target); b.wanted[at] == nil {
		b.items = append(b.items, item)
		b.wanted[at] = item
	}
}

// spread merges the small batches of a kind in several namespaces into one. It returns the merged
// batches, and the others.
func spread(batches []*batch) (wide, rest []*batch) {
	small := map[cluster.Resource][]*batch{}
	var kinds []cluster.Resource
	for _, b := range batches {
		switch {
		case !b.Namespaced || len(b.items) >= listMany:
			rest = append(rest, b)
			continue
		case small[b.Resource] == nil:
			kinds = append(kinds, b.Resource)
		}
		small[b.Resource] = append(small[b.Resource], b)
	}
	for _, r := range kinds {
		whole := &batch{Resource: r, wanted: map[place]*Item{}}
		for _, b := range small[r] {
			for _, item := range b.items {
				whole.add(item)
			}
		}
		if len(small[r]) >= wideSpans && len(whole.items) >= listMany {
			wide = append(wide, whole)
		} else {
			rest = append(rest, small[r]...)
		}
	}
	return wide, rest
}

// pays reports whether a list is worth its request. Cluster-scoped kinds usually have many other
// objects.
func (b *batch) pays() bool {
	return len(b.items) >= listMany || b.Namespaced && len(b.items) >= listFrom
}

// most returns how many objects the list may contain.
func (b *batch) most() int {
	if wide := b.Namespaced && b.namespace == ""; wide || len(b.items) < listMany {
		return listMost * len(b.items)
	}
	return listMost*len(b.items) + listFree
}

// readList merges the batch's items that a list contains and leaves the others wanted.
// The error is for information: it recurs when the object itself is read.
func (l *lists) readList(ctx context.Context, b *batch) error {
	asked := cluster.Listing{Resource: b.Resource, Namespace: b.namespace, Limit: min(firstPage, len(b.items)+listFree, b.most())}
	var walk cluster.Walk
	for seen := 0; len(b.wanted) > 0; {
		page, err := l.api.Page(ctx, asked)
		if err != nil {
			return err
		}
		l.takePage(ctx, b, page)
		seen += len(page.Objects)
		if page.Next == "" {
			break
		}
		if err := walk.Past(page); err != nil || seen+max(page.Left, 0) > b.most() {
			return err
		}
		asked.Continue, asked.Limit = page.Next, nextLimit(asked.Limit, page)
	}
	if complete(b.Resource) {
		l.mergeAll(ctx, b, slices.Collect(maps.Values(b.wanted)), func(int) (map[string]any, error) { return nil, nil })
	}
	return nil
}

// takePage merges the items of the batch that a page contains.
func (l *lists) takePage(ctx context.Context, b *batch, page cluster.Page) {
	var items []*Item
	var found []cluster.Listed
	for _, o := range page.Objects {
		if item := b.wanted[place{o.Namespace, o.Name}]; item != nil {
			items, found = append(items, item), append(found, o)
		}
	}
	l.mergeAll(ctx, b, items, func(i int) (map[string]any, error) { return found[i].Object() })
}

// mergeAll merges items of the batch; object returns the live object of each.
func (l *lists) mergeAll(ctx context.Context, b *batch, items []*Item, object func(i int) (map[string]any, error)) {
	begun := parallel.Each(ctx, parallel.Steps{N: len(items), Limit: l.Concurrency, Done: l.done}, func(i int) {
		obj, err := object(i)
		if err != nil {
			items[i].Err = fmt.Errorf("%s: %w", items[i].Target, err)
			return
		}
		l.merge(ctx, items[i], obj)
	})
	for _, item := range items[:begun] {
		delete(b.wanted, placeOf(item.Target))
	}
}

// nextLimit returns how many objects of that size make a full page.
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
