package prune

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// ErrNoSet reports that a required parent does not exist.
var ErrNoSet = errors.New("there is no such set")

// Existing returns an error if the set does not exist.
func (s *Set) Existing() error {
	if !s.Parent.Exists() {
		return fmt.Errorf("%s: %w%s: kubectl merge applyset list -A lists all sets", s.Target, ErrNoSet, object.Within(s.Target.Namespace))
	}
	return nil
}

// Applied returns the applied objects with these labels in a namespace, "" for all: they carry the last-applied configuration,
// and have no owner. others counts the rest: objects that controllers make often have the labels of
// the object that they were made for. The error is that of a list; nothing is returned with it.
func (s *Set) Applied(ctx context.Context, selector, namespace string) (found []Member, others int, err error) {
	all, err := s.everywhere(ctx, selector, namespace)
	if err != nil {
		return nil, 0, err
	}
	seen := map[string]bool{}
	for _, m := range all {
		_, applied := m.Annotations[lastapplied.Annotation]
		switch {
		case seen[m.UID] || m.UID == s.Parent.UID:
		case !applied || len(m.Owners) > 0:
			others++
		default:
			found = append(found, m)
		}
		seen[m.UID] = true
	}
	return found, others, nil
}

// everywhere lists objects of every kind that can be listed and deleted. A kind that the
// user may not list, or whose server does not answer, is reported and left out.
func (s *Set) everywhere(ctx context.Context, selector, namespace string) ([]Member, error) {
	resources, err := s.API.Deletable(ctx)
	switch {
	case len(resources) == 0 && err != nil:
		return nil, err
	case err != nil:
		s.Note(s.Target.String(), "kinds whose server does not answer are left out: "+err.Error())
	}
	found, errs := make([][]map[string]any, len(resources)), make([]error, len(resources))
	parallel.Each(ctx, parallel.Steps{N: len(resources), Limit: s.Limit}, func(i int) {
		found[i], errs[i] = s.API.ListMetadata(ctx, resources[i], resources[i].Within(namespace), selector)
	})
	var (
		all     []Member
		missing []string
		why     error
	)
	for i, r := range resources {
		switch err := errs[i]; {
		case cluster.IsForbidden(err) || down(err):
			missing, why = append(missing, r.GroupKind().String()), err
		case err != nil && !cluster.IsNotFound(err):
			return nil, fmt.Errorf("%s: %w", r.GroupKind(), err)
		}
		all = append(all, members(r, found[i])...)
	}
	if n := len(missing); n > 0 {
		s.Note(s.Target.String(), fmt.Sprintf("%d kinds cannot be listed, and are left out (%s, for example: %s)", n, missing[n-1], why))
	}
	return all, ctx.Err()
}

// Labelling is a change of the set that objects are part of.
type Labelling struct {
	From    string // the id of a set that they may be part of now, besides this one
	DryRun  bool   // the server checks the request and stores nothing
	Nothing bool   // nothing is sent

	to string // the id of the set; "" for none
}

// Join makes objects part of the set: the parent is written first, so that it covers them. An
// object of another set than From is an error that names both, and nothing is written then. It
// returns those that were not part of it. nil if all were.
func (s *Set) Join(ctx context.Context, objects []Member, l Labelling) ([]Member, error) {
	var joining []Member
	var errs []error
	for _, m := range objects {
		switch id := m.Set(); {
		case m.Target.String() == s.Target.String() && m.Namespace == s.Target.Namespace:
			errs = append(errs, fmt.Errorf("%s: is the set's parent, and cannot be one of its members: kubectl would prune it", m.Target))
		case id == s.Parent.ID():
		case id == "" || id == l.From:
			joining = append(joining, m)
		default:
			errs = append(errs, s.ofAnother(ctx, m.Target, id))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if l.Nothing {
		return joining, nil
	}
	if !l.DryRun {
		if err := s.Cover(ctx, plain(objects)); err != nil {
			return nil, err
		}
	}
	l.to = s.Parent.ID()
	for i, m := range joining {
		if err := s.relabel(ctx, m, l); err != nil {
			return joining[:i], err
		}
	}
	return joining, nil
}

// Cover makes the parent list the kinds and namespaces of objects in addition to its own, before
// they carry the set's label. The error is Store's, or that of a kind that is not served.
func (s *Set) Cover(ctx context.Context, objects []applyset.Member) error {
	if err := errors.Join(s.Writable(), s.resolve(ctx)); err != nil {
		return err
	}
	kinds := object.Each(objects, func(m applyset.Member) applyset.GroupKind { return m.GroupKind })
	namespaces := object.Each(objects, func(m applyset.Member) string { return m.Namespace })
	return s.Store(ctx, func(now applyset.Parent) applyset.Parent { return now.Including(kinds, namespaces) })
}

// Leave removes objects from the set. It ends at the first error, which names the object; those
// before it have left.
func (s *Set) Leave(ctx context.Context, objects []Member, l Labelling) error {
	l.From = s.Parent.ID()
	for _, m := range objects {
		if err := s.relabel(ctx, m, l); err != nil {
			return err
		}
	}
	return nil
}

// relabel writes the label of one object, bound to the state in which it was part of the set that
// it leaves. An object that has changed meanwhile is checked again.
func (s *Set) relabel(ctx context.Context, m Member, l Labelling) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", m.Target, run.ErrUnwritten)
	}
	ctx = parallel.Outlasting(ctx)
	w := cluster.Write{FieldManager: apply.DefaultManager, DryRun: l.DryRun}
	for try := 0; ; try++ {
		var label any
		if l.to != "" {
			label = l.to
		}
		_, err := s.API.Send(ctx, m.Target, cluster.MergePatch, map[string]any{"metadata": map[string]any{
			"resourceVersion": m.ResourceVersion,
			"labels":          map[string]any{applyset.PartOfLabel: label},
		}}, w)
		if err == nil || cluster.IsNotFound(err) && l.to == "" {
			return nil
		}
		if try == run.MostChanges || !cluster.IsConflict(err) && !cluster.Uncertain(err) {
			return fmt.Errorf("%s: %w", m.Target, err)
		}
		pause(ctx, min(try, 5), err)
		obj, err := s.API.GetMetadata(ctx, m.Target)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Target, err)
		}
		m.Member = applyset.ReadMember(m.GroupKind, obj)
		switch id := m.Set(); {
		case id == l.to:
			return nil
		case id != "" && id != l.From:
			return s.ofAnother(ctx, m.Target, id)
		}
	}
}

// Remove deletes the parent, or frees it of its marks (Stays). Its members, if there are any left,
// belong to no set then. A missing parent is not an error; one that is protected, or was changed
// meanwhile, is one with the reason.
func (s *Set) Remove(ctx context.Context, dryRun bool) error {
	obj, err := s.API.GetMetadata(ctx, s.Target)
	if cluster.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Target, err)
	}
	m := Member{Member: applyset.ReadMember(s.Parent.GroupKind, obj), Target: s.Target}
	keep := func(d applyset.Decision) error { return errors.New(d.Reason) }
	r := s.removal(&m, cluster.Deletion{Propagation: cluster.Background, DryRun: dryRun}, s.removable, keep)
	still, err := r.Again(obj)
	switch {
	case still && s.Stays != nil && s.Stays(obj):
		_, err = s.API.Send(ctx, s.Target, cluster.MergePatch, map[string]any{"metadata": map[string]any{
			"resourceVersion": m.ResourceVersion,
			"labels":          map[string]any{applyset.IDLabel: nil},
			"annotations":     map[string]any{applyset.ToolingAnnotation: nil, applyset.KindsAnnotation: nil, applyset.ResourcesAnnotation: nil, applyset.NamespacesAnnotation: nil},
		}}, cluster.Write{FieldManager: apply.DefaultManager, DryRun: dryRun})
	case still:
		err = r.Do(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: the set's parent was not deleted: %w", s.Target, err)
	}
	return nil
}

// addedMeanwhile is the reason for not deleting a set.
const addedMeanwhile = "another run has added members meanwhile: run this again"

// removable decides about the current parent: it may be deleted if it states the kinds and
// namespaces in which the members were found.
func (s *Set) removable(m applyset.Member) applyset.Decision {
	now, err := applyset.ParentFrom(s.Parent.Set, m)
	switch {
	case m.UID != s.Parent.UID:
		return applyset.Decision{Member: m, Action: applyset.Left, Reason: "is another object by now"}
	case m.Deleting != "":
		return applyset.Decision{Member: m, Action: applyset.Terminating}
	case err == nil && !now.Equals(s.Parent) && len(now.Resources) == 0:
		return applyset.Decision{Member: m, Action: applyset.Left, Reason: addedMeanwhile}
	}
	return applyset.Decision{Member: m, Action: applyset.Delete}
}

// Await waits until the objects are gone, or replaced by others. The error names the first that
// still exists when ctx ends, with the finalizers that hold it, or that cannot be read.
func (s *Set) Await(ctx context.Context, objects []Member) error {
	for _, m := range objects {
		for now := m.Member; ; {
			obj, err := s.API.GetMetadata(ctx, m.Target)
			if cluster.IsNotFound(err) {
				break
			}
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", m.Target, err)
			}
			if err == nil { // otherwise the time is over, and what was read before is reported
				now = applyset.ReadMember(m.GroupKind, obj)
			}
			if now.UID != m.UID {
				break
			}
			if cluster.Sleep(ctx, 500*time.Millisecond) != nil {
				return fmt.Errorf("%s: timed out waiting for it to be gone%s", m.Target, holding(now))
			}
		}
	}
	return nil
}

func holding(m applyset.Member) string {
	if len(m.Finalizers) == 0 {
		return ""
	}
	return fmt.Sprintf(": it waits for %s", m.Finalizers)
}
