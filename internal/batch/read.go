package batch

import (
	"context"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
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
	pageBytes = 4 << 20 // what a page is to come to, at most
)

// shelf is objects of one kind in one namespace.
type shelf struct {
	cluster.Resource
	namespace string
	items     []*Item
}

// readLists reads the objects that stand together in large numbers by lists. What
// a list does not answer, or a server does not list, stays to be read by itself.
func (j *Job) readLists(ctx context.Context, items []*Item) {
	shelves := shelved(items)
	run.Each(ctx, len(shelves), j.Concurrency, func(i int) { j.readList(ctx, shelves[i]) }, func(int) {})
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
			at[p] = &shelf{Resource: p.Resource, namespace: p.namespace}
			all = append(all, at[p])
		}
		at[p].items = append(at[p].items, item)
	}
	worth := all[:0]
	for _, s := range all {
		if len(s.items) >= listFrom && kindOf(s.Resource) != "Secret" {
			worth = append(worth, s)
		}
	}
	return worth
}

// readList gives the shelf's items what a list says of them. An error is none
// here: whatever is wrong shows when the object itself is read.
func (j *Job) readList(ctx context.Context, s *shelf) {
	wanted := make(map[string]*Item, len(s.items))
	for _, item := range s.items {
		wanted[item.Target.Name] = item
	}
	l := cluster.Listing{Resource: s.Resource, Namespace: s.namespace, Limit: min(firstPage, len(s.items)+listFree)}
	for seen := 0; len(wanted) > 0; {
		page, err := j.API.Page(ctx, l)
		if err != nil {
			return
		}
		for i, o := range page.Objects {
			if item := wanted[o.Name]; item != nil {
				item.listed = &page.Objects[i]
				delete(wanted, o.Name)
			}
		}
		seen += len(page.Objects)
		if page.Next == "" {
			break
		}
		if seen+max(page.Left, 0) > listMost*len(s.items)+listFree {
			return
		}
		l.Continue, l.Limit = page.Next, nextLimit(l.Limit, page)
	}
	for _, item := range wanted {
		item.absent = complete(s.Resource)
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

// live is the item's live form, nil where there is none.
func (j *Job) live(ctx context.Context, item *Item) (map[string]any, error) {
	switch {
	case item.absent:
		return nil, nil
	case item.listed != nil:
		listed := item.listed
		item.listed = nil // it is large, and needed once
		return listed.Object()
	}
	live, err := j.API.Get(ctx, item.Target)
	if cluster.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}
