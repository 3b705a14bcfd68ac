package drift

import "github.com/kubectl-merge/kubectl-merge/internal/contexts"

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
	lists := make([][]Row, len(r.of.reports))
	for i, one := range r.of.reports {
		lists[i] = one.Rows
	}
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
