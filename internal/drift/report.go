package drift

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/contexts"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Report is the result of a comparison of many objects.
type Report struct {
	Checked int   // objects compared
	Drifted int   // those that differ
	Rows    []Row // in the order of the input, orphaned members last
	Errors  []string

	of     *several // nil: it is about one cluster
	groups map[group]*tally
}

// group is the key that a metric counts by.
type group struct{ namespace, apiGroup, kind string }

// tally counts the objects of a group, and its rows by kind.
type tally struct {
	checked, drifted int
	rows             map[Kind]int
}

// Add adds an item that was compared, see Of, and returns its rows. nil if the item has not
// drifted.
func (r *Report) Add(item *run.Item, manager string) []Row {
	rows, made := item.Rendered.([]Row)
	if !made {
		rows = Of(item, manager)
	}
	r.add(item.Target, rows)
	return rows
}

// add adds an object with its rows.
func (r *Report) add(o Object, rows []Row) {
	g := group{o.Namespace, o.Group, o.Kind}
	if r.groups == nil {
		r.groups = map[group]*tally{}
	}
	if r.groups[g] == nil {
		r.groups[g] = &tally{rows: map[Kind]int{}}
	}
	t := r.groups[g]
	r.Checked++
	t.checked++
	for _, row := range rows {
		t.rows[row.Drift]++
	}
	if len(rows) > 0 {
		r.Drifted++
		t.drifted++
	}
	r.Rows = append(r.Rows, rows...)
}

// counts returns the number of rows of each kind.
func (r *Report) counts() map[Kind]int {
	n := map[Kind]int{}
	for _, row := range r.Rows {
		n[row.Drift]++
	}
	return n
}

// Summary returns the report in one line.
func (r *Report) Summary() string {
	objects := diff.Count(r.Checked, "object", "objects")
	if r.of != nil {
		objects += " in " + diff.Count(r.of.compared, "context", "contexts")
	}
	if r.Drifted == 0 {
		return objects + " compared: no drift"
	}
	return fmt.Sprintf("%s compared, %d drifted: %s", objects, r.Drifted, diff.Counts(r.counts(), Kinds))
}

// sorted returns the groups in the order of namespace, group and kind.
func (r *Report) sorted() []group {
	return slices.SortedFunc(maps.Keys(r.groups), func(a, b group) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.apiGroup, b.apiGroup), strings.Compare(a.kind, b.kind))
	})
}

// several is what a report about several clusters has of each.
type several struct {
	names    []string // of contexts
	reports  []*Report
	compared int // clusters with objects that were compared
}

// Join returns one report about several clusters, of each the report and the name of its context.
// Each row and error has its context's; the formats for people print once what several have in
// common. The reports are not modified.
func Join(names []string, reports []*Report) *Report {
	all := &Report{of: &several{names: names, reports: reports}}
	for i, r := range reports {
		all.Checked += r.Checked
		all.Drifted += r.Drifted
		if r.Checked > 0 {
			all.of.compared++
		}
		for _, row := range r.Rows {
			row.Context = names[i]
			all.Rows = append(all.Rows, row)
		}
		for _, text := range r.Errors {
			all.Errors = append(all.Errors, "context "+names[i]+": "+text)
		}
	}
	return all
}

// grouped returns the rows for people. Of a report about several clusters, they name all contexts
// with the same difference, whenever it was made: of several times, the row has the latest.
func (r *Report) grouped() (rows []Row) {
	if r.of == nil {
		return r.Rows
	}
	lists := object.Each(r.of.reports, func(one *Report) []Row { return one.Rows })
	for _, s := range contexts.Group(lists, Row.key, Row.same) {
		row := s.All[0]
		for _, other := range s.All {
			if other.Owner != nil && other.Owner.Time.After(row.Owner.Time) {
				row.Owner = other.Owner
			}
		}
		row.Context = contexts.Label(s.In, r.of.names)
		rows = append(rows, row)
	}
	return rows
}

// Stream prints a watch. An error is that of the writer, or of a value that is not JSON.
type Stream interface {
	Begin(*Report) error // with the report at its beginning
	Event(Event) error
	End(*Report) error // with the report at its end
}

// Stream prints a watch to w. For a format without events, the error names those that have them.
func (f Format) Stream(w io.Writer, o Options) (Stream, error) {
	if f.stream == nil {
		return nil, fmt.Errorf("has no events: use %s or %s", Formats[0].Name, Formats[1].Name)
	}
	return f.stream(w, o), nil
}

// tableStream prints a line for each row that is found, and one for each event.
type tableStream struct {
	io.Writer
	options Options
	wide    []int
}

func streamTable(w io.Writer, o Options) Stream { return &tableStream{Writer: w, options: o} }

// Begin prints the heads and the rows at the beginning.
func (s *tableStream) Begin(r *Report) error {
	now := time.Now()
	rows := fit(s.options.Width, func(n int) [][]string {
		rows := object.Each(r.Rows, func(row Row) []string { return Event{found, now, row}.cells(n) })
		return append([][]string{append([]string{"SEEN", "EVENT"}, heads...)}, rows...)
	})
	s.wide = diff.Columns(rows)
	if wide := diff.Columns(append(rows, usual)); s.options.Width == 0 || diff.LineWidth(wide, gap) <= s.options.Width {
		s.wide = wide
	}
	return s.options.writeLines(s, rows, s.wide, colors(r.Rows))
}

// usual has the width of most events.
var usual = []string{"15:04:05Z", string(Updated), "production", "deployment.apps/checkout", string(Orphaned), "spec.template.spec.containers", "12345678", "12345678", "kubectl-client-side-apply", "2006-01-02 15:04Z"}

// Event prints a line, in the columns of those before it if it fits.
func (s *tableStream) Event(e Event) error {
	rows := fit(s.options.Width, func(n int) [][]string { return [][]string{e.cells(n)} })
	for i, n := range diff.Columns(rows) {
		if s.options.Width == 0 || diff.LineWidth(s.wide, gap)+n-s.wide[i] <= s.options.Width {
			s.wide[i] = max(s.wide[i], n)
		}
	}
	return s.options.writeLines(s, rows, s.wide, []string{kindColors[e.Row.Drift]})
}

// End prints nothing: the caller prints the summary.
func (s *tableStream) End(*Report) error { return nil }

func (e Event) cells(n int) []string {
	return append([]string{e.Seen.UTC().Format("15:04:05Z"), string(e.Event)}, e.Row.cells(n)...)
}

// jsonStream prints the report at the beginning and at the end, and each event, on a line
// of its own.
type jsonStream struct{ io.Writer }

func streamJSON(w io.Writer, _ Options) Stream { return jsonStream{w} }

// Begin prints the report.
func (s jsonStream) Begin(r *Report) error { return writeJSON(s, r, Options{Now: time.Now()}) }

// Event prints a line of kind DriftEvent.
func (s jsonStream) Event(e Event) error {
	return escape.WriteJSON(s, map[string]any{"kind": "DriftEvent", "event": e.Event, "seen": e.Seen.UTC().Format(time.RFC3339Nano), "row": e.Row.JSON()}, "")
}

// End prints the report at the end.
func (s jsonStream) End(r *Report) error { return s.Begin(r) }

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
	old := map[string]Row{}
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

// key identifies a row. What servers say about its kind besides does not count.
func (r Row) key() string {
	return strings.Join([]string{r.Group, r.Version, r.Kind, r.Namespace, r.Name, r.Path.String()}, "\x00")
}

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
