package source

import (
	"cmp"
	"context"
	"fmt"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
	"slices"
	"strings"
)

// Saved is a cluster's objects as files hold them, by `kubectl get -o yaml` say.
type Saved struct {
	byID   map[object.Identity]object.Object
	byName map[object.Identity][]string // namespaces in which there is one, under the identity without
}

// ReadSaved reads objects that stand for a cluster's live ones from files, folders
// (with all below them) or kind: List. Stdin may be nil.
func ReadSaved(ctx context.Context, in Inputs) (*Saved, error) {
	in.Recursive = true
	objects, err := Read(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := Repeated(objects); err != nil {
		return nil, err
	}
	s := &Saved{byID: make(map[object.Identity]object.Object, len(objects)), byName: map[object.Identity][]string{}}
	for _, o := range objects {
		id := o.ID()
		s.byID[id] = o
		id.Namespace = ""
		s.byName[id] = append(s.byName[id], o.Namespace())
	}
	return s, nil
}

// Select gives the saved objects that fit says yes to, those of the same place in
// the order of their names.
func (s *Saved) Select(fit func(object.Object) bool) []object.Object {
	var out []object.Object
	for _, o := range s.byID {
		if fit(o) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b object.Object) int {
		return cmp.Or(strings.Compare(a.Namespace(), b.Namespace()), strings.Compare(a.Name(), b.Name()), strings.Compare(a.String(), b.String()))
	})
	return out
}

// Find is the saved object that o is about: of the same group, kind, namespace and
// name. A namespace that is missing on one side matches the other's. nil, without
// an error, where there is none. The error is that there are several.
func (s *Saved) Find(o object.Object) (*object.Object, error) {
	found, err := s.At(o.ID())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Place(), err)
	}
	return found, nil
}

// At is the saved object of an identity, as Find finds it.
func (s *Saved) At(id object.Identity) (*object.Object, error) {
	if found, ok := s.byID[id]; ok {
		return &found, nil
	}
	if id.Namespace != "" {
		id.Namespace = ""
		if found, ok := s.byID[id]; ok {
			return &found, nil
		}
		return nil, nil
	}
	namespaces := slices.Clone(s.byName[id])
	switch len(namespaces) {
	case 0:
		return nil, nil
	case 1:
		id.Namespace = namespaces[0]
		found := s.byID[id]
		return &found, nil
	}
	slices.Sort(namespaces)
	return nil, fmt.Errorf("is saved in several namespaces (%v): say which with -n", namespaces)
}
