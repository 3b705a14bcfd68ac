package object

import (
	"bytes"
	"fmt"
	"strings"
	"unique"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// packed is an object as text, with what distinguishes it at hand. It is not modified: objects
// share it.
type packed struct {
	apiVersion, kind, namespace, name string

	text []byte // the whole object as JSON
}

// Packed is the object stored compactly until its turn comes: its Value is nil, and only
// apiVersion, kind, name and namespace are left at hand. Whole brings back the
// rest. A CustomResourceDefinition stays as it is, since other objects may be of
// its kind, and so does what JSON cannot hold.
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
		name: strings.Clone(o.Name()), // without the text of the document, which it is a part of
		text: bytes.Clone(text),       // without the room that the buffer has grown
	}
	o.Value = nil
	return o
}

// shared is a text of which all objects that have it need one copy.
func shared(text string) string { return unique.Make(text).Value() }

// Same reports whether two objects have the same content, wherever they were read. One that cannot be read again
// is the same as no other.
func (o Object) Same(other Object) bool {
	a, err := o.Whole()
	b, errOther := other.Whole()
	return err == nil && errOther == nil && merge.Identical(a.Value, b.Value)
}

// Whole is the object as it was before Packed, in the namespace that it has now. An object
// that is not packed is returned as it is. It is an error if what was packed cannot be read
// again.
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
