package migrate

import "strings"

// Formats lists the formats of a report, the default first.
var Formats = []string{"table", "json"}

// Table returns what happens to each field, a line each, below the names of the columns; nil if
// nothing happens.
func Table(items []*Item) (rows [][]string) {
	for _, i := range items {
		for _, r := range i.Move.Rows {
			if rows == nil {
				rows = [][]string{{"NAMESPACE", "OBJECT", "WHAT", "FIELD", "BY"}}
			}
			rows = append(rows, []string{dash(i.Namespace), i.String(), string(r.What), dash(r.Path.String()), dash(strings.Join(r.By, ", "))})
		}
	}
	return rows
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Report returns the same for programs, as JSON.
func Report(p Planner, items []*Item) map[string]any {
	rows := []any{}
	for _, i := range items {
		for _, r := range i.Move.Rows {
			row := map[string]any{"object": i.String(), "kind": i.Kind, "name": i.Name, "what": r.What, "path": r.Path.String()}
			if i.Namespace != "" {
				row["namespace"] = i.Namespace
			}
			if len(r.By) > 0 {
				row["by"] = r.By
			}
			rows = append(rows, row)
		}
	}
	return map[string]any{"kind": "MigrationReport", "to": p.To, "manager": p.Manager, "rows": rows}
}
