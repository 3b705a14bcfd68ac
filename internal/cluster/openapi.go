package cluster

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/client-go/openapi"
)

// schemas keeps what was fetched for the length of a run.
type schemas struct {
	once  sync.Once
	paths map[string]openapi.GroupVersionWithContext
	err   error
}

// OpenAPI fetches the OpenAPI v3 document, as JSON, that describes the kinds of a
// group and version. nil without an error means that the server has none: it
// publishes no OpenAPI v3, or nothing for this group. The index is fetched once;
// the caller keeps the documents.
func (c *Cluster) OpenAPI(ctx context.Context, group, version string) ([]byte, error) {
	c.schemas.once.Do(func() {
		c.schemas.paths, c.schemas.err = openapi.NewClientWithContext(c.client).PathsWithContext(ctx)
	})
	if c.schemas.err != nil {
		if err := c.explain(c.schemas.err, Target{}, "get"); !IsNotFound(err) {
			return nil, fmt.Errorf("schema index /openapi/v3: %w", err)
		}
		return nil, nil
	}
	path := "apis/" + group + "/" + version
	if group == "" {
		path = "api/" + version
	}
	gv, ok := c.schemas.paths[path]
	if !ok {
		return nil, nil
	}
	data, err := gv.SchemaWithContext(ctx, "application/json")
	if err != nil {
		return nil, fmt.Errorf("schema /openapi/v3/%s: %w", path, c.explain(err, Target{}, "get"))
	}
	return data, nil
}
