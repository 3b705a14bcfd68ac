package drift

import (
	"reflect"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// EventKind states what happened to a difference. The words are part of the JSON report.
type EventKind string

// The kinds of events.
const (
	Began   EventKind = "began"
	Updated EventKind = "updated" // it still exists, with another value or another owner
	Ended   EventKind = "ended"   // its Owner has set the value that local states
)

// found is the word for rows that exist when a watch begins.
const found EventKind = "found"

// Event is a change of a difference.
type Event struct {
	Event EventKind
	Seen  time.Time
	Row
}

// changes returns the events that lead from rows to others, those that end first. owners are of the
// live object, if it exists.
func changes(was, is []Row, owners merge.Owners, seen time.Time) []Event {
	old := map[rowKey]Row{}
	for _, r := range was {
		old[r.key()] = r
	}
	var ended, events []Event
	for _, r := range is {
		before, there := old[r.key()]
		delete(old, r.key())
		switch {
		case !there:
			events = append(events, Event{Began, seen, r})
		case !before.same(r):
			events = append(events, Event{Updated, seen, r})
		}
	}
	for _, r := range was {
		if _, over := old[r.key()]; over {
			r.Live, r.Owner, r.Reason = merge.Opt{}, nil, ""
			if by := ownership.At(owners, r.Path); r.Path != nil && len(by) > 0 {
				r.Owner = &by[0]
			}
			ended = append(ended, Event{Ended, seen, r})
		}
	}
	return append(ended, events...)
}

// rowKey identifies a row.
type rowKey struct {
	Object
	path string
}

func (r Row) key() rowKey { return rowKey{r.Object, r.Path.String()} }

// same reports whether only the time differs, which is that of any write by the owner.
func (r Row) same(o Row) bool {
	by := func(r Row) string {
		if r.Owner == nil {
			return ""
		}
		return r.Owner.Manager + " " + r.Owner.Subresource
	}
	return r.Drift == o.Drift && r.Reason == o.Reason && by(r) == by(o) && reflect.DeepEqual(r.Wanted, o.Wanted) && reflect.DeepEqual(r.Live, o.Live)
}
