package prune

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// attest keeps one member of each kind, which a list of the kind must contain.
func (p *Pruner) attest(t cluster.Target, live map[string]any) {
	gk := kindOf(t.Resource)
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
func (p *Pruner) believe(ctx context.Context, in Where, found *Members) error {
	known, seen := slices.Concat(found.Down, found.Gone), map[string]bool{}
	for _, m := range found.All {
		known, seen[m.UID] = append(known, m.GroupKind), true
	}
	untrue, err := p.untrue(ctx, found.Down, seen)
	if err != nil {
		return err
	}
	empty := slices.DeleteFunc(slices.Clone(p.Parent.Kinds), func(gk applyset.GroupKind) bool { return slices.Contains(known, gk) })
	if len(untrue) > 0 {
		for _, gk := range append(untrue, empty...) {
			if !slices.Contains(found.Down, gk) {
				found.Down = append(found.Down, gk)
			}
		}
		return nil
	}
	in.Kinds = empty
	again, err := p.Members(ctx, in)
	found.All, found.Down = append(found.All, again.All...), append(found.Down, again.Down...)
	return err
}

// untrue returns the kinds whose lists lack an existing member. The error is that of reading it.
func (p *Pruner) untrue(ctx context.Context, down []applyset.GroupKind, seen map[string]bool) (kinds []applyset.GroupKind, err error) {
	for gk, w := range p.witness {
		if seen[w.UID] || slices.Contains(down, gk) {
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
