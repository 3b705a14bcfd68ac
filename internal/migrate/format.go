package migrate

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/kubectl-merge/kubectl-merge/pkg/escape"
)

// Formats lists the formats of a report, the default first.
var Formats = []string{"table", "json"}

// WriteTable prints what happens to each field, a line each; nothing if there is none. The error is
// w's.
func WriteTable(w io.Writer, items []*Item) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	rows := 0
	for _, i := range items {
		for _, r := range i.Move.Rows {
			if rows++; rows == 1 {
				fmt.Fprint(t, "NAMESPACE\tOBJECT\tWHAT\tFIELD\tBY\n")
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", dash(i.Namespace), dash(i.String()), r.What, dash(r.Path.String()), dash(strings.Join(r.By, ", ")))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return escape.Line(s)
}

// WriteJSON prints the same for programs, on one line. The error is w's.
func WriteJSON(w io.Writer, p Planner, items []*Item) error {
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
	text, err := json.Marshal(map[string]any{"kind": "MigrationReport", "to": p.To, "manager": p.Manager, "rows": rows})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", escape.JSON(text))
	return err
}
