package prune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
)

// Member is a member of a set, with its resource on the server.
type Member struct {
	applyset.Member
	Target cluster.Target
}

// Members holds the objects that carry a set's label, as far as they are known.
type Members struct {
	All  []Member
	Down []applyset.GroupKind // whose server does not answer: their members are unknown
	Gone []applyset.GroupKind // that no longer exist on the server, and have no members
}

// Members lists the members of a set by their metadata, of the kinds of a parent: one list of each
// kind across all namespaces, or, if the user may not, one in each namespace of it.
//
// Unlike kubectl: which lists whole objects, one list of each kind in each namespace, and
// fails for good where a kind is gone.
func (s *Set) Members(ctx context.Context, in applyset.Parent) (Members, error) {
	kinds := applyset.SortedKinds(in.Kinds)
	found := make([][]Member, len(kinds))
	errs := make([]error, len(kinds))
	begun := parallel.Each(ctx, parallel.Steps{N: len(kinds), Limit: s.Limit}, func(i int) { found[i], errs[i] = s.list(ctx, kinds[i], in.AllNamespaces()) })
	if begun < len(kinds) {
		return Members{}, ctx.Err()
	}
	var out Members
	for i, gk := range kinds {
		switch err := errs[i]; {
		case errors.As(err, new(*cluster.UnknownKindError)):
			out.Gone = append(out.Gone, gk)
		case down(err):
			out.Down = append(out.Down, gk)
			s.Note(s.Target.String(), fmt.Sprintf("%s: cannot be listed, and so nothing of this kind is pruned: %s", gk, err))
		case err != nil:
			return Members{}, fmt.Errorf("%s: cannot be listed, so that it is unknown what belongs to the set: %w", gk, err)
		}
		out.All = append(out.All, found[i]...)
	}
	return out, nil
}

// unservedError reports that a kind cannot be looked up.
type unservedError struct{ error }

// Unwrap returns the cause.
func (e *unservedError) Unwrap() error { return e.error }

// down reports whether the server of a kind does not answer, while the API server does.
func down(err error) bool {
	general := errors.As(err, new(*cluster.Unreachable)) || errors.Is(err, context.Canceled) || cluster.IsForbidden(err)
	return !general && (errors.As(err, new(*unservedError)) || cluster.Code(err) >= 500)
}

// list lists the members of one kind. If the server has no such list, though discovery names the
// kind, it is asked again without the cache: only then is the kind gone.
func (s *Set) list(ctx context.Context, gk applyset.GroupKind, namespaces []string) ([]Member, error) {
	found, err := s.listOnce(ctx, gk, namespaces)
	if !cluster.IsNotFound(err) {
		return found, err
	}
	s.API.Refresh(ctx)
	if found, err = s.listOnce(ctx, gk, namespaces); cluster.IsNotFound(err) {
		return nil, &unservedError{err}
	}
	return found, err
}

func (s *Set) listOnce(ctx context.Context, gk applyset.GroupKind, namespaces []string) ([]Member, error) {
	r, err := s.API.FindKind(ctx, gk.Group, gk.Kind)
	switch {
	case errors.As(err, new(*cluster.UnknownKindError)):
		return nil, err
	case err != nil:
		return nil, &unservedError{err}
	}
	selector := applyset.PartOfLabel + "=" + s.Parent.ID()
	all, err := s.API.ListMetadata(ctx, r, "", selector)
	if cluster.IsForbidden(err) && r.Namespaced {
		all = nil
		for _, ns := range namespaces {
			some, err := s.API.ListMetadata(ctx, r, ns, selector)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return members(r, all), nil
	}
	return members(r, all), err
}

func members(r cluster.Resource, objects []map[string]any) []Member {
	return object.Each(objects, func(obj map[string]any) Member {
		m := applyset.ReadMember(r.GroupKind(), obj)
		return Member{Member: m, Target: cluster.Target{Resource: r, Namespace: m.Namespace, Name: m.Name}}
	})
}

// plain returns members without their resources.
func plain(all []Member) []applyset.Member {
	return object.Each(all, func(m Member) applyset.Member { return m.Member })
}

// resolve finds the kinds of the group resources that an old kubectl wrote into the parent. One
// that the server does not have is reported: it has no members. Kinds that were found are kept.
func (s *Set) resolve(ctx context.Context) error {
	if len(s.Parent.Kinds) > 0 {
		return nil
	}
	for _, text := range s.Parent.Resources {
		plural, group, _ := strings.Cut(text, ".")
		r, err := s.API.FindPlural(ctx, group, plural)
		switch {
		case errors.As(err, new(*cluster.UnknownKindError)):
			s.Note(s.Target.String(), fmt.Sprintf("%s: the server does not have this resource any more, and so the set has no members of it", text))
		case err != nil:
			return fmt.Errorf("%s: metadata.annotations[%q]: %w", s.Target, applyset.ResourcesAnnotation, err)
		default:
			s.Parent.Kinds = append(s.Parent.Kinds, r.GroupKind())
		}
	}
	return nil
}

// Contents determines the contents of the Namespaces and CustomResourceDefinitions that are to be
// deleted. They need not be part of the set.
func (s *Set) Contents(ctx context.Context, decisions []applyset.Decision) applyset.Contents {
	in := applyset.Contents{Objects: map[string][]applyset.Member{}, Unknown: map[string]error{}}
	for _, d := range decisions {
		if d.Action != applyset.Delete || !d.Contains() {
			continue
		}
		look := s.inNamespace
		if d.IsCRD() {
			look = s.instances
		}
		objects, err := look(ctx, d.Name)
		if err != nil {
			in.Unknown[d.UID] = err
		}
		in.Objects[d.UID] = objects
	}
	return in
}

// inNamespace lists everything in a namespace. An unlistable kind is an error: its objects are
// deleted with the namespace.
func (s *Set) inNamespace(ctx context.Context, namespace string) ([]applyset.Member, error) {
	resources, err := s.API.Deletable(ctx)
	if err != nil {
		return nil, err
	}
	resources = slices.DeleteFunc(resources, func(r cluster.Resource) bool { return !r.Namespaced })
	found, errs := make([][]map[string]any, len(resources)), make([]error, len(resources))
	begun := parallel.Each(ctx, parallel.Steps{N: len(resources), Limit: s.Limit}, func(i int) {
		found[i], errs[i] = s.API.ListMetadata(ctx, resources[i], namespace, "")
	})
	if begun < len(resources) {
		return nil, ctx.Err()
	}
	var all []applyset.Member
	for i, r := range resources {
		if errs[i] != nil && !cluster.IsNotFound(errs[i]) {
			return nil, errs[i]
		}
		all = append(all, plain(members(r, found[i]))...)
	}
	return all, nil
}

// instances lists the objects of a CustomResourceDefinition's kind, in all namespaces.
func (s *Set) instances(ctx context.Context, crd string) ([]applyset.Member, error) {
	plural, group, _ := strings.Cut(crd, ".")
	r, err := s.API.FindPlural(ctx, group, plural)
	switch {
	case errors.As(err, new(*cluster.UnknownKindError)):
		return nil, s.unserved(ctx, crd)
	case err != nil:
		return nil, err
	}
	found, err := s.API.ListMetadata(ctx, r, "", "")
	return plain(members(r, found)), err
}

// unserved states why the objects of a CustomResourceDefinition are unknown if the server does not
// have its kind; nil if there can be none.
func (s *Set) unserved(ctx context.Context, name string) error {
	r, err := s.API.FindKind(ctx, applyset.CRDKind.Group, applyset.CRDKind.Kind)
	if err != nil {
		return err
	}
	crd, err := s.API.Get(ctx, cluster.Target{Resource: r, Name: name})
	switch {
	case cluster.IsNotFound(err), err == nil && cluster.NeverServed(crd):
		return nil
	case err != nil:
		return err
	case len(cluster.Declared(crd)) == 0:
		return errors.New("none of its versions is served now, and some may have been: serve one, so that its objects can be listed")
	}
	return errors.New("the server does not serve its kind yet")
}
