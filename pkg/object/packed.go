package object

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Packed is the object stored compactly until its turn comes: of its Value only
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
	o.packed = bytes.Clone(text) // without the room that the buffer has grown
	meta := map[string]any{}
	for _, key := range []string{"name", "namespace"} {
		if v, ok := o.meta()[key].(string); ok {
			meta[key] = strings.Clone(v) // without the text of the document, which it is a part of
		}
	}
	o.Value = map[string]any{"apiVersion": strings.Clone(o.APIVersion()), "kind": strings.Clone(o.Kind()), "metadata": meta}
	return o
}

// Whole is the object as it was before Packed, in the namespace that it has now. An object
// that is not packed is returned as it is. It is an error if what was packed cannot be read
// again.
func (o Object) Whole() (Object, error) {
	if o.packed == nil {
		return o, nil
	}
	v, err := merge.ReadJSON(o.packed)
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
