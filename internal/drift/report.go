package drift

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/contexts"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
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
