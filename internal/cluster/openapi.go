package cluster

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/client-go/openapi"

	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// schemas keeps the index for the length of a run, and documents between runs.
type schemas struct {
	mu    sync.Mutex
	asked bool
	paths map[string]openapi.GroupVersionWithContext
	err   error

	cache *schemaCache // nil keeps nothing
}

// KeepSchemas has the documents that OpenAPI fetches kept below dir, which is
// kubectl's cache folder; "" keeps nothing. It is to be called before OpenAPI is.
func (c *Cluster) KeepSchemas(dir string) { c.schemas.cache = newSchemaCache(dir, c.host) }

// OpenAPI gives the OpenAPI v3 document, as JSON, that describes the kinds of a
// group and version: as much of it as bears on merging. nil without an error means
// that the server has none: it publishes no OpenAPI v3, or nothing for this group.
// The index is fetched once; the caller keeps the documents.
func (c *Cluster) OpenAPI(ctx context.Context, group, version string) ([]byte, error) {
	paths, err := c.schemaIndex(ctx)
	if err != nil {
		if err := c.explain(err, Target{}, "get"); !IsNotFound(err) {
			return nil, fmt.Errorf("schema index /openapi/v3: %w", err)
		}
		return nil, nil
	}
	path := "apis/" + group + "/" + version
	if group == "" {
		path = "api/" + version
	}
	gv, ok := paths[path]
	if !ok {
		return nil, nil
	}
	if doc := c.schemas.cache.get(gv.ServerRelativeURL()); doc != nil {
		return doc, nil
	}
	data, err := gv.SchemaWithContext(ctx, "application/json")
	if err != nil {
		return nil, fmt.Errorf("schema /openapi/v3/%s: %w", path, c.explain(err, Target{}, "get"))
	}
	doc, err := schema.Distil(data)
	if err != nil {
		return nil, fmt.Errorf("schema /openapi/v3/%s: %w", path, err)
	}
	c.schemas.cache.put(gv.ServerRelativeURL(), doc)
	return doc, nil
}

func (c *Cluster) schemaIndex(ctx context.Context) (map[string]openapi.GroupVersionWithContext, error) {
	s := &c.schemas
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked {
		s.asked = true
		s.paths, s.err = openapi.NewClientWithContext(c.client).PathsWithContext(ctx)
	}
	return s.paths, s.err
}

// forget makes the next look at the index ask the server anew.
func (s *schemas) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.paths, s.err = false, nil, nil
}
