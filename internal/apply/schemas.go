package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Documents keeps the schemas of a run: each group and version is fetched and read once,
// for all objects. It may be used by several goroutines.
type Documents struct {
	// Fetch returns the OpenAPI v3 document of a group and version, nil where there is
	// none.
	Fetch func(ctx context.Context, group, version string) ([]byte, error)
	// Definition returns the CustomResourceDefinition of a kind, nil where there is none or it may not
	// be read. It is asked for what no document has: the server publishes the schema of a
	// CustomResourceDefinition only after it serves the kind. nil: none is asked for.
	Definition func(ctx context.Context, group, kind string) (map[string]any, error)

	read sync.Map // what was read, as once keeps it, by group and version, or kind
}

// once returns what read has returned when it was called first for a key.
func once[T any](kept *sync.Map, key string, read func() (T, error)) (T, error) {
	first, _ := kept.LoadOrStore(key, sync.OnceValues(read))
	return first.(func() (T, error))()
}

// Type returns the type of a kind, nil where neither the document of its group and version nor a
// CustomResourceDefinition has it. The error is that of Fetch or Definition, or why what they returned
// cannot be read; it names group and version.
func (d *Documents) Type(ctx context.Context, group, version, kind string) (*merge.Type, error) {
	doc, err := once(&d.read, group+"/"+version, func() (*schema.Document, error) {
		text, err := d.Fetch(ctx, group, version)
		if err != nil || text == nil {
			return nil, err
		}
		doc, err := schema.FromOpenAPI(text, merge.SourceServer)
		if err != nil {
			return nil, fmt.Errorf("schema of %s/%s: %w", group, version, err)
		}
		return doc, nil
	})
	if err != nil {
		return nil, err
	}
	if doc != nil {
		t, err := doc.Type(group, version, kind)
		if err != nil {
			return nil, fmt.Errorf("schema of %s/%s, %s: %w", group, version, kind, err)
		}
		if t != nil {
			return t, nil
		}
	}
	if _, builtin := schema.BuiltinKind(group, version, kind); builtin || d.Definition == nil {
		return nil, nil
	}
	return d.Defined(ctx, group, version, kind)
}

// Defined returns the type of a kind as its CustomResourceDefinition states it, which is read once; nil
// where there is none. Definition must not be nil. Errors are those of Type.
func (d *Documents) Defined(ctx context.Context, group, version, kind string) (*merge.Type, error) {
	return once(&d.read, group+"/"+version+" "+kind, func() (*merge.Type, error) {
		crd, err := d.Definition(ctx, group, kind)
		if err != nil || crd == nil {
			return nil, err
		}
		versions, err := schema.FromCRD(crd, merge.SourceServer)
		if err != nil {
			return nil, fmt.Errorf("schema of %s/%s, %s: %w", group, version, kind, err)
		}
		for _, v := range versions {
			if v.Version == version {
				return v.Type, nil
			}
		}
		return nil, nil
	})
}

// Forget makes the next Type of a group and version fetch again, since a
// CustomResourceDefinition was written.
func (d *Documents) Forget() { d.read.Clear() }

// Definitions are kinds known from files: from the CustomResourceDefinitions that
// are themselves in the input, and from schema files.
type Definitions struct {
	input map[kind]schema.Definition // states what the server will have
	files map[kind]schema.Definition
	docs  []*schema.Document
}

type kind struct{ group, version, kind string }

// Input adds the CustomResourceDefinitions among the objects. One that cannot be read is
// skipped; the server will refuse it.
func (d *Definitions) Input(objects []object.Object) {
	for _, o := range objects {
		if o.Group() != "apiextensions.k8s.io" || o.Kind() != "CustomResourceDefinition" {
			continue
		}
		if defs, err := schema.FromCRD(o.Value, merge.SourceFile); err == nil {
			d.input = added(d.input, defs)
		}
	}
}

func added(m map[kind]schema.Definition, defs []schema.Definition) map[kind]schema.Definition {
	if m == nil {
		m = map[kind]schema.Definition{}
	}
	for _, def := range defs {
		m[kind{def.Group, def.Version, def.Kind.Kind}] = def
	}
	return m
}

// Add adds one document of a schema file, read by merge.ReadJSON or internal/yamldoc: a
// CustomResourceDefinition, a list of them, or an OpenAPI document. It is an error if v is
// none of these, or cannot be read. Entries of a list before the faulty one stay added.
func (d *Definitions) Add(v any) error {
	m, _ := v.(map[string]any)
	items, isList := m["items"].([]any)
	switch {
	case m["kind"] == "CustomResourceDefinition":
		defs, err := schema.FromCRD(m, merge.SourceFile)
		if err == nil {
			d.files = added(d.files, defs)
		}
		return err
	case isList && m["kind"] != nil:
		for _, item := range items {
			if err := d.Add(item); err != nil {
				return err
			}
		}
		return nil
	case m["openapi"] != nil || m["swagger"] != nil:
		text, _ := json.Marshal(m) // it is JSON, as read
		doc, err := schema.FromOpenAPI(text, merge.SourceFile)
		if err == nil {
			d.docs = append(d.docs, doc)
		}
		return err
	}
	return errors.New("is neither a CustomResourceDefinition nor an OpenAPI document")
}

// Kind returns what the files state about a kind, and whether they define it.
func (d *Definitions) Kind(group, version, name string) (schema.Kind, bool) {
	k := kind{group, version, name}
	if def, ok := d.input[k]; ok {
		return def.Kind, true
	}
	def, ok := d.files[k]
	return def.Kind, ok
}

// Around returns a source that asks the input's own definitions first, then ask (may be
// nil), then the files.
func (d *Definitions) Around(ask Schemas) Schemas {
	return func(ctx context.Context, group, version, name string) (*merge.Type, error) {
		k := kind{group, version, name}
		if def, ok := d.input[k]; ok {
			return def.Type, nil
		}
		if ask != nil {
			if t, err := ask(ctx, group, version, name); t != nil || err != nil {
				return t, err
			}
		}
		if def, ok := d.files[k]; ok {
			return def.Type, nil
		}
		for _, doc := range d.docs {
			if t, err := doc.Type(group, version, name); t != nil || err != nil {
				return t, err
			}
		}
		return nil, nil
	}
}
