package apply

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

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
