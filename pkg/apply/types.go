package apply

import (
	"context"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Types are the types of kinds that are not built in, by which their lists and maps are split. The
// zero value is empty and ready to use. It is safe for concurrent use, and may be shared.
type Types struct {
	// Fetch returns the OpenAPI v3 document of a group and version, nil where there is none. It is
	// asked once for each that is not built in and was not added; nil where no server is to be
	// asked. It must be set before the first use.
	Fetch func(ctx context.Context, group, version string) ([]byte, error)

	mu     sync.RWMutex
	added  apply.Definitions
	served *apply.Documents // as Fetch returned them; nil: none yet
}

// Add adds a CustomResourceDefinition, a list of them, or an OpenAPI document of an API server, in
// any form that Planner.Plan takes. A definition replaces an earlier one of its kind. It is an
// error if it is none of these, or cannot be read.
func (t *Types) Add(definition any) error {
	m, err := asJSON(definition)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.added.Add(m)
}

// Forget makes the next plan fetch again, as after a CustomResourceDefinition has changed.
func (t *Types) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.served = nil
}

// find is the engine's source of types; t may be nil.
func (t *Types) find(ctx context.Context, group, version, kind string) (*merge.Type, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.RLock()
	typ, err := t.added.Around(nil)(ctx, group, version, kind)
	t.mu.RUnlock()
	if typ != nil || err != nil || t.Fetch == nil {
		return typ, err
	}
	t.mu.Lock()
	if t.served == nil {
		t.served = &apply.Documents{Fetch: t.Fetch}
	}
	served := t.served
	t.mu.Unlock()
	if typ, err = served.Type(ctx, group, version, kind); err != nil {
		t.Forget() // a server that could not be reached is asked again
	}
	return typ, err
}

// hasStatus reports whether an object's status is written through a subresource of its own. Of a
// kind that is not known it is assumed: a status that the server drops would be written for ever.
func (t *Types) hasStatus(o object.Object) bool {
	if kind, known := schema.BuiltinKind(o.Group(), o.Version(), o.Kind()); known {
		return kind.HasStatus
	}
	if t == nil {
		return true
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	kind, known := t.added.Kind(o.Group(), o.Version(), o.Kind())
	return kind.HasStatus || !known
}
