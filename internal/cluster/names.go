package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// namesAccept asks for a table, in which an object is a row of cells; with
// includeObject=None nothing else of an object is sent
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables).
const namesAccept = "application/json;as=Table;g=meta.k8s.io;v=v1"

// Names are the names of a resource's objects in one namespace or, for "", in all;
// at most so many. The objects themselves, and the values of Secrets, stay with the
// server. A server that has no such tables is an error.
func (c *Cluster) Names(ctx context.Context, r Resource, namespace string, most int) ([]string, error) {
	t := Target{Resource: r, Namespace: namespace}
	req := c.request("GET", t).SetHeader("Accept", namesAccept).Param("includeObject", "None").Param("limit", strconv.Itoa(most))
	data, err := c.answer(ctx, t, "list", req)
	if err != nil {
		return nil, err
	}
	var table struct {
		ColumnDefinitions []struct{ Format string }
		Rows              []struct{ Cells []any }
	}
	if err := json.Unmarshal(data, &table); err != nil {
		return nil, fmt.Errorf("the server's table cannot be read: %w", err)
	}
	at := slices.IndexFunc(table.ColumnDefinitions, func(c struct{ Format string }) bool { return c.Format == "name" })
	var names []string
	for _, row := range table.Rows[:min(len(table.Rows), most)] {
		if at >= 0 && at < len(row.Cells) {
			if name, ok := row.Cells[at].(string); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
