package object

import (
	"bytes"
	"fmt"
	"strings"
	"unique"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// packed is an object as text, with its identity decoded. It is not modified: objects share
// it.
type packed struct {
	apiVersion, kind, namespace, name string

	text []byte // the whole object as JSON
}

// Packed returns the object stored compactly until it is needed. Its Value is nil, and only
// apiVersion, kind, name and namespace stay decoded. Whole restores the rest. A
// CustomResourceDefinition is returned as it is, since other objects may be of its kind,
// and so is what JSON cannot express.
func (o Object) Packed() Object {
	if o.packed != nil || o.Kind() == "CustomResourceDefinition" {
		return o
	}
	text, err := Encode(o.Value)
	if err != nil {
		return o
	}
	o.packed = &packed{
		apiVersion: shared(o.APIVersion()), kind: shared(o.Kind()), namespace: shared(o.Namespace()),
		name: strings.Clone(o.Name()), // without the text of the document that contains it
		text: bytes.Clone(text),       // without the unused capacity of the buffer
	}
	o.Value = nil
	return o
}

// shared returns a text so that all objects with it use one copy.
func shared(text string) string { return unique.Make(text).Value() }

// Same reports whether two objects have the same content, wherever they were read. An
// object that cannot be decoded again equals no other.
func (o Object) Same(other Object) bool {
	a, err := o.Whole()
	b, errOther := other.Whole()
	return err == nil && errOther == nil && merge.Identical(a.Value, b.Value)
}

// Whole returns the object as it was before Packed, in its current namespace. An object
// that is not packed is returned as it is. It is an error if a packed object cannot be
// decoded.
func (o Object) Whole() (Object, error) {
	if o.packed == nil {
		return o, nil
	}
	v, err := merge.ReadJSON(o.packed.text)
	if err != nil {
		return o, fmt.Errorf("%s: cannot be read again: %w", o.Place(), err)
	}
	value, ok := v.(map[string]any)
	if !ok {
		return o, fmt.Errorf("%s: is %s, not an object", o.Place(), Describe(v))
	}
	namespace := o.Namespace()
	o.Value, o.packed = value, nil
	return o.InNamespace(namespace), nil
}
