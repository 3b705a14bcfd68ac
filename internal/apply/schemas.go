package apply

import (
	"context"
	"fmt"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Documents keeps the schemas of a run: each group and version is fetched and read once,
// for all objects. It may be used by several goroutines.
type Documents struct {
	// Fetch returns the OpenAPI v3 document of a group and version, nil where there is
	// none.
	Fetch func(ctx context.Context, group, version string) ([]byte, error)

	mu   sync.Mutex
	docs map[string]*document
}

type document struct {
	once sync.Once
	doc  *schema.Document
	err  error
}

// Type returns the type of a kind, nil where the document does not have it or there is no
// document. The error is Fetch's, or why the document cannot be read; it names group and version.
func (d *Documents) Type(ctx context.Context, group, version, kind string) (*merge.Type, error) {
	entry := d.entry(group + "/" + version)
	entry.once.Do(func() {
		var text []byte
		if text, entry.err = d.Fetch(ctx, group, version); entry.err != nil || text == nil {
			return
		}
		if entry.doc, entry.err = schema.FromOpenAPI(text, merge.SourceServer); entry.err != nil {
			entry.err = fmt.Errorf("schema of %s/%s: %w", group, version, entry.err)
		}
	})
	if entry.err != nil || entry.doc == nil {
		return nil, entry.err
	}
	t, ok := entry.doc.Type(group, version, kind)
	if err := entry.doc.Err(); !ok && err != nil {
		return nil, fmt.Errorf("schema of %s/%s, %s: %w", group, version, kind, err)
	}
	return t, nil
}

func (d *Documents) entry(key string) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.docs == nil {
		d.docs = map[string]*document{}
	}
	if d.docs[key] == nil {
		d.docs[key] = &document{}
	}
	return d.docs[key]
}

// Forget makes the next Type of a group and version fetch again, since a
// CustomResourceDefinition was written.
func (d *Documents) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.docs = nil
}
