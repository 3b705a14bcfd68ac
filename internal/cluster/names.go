package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// namesAccept requests a table with one row of cells per object; with includeObject=None
// nothing else of an object is sent
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables).
const namesAccept = "application/json;as=Table;g=meta.k8s.io;v=v1"

// Names returns the names of at most that many objects of a resource, in one namespace or, for "",
// in all. The objects themselves, such as Secrets, are not transferred. It is an error if the
// server does not support tables.
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
