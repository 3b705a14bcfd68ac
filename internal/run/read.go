package run

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/pkg/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// When a list is read instead of single objects. It costs one request and carries
// objects that nobody asked for, so it has to replace many and carry few.
const (
	listFrom = 16 // objects of one kind and namespace; fewer are read at once anyway
	listMost = 3  // for each object asked for, those that a list may carry
	listFree = 50 // and those that it may carry in any case

	firstPage = 100     // objects, as long as nobody knows how large they are
	fullPage  = 500     // objects, at most
	pageBytes = 1 << 20 // what a page is to come to, at most
)

// shelf is objects of one kind in one namespace.
type shelf struct {
	cluster.Resource
	namespace string
	items     []*Item
	wanted    map[string]*Item // by name: those that are not merged yet
	done      func(int)        // called for each that is
}

// readLists reads and merges the items that stand together in large numbers, by
// lists. It returns the rest, in order: what no list is worth, what a list does not
// answer, and what a server does not list. done is called for each that is merged.
func (j *Job) readLists(ctx context.Context, items []*Item, done func(int)) []*Item {
	shelves := shelved(items)
	for _, s := range shelves {
		s.done = done
	}
	parallel.Each(ctx, len(shelves), j.Concurrency, func(i int) { j.readList(ctx, shelves[i]) }, func(int) {})
	through := map[*Item]bool{}
	for _, s := range shelves {
		for _, item := range s.items {
			through[item] = s.wanted[item.Target.Name] != item
		}
	}
	return slices.DeleteFunc(slices.Clone(items), func(item *Item) bool { return through[item] })
}

// shelved are the shelves that are worth a list. A list of Secrets would carry
// values that nobody asked for.
func shelved(items []*Item) []*shelf {
	type place struct {
		cluster.Resource
		namespace string
	}
	at := map[place]*shelf{}
	var all []*shelf
	for _, item := range items {
		p := place{item.Target.Resource, item.Target.Namespace}
		if at[p] == nil {
			at[p] = &shelf{Resource: p.Resource, namespace: p.namespace, wanted: map[string]*Item{}}
			all = append(all, at[p])
		}
		if at[p].wanted[item.Target.Name] == nil { // what is given twice, which is an error, is read by itself
			at[p].items = append(at[p].items, item)
			at[p].wanted[item.Target.Name] = item
		}
	}
	worth := all[:0]
	for _, s := range all {
		if len(s.items) >= listFrom && !redact.IsSecretKind(s.Group, s.Kind) {
			worth = append(worth, s)
		}
	}
	return worth
}

// readList merges the shelf's items with what a list says of them, and leaves the
// others wanted. An error is none here: whatever is wrong shows when the object
// itself is read.
func (j *Job) readList(ctx context.Context, s *shelf) {
	l := cluster.Listing{Resource: s.Resource, Namespace: s.namespace, Limit: min(firstPage, len(s.items)+listFree)}
	var walk cluster.Walk
	for seen := 0; len(s.wanted) > 0; {
		page, err := j.API.Page(ctx, l)
		if err != nil {
			return
		}
		j.takePage(ctx, s, page)
		seen += len(page.Objects)
		if page.Next == "" {
			break
		}
		if seen+max(page.Left, 0) > listMost*len(s.items)+listFree || walk.Past(page) != nil {
			return
		}
		l.Continue, l.Limit = page.Next, nextLimit(l.Limit, page)
	}
	if complete(s.Resource) {
		j.mergeAll(ctx, s, slices.Collect(maps.Values(s.wanted)), func(int) (map[string]any, error) { return nil, nil })
	}
}

// takePage merges the items of the shelf that are on the page.
func (j *Job) takePage(ctx context.Context, s *shelf, page cluster.Page) {
	var (
		items []*Item
		live  []cluster.Listed
	)
	for _, o := range page.Objects {
		if item := s.wanted[o.Name]; item != nil {
			items, live = append(items, item), append(live, o)
		}
	}
	j.mergeAll(ctx, s, items, func(i int) (map[string]any, error) { return live[i].Object() })
}

// mergeAll merges items of the shelf with what live gives for each.
func (j *Job) mergeAll(ctx context.Context, s *shelf, items []*Item, live func(i int) (map[string]any, error)) {
	begun := parallel.Each(ctx, len(items), j.Concurrency, func(i int) {
		obj, err := live(i)
		if err != nil {
			items[i].Err = fmt.Errorf("%s: %w", items[i].Target, err)
			return
		}
		j.merge(ctx, items[i], obj)
	}, s.done)
	for _, item := range items[:begun] {
		delete(s.wanted, item.Target.Name)
	}
}

// nextLimit is how many objects like those of a page make a full one.
func nextLimit(limit int, page cluster.Page) int {
	if len(page.Objects) == 0 {
		return limit
	}
	return min(max(pageBytes/(1+page.Size/len(page.Objects)), 1), fullPage)
}

// complete: what is not in a list of this kind is not there. The API server itself
// keeps to that; one that is aggregated may leave out what it likes (as one that
// lists only what its user may see).
func complete(r cluster.Resource) bool {
	_, ok := schema.BuiltinKind(r.Group, r.Version, r.Kind)
	return ok
}
