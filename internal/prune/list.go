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
)

// Listed is a set that was found by its parent; Err states a problem with it.
type Listed struct {
	Target cluster.Target
	Parent applyset.Parent
	Err    error
}

// List finds the sets whose parents are in a namespace or, for "", in all: Secrets, ConfigMaps, and
// the custom resources whose definitions allow it. missing is why some of these kinds could not be
// listed; err is set if none could be listed.
func List(ctx context.Context, api API, namespace string) (out []Listed, missing []error, err error) {
	kinds, missing, err := parentKinds(ctx, api)
	if err != nil {
		return nil, nil, err
	}
	failed := 0
	for _, r := range kinds {
		found, err := api.ListMetadata(ctx, r, r.Within(namespace), applyset.IDLabel)
		switch {
		case cluster.IsNotFound(err): // its definition has just been deleted
		case cluster.IsForbidden(err) || down(err):
			missing = append(missing, fmt.Errorf("%s: sets with this kind of parent are not listed: %w", r.GroupKind(), err))
			failed++
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", r.GroupKind(), err)
		}
		for _, obj := range found {
			m := applyset.ReadMember(r.GroupKind(), obj)
			l := Listed{Target: cluster.Target{Resource: r, Namespace: m.Namespace, Name: m.Name}}
			l.Parent, l.Err = applyset.ReadParent(applyset.Set(m.Identity()), obj)
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Listed) int {
		return slices.Compare([]string{a.Target.Namespace, a.Target.String()}, []string{b.Target.Namespace, b.Target.String()})
	})
	if failed == len(kinds) {
		return nil, nil, errors.Join(missing...)
	}
	return out, missing, nil
}

// parentKinds returns the kinds that parents may have; missing states why some are unknown.
func parentKinds(ctx context.Context, api API) (out []cluster.Resource, missing []error, err error) {
	for _, kind := range []string{"Secret", "ConfigMap"} {
		r, err := api.Find(ctx, "", "v1", kind)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, r)
	}
	crds, err := api.FindKind(ctx, applyset.CRDKind.Group, applyset.CRDKind.Kind)
	if err != nil {
		return out, nil, nil // the server has none
	}
	found, err := api.ListMetadata(ctx, crds, "", applyset.ParentTypeLabel)
	if cluster.IsForbidden(err) {
		return out, []error{fmt.Errorf("sets whose parents are custom resources are not listed: %w", err)}, nil
	}
	for _, crd := range found {
		plural, group, _ := strings.Cut(applyset.ReadMember(applyset.CRDKind, crd).Name, ".")
		r, err := api.FindPlural(ctx, group, plural)
		switch {
		case errors.As(err, new(*cluster.UnknownKindError)):
		case err != nil:
			missing = append(missing, err)
		default:
			out = append(out, r)
		}
	}
	return out, missing, err
}

// View returns a set's members, and a decision about each as if no input had it. The error is that
// of a kind that is not served, or of a list.
func (s *Set) View(ctx context.Context) ([]Member, []applyset.Decision, error) {
	if err := s.resolve(ctx); err != nil {
		return nil, nil, err
	}
	found, err := s.Members(ctx, s.Parent)
	if err != nil {
		return nil, nil, err
	}
	r := applyset.Run{Parent: s.Parent}
	slices.SortFunc(found.All, func(a, b Member) int {
		return slices.Compare([]string{a.Namespace, a.String()}, []string{b.Namespace, b.String()})
	})
	var all []Member
	var decisions []applyset.Decision
	for _, m := range found.All {
		for _, d := range r.Decide([]applyset.Member{m.Member}) {
			all, decisions = append(all, m), append(decisions, d)
		}
	}
	return all, r.Contain(decisions, s.Contents(ctx, decisions)), nil
}

// Everyone returns all members of a set. It is an error if any kind cannot be listed.
func (s *Set) Everyone(ctx context.Context) ([]Member, error) {
	if err := s.resolve(ctx); err != nil {
		return nil, err
	}
	found, err := s.twice(ctx, s.Parent)
	if err == nil && len(found.Down) > 0 {
		err = fmt.Errorf("%s: its members of the kind %s cannot be found: try again when what serves it answers", s.Target, found.Down[0])
	}
	return found.All, err
}

// Verify compares the parent with the objects that carry the set's label. It lists the kinds of the
// parent, all of which the user must be able to list, and all others that the user can list. want
// is the correct parent: what is being deleted need not be listed. problems describes the
// differences; it is empty if there are none. The error is that of a list.
func (s *Set) Verify(ctx context.Context) (want applyset.Parent, problems []string, err error) {
	listed, err := s.Everyone(ctx)
	if err != nil {
		return want, nil, err
	}
	others, err := s.everywhere(ctx, applyset.PartOfLabel+"="+s.Parent.ID(), "")
	if err != nil {
		return want, nil, err
	}
	r := applyset.Run{Parent: s.Parent, Objects: map[applyset.Identity]bool{}}
	seen := map[string]bool{} // by UID: an Event is one of two kinds
	for i, m := range slices.Concat(listed, others) {
		if i >= len(listed) && seen[m.UID] {
			continue
		}
		if m.Deleting != "" { // after a prune, the parent lists no more than what stays
			if kinds, namespaces := s.Parent.Including([]applyset.GroupKind{m.GroupKind}, []string{m.Namespace}).Beyond(s.Parent); len(kinds)+len(namespaces) > 0 {
				continue
			}
		}
		r.Objects[m.Identity()], seen[m.UID] = true, true
	}
	want = r.Exact(nil, nil)
	return want, s.Parent.Differences(want), nil
}

// attest keeps one member of each kind, which a list of the kind must contain.
func (p *Pruner) attest(t cluster.Target, live map[string]any) {
	gk := t.Resource.GroupKind()
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.witness[gk]; known {
		return
	}
	if p.witness == nil {
		p.witness = map[applyset.GroupKind]Member{}
	}
	m := Member{Target: t}
	m.UID = strings.Clone(applyset.ReadMember(gk, live).UID) // a substring would keep the whole answer in memory
	p.witness[gk] = m
}

// believe checks lists before a kind leaves the parent because of them. A list that lacks a member
// which the run has read is untrue: it, and all empty ones with it, count as no answer. An empty
// list of a kind in the parent is read once more: the next run would not find its members.
func (p *Pruner) believe(ctx context.Context, in applyset.Parent, found *Members) error {
	untrue, err := p.untrue(ctx, found)
	if err != nil {
		return err
	}
	if in.Kinds = p.Parent.Kinds; len(untrue) == 0 {
		return p.listAgain(ctx, in, found)
	}
	found.Down = append(found.Down, untrue...)
	found.Down = append(found.Down, found.lack(in.Kinds)...)
	return nil
}

// twice is Members that lists the kinds of which nothing is found once more: an empty list may be untrue.
func (s *Set) twice(ctx context.Context, in applyset.Parent) (Members, error) {
	found, err := s.Members(ctx, in)
	if err == nil {
		err = s.listAgain(ctx, in, &found)
	}
	return found, err
}

// listAgain adds to found what another list of the kinds of which nothing was found has.
func (s *Set) listAgain(ctx context.Context, in applyset.Parent, found *Members) error {
	in.Kinds = found.lack(in.Kinds)
	again, err := s.Members(ctx, in)
	found.All, found.Down = append(found.All, again.All...), append(found.Down, again.Down...)
	return err
}

// lack returns the kinds of which an answer has no object.
func (ms *Members) lack(kinds []applyset.GroupKind) []applyset.GroupKind {
	known := slices.Concat(ms.Down, ms.Gone, object.Each(ms.All, func(m Member) applyset.GroupKind { return m.GroupKind }))
	return slices.DeleteFunc(slices.Clone(kinds), func(gk applyset.GroupKind) bool { return slices.Contains(known, gk) })
}

// untrue returns the kinds whose lists lack an existing member. The error is that of reading it.
func (p *Pruner) untrue(ctx context.Context, found *Members) (kinds []applyset.GroupKind, err error) {
	for gk, w := range p.witness {
		if slices.ContainsFunc(found.All, func(m Member) bool { return m.UID == w.UID }) || slices.Contains(found.Down, gk) {
			continue
		}
		obj, err := p.API.GetMetadata(ctx, w.Target)
		switch m := applyset.ReadMember(gk, obj); {
		case err != nil && !cluster.IsNotFound(err):
			return nil, fmt.Errorf("%s: %w", w.Target, err)
		case m.UID == w.UID && m.Set() == p.Parent.ID():
			kinds = append(kinds, gk)
			p.Note(p.Target.String(), fmt.Sprintf("%s: the server's list lacks %s, which is there: nothing of the kinds that it has listed as empty is pruned, and they stay listed: merge again", gk, w.Target))
		}
	}
	return kinds, nil
}
