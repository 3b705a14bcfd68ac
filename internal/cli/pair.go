package cli

import (
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// pairing finds the saved live form of objects, where no server can be asked what
// a kind is like.
type pairing struct {
	files *source.Saved
	defs  *apply.Definitions
	ns    run.Namespacing
}

// pair is the object as an item, in the namespace where its live form is, and that
// form; nil where there is none. Either may be packed.
func (p pairing) pair(o object.Object) (*run.Item, *object.Object, error) {
	kind, known := schema.BuiltinKind(o.Group(), o.Version(), o.Kind())
	if !known {
		kind, known = p.defs.Kind(o.Group(), o.Version(), o.Kind())
	}
	if !known {
		if err := noKind(o); err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", o.Origin, o, err)
		}
	}
	o, err := p.place(o, kind, known)
	if err != nil {
		return nil, nil, err
	}
	found, err := p.files.Find(o)
	if err != nil {
		return nil, nil, err
	}
	if found != nil {
		o = o.InNamespace(found.Namespace())
	}
	if known && kind.Namespaced && o.Namespace() == "" {
		o = o.InNamespace("default")
	}
	return &run.Item{Object: o, Target: cluster.Target{
		Resource: cluster.Resource{
			Group: o.Group(), Version: o.Version(), Kind: o.Kind(), Plural: kind.Resource,
			Namespaced: o.Namespace() != "", Status: kind.HasStatus,
		},
		Namespace: o.Namespace(),
		Name:      o.Name(),
	}}, found, nil
}

// noKind is the error of a kind that the built-in apiVersion it is under does not have;
// nil where the apiVersion is another's, of which nobody here knows the kinds.
func noKind(o object.Object) error {
	var kinds []string
	for _, k := range schema.BuiltinKinds() {
		if k.Group == o.Group() && k.Version == o.Version() {
			kinds = append(kinds, k.Kind)
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	unknown := &cluster.UnknownKindError{Kind: o.Kind(), APIVersion: o.APIVersion()}
	unknown.NearVersion, unknown.Near = schema.SuggestKind(unknown.APIVersion, unknown.Kind, kinds, nil, nil)
	return unknown
}

// place puts the object into the namespace that the user named. Whether an unknown
// kind has namespaces only its objects can tell.
func (p pairing) place(o object.Object, kind schema.Kind, known bool) (object.Object, error) {
	switch {
	case known && !kind.Namespaced:
		return o.InNamespace(""), nil
	case p.ns.Default == "" && o.Namespace() == "":
		return o, nil
	}
	return p.ns.Place(o, true)
}
