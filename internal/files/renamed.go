package files

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// renaming finds the entries of keyed lists that a side has renamed. All sides then know them by
// one name, so that they are merged as one entry, and their keys as other fields are.
type renaming struct {
	policy    merge.Policy
	alone     bool                 // also entries that one side alone has renamed
	both      bool                 // and conflicts about those that both have renamed can be left
	conflicts []merge.Disagreement // about keys, those of inner entries first, and about renamed entries, or lists with such, that the other side has deleted
	changes   [3][]merge.Change    // to the one name
}

// The sides of a renaming, in order.
const (
	ofOriginal = iota
	ofUpdated
	ofDest
)

// trio is a value of all sides.
type trio struct {
	of [3]any
	at [3]merge.Path
	t  *merge.Type
	as merge.Path // in the result
}

func (p trio) below(t *merge.Type, of [3]any, to merge.Step, by ...merge.Step) trio {
	p.t, p.of, p.as = t, of, p.as.Child(to)
	for i := range p.at {
		step := to
		if len(by) > 0 {
			step = by[i]
		}
		p.at[i] = p.at[i].Child(step)
	}
	return p
}

// follow is the triple with its entries known by one name.
func (r *renaming) follow(s merge.Triple, t *merge.Type) merge.Triple {
	r.find(trio{of: [3]any{s.Original, s.Local, s.Live}, t: t})
	for i, v := range []*any{&s.Original, &s.Local, &s.Live} {
		if now, err := merge.Replay(*v, r.changes[i]); err == nil {
			*v = now
		}
	}
	return s
}

func (r *renaming) find(p trio) {
	switch o := p.of[ofOriginal].(type) {
	case map[string]any:
		u, ok := p.of[ofUpdated].(map[string]any)
		d, too := p.of[ofDest].(map[string]any)
		for k, v := range o {
			if of := [3]any{v, u[k], d[k]}; (ok || p.of[ofUpdated] == nil) && (too || p.of[ofDest] == nil) && r.may(of) {
				r.find(p.below(p.t.Field(k).Type, of, merge.Named(k)))
			}
		}
	case []any:
		if p.t == nil || p.t.Kind != merge.Keyed {
			return
		}
		var all [3]members
		for i, list := range p.of {
			var ok bool
			if all[i], ok = membersOf(list, p.t); !ok {
				return
			}
		}
		if p.of[ofUpdated] == nil || p.of[ofDest] == nil {
			r.removed(p, all)
		} else {
			r.entries(p, all)
		}
	}
}

// removed is the conflict about a list that one side has removed, and in which the other one has put
// entries in the place of others: as new ones they would be all that is left of it.
func (r *renaming) removed(p trio, all [3]members) {
	was, is := all[ofOriginal], members{list: slices.Concat(all[ofUpdated].list, all[ofDest].list)}
	if r.both && len(is.without(was)) > 0 && len(was.without(all[ofUpdated])) > 0 && len(was.without(all[ofDest])) > 0 {
		r.conflict(p.as, p.of)
	}
}

// conflict adds one about what the sides have at a path, nil for none.
func (r *renaming) conflict(at merge.Path, of [3]any) {
	side := func(i int) merge.Opt { return merge.Opt{Value: of[i], Set: of[i] != nil} }
	r.conflicts = append(r.conflicts, merge.Disagreement{Kind: merge.Both, Path: at, Original: side(ofOriginal), Local: side(ofUpdated), Live: side(ofDest)})
}

// may: there may be a renamed entry in what the sides have made of a value.
func (r *renaming) may(of [3]any) bool {
	was, kept := of[ofOriginal], merge.Identical(of[ofOriginal], of[ofUpdated])
	return !kept && r.alone || kept == r.alone && !merge.Identical(was, of[ofDest])
}

// entries follows those of a list.
func (r *renaming) entries(p trio, all [3]members) {
	var became [3]map[*member]*member
	for i := range became {
		became[i] = best(all[ofOriginal].without(all[i]), all[i].without(all[ofOriginal]), func(a, b *member) float64 { return r.likeness(p.t, a, b) })
	}
	for _, o := range all[ofOriginal].list {
		one := [3]*member{ofOriginal: o}
		renamed := 0
		for i := ofUpdated; i < len(one); i++ {
			if one[i] = all[i].by[o.id]; one[i] == nil {
				one[i] = became[i][o]
				renamed++
			}
		}
		if one[ofUpdated] == nil || one[ofDest] == nil {
			if renamed == 2 && r.both {
				r.deleted(p, all, one)
			}
			continue
		}
		of := [3]any{o.fields, one[ofUpdated].fields, one[ofDest].fields}
		if !r.alone && (renamed == 1 && !trimmed(p.t, all, one) || renamed == 2 && !r.both) || renamed == 0 && !r.may(of) {
			continue
		}
		keys, as := merge.Plan{}, o.fields
		if renamed > 0 {
			keys = merge.Three(merge.Triple{Original: o.keys(p.t), Local: one[ofUpdated].keys(p.t), Live: one[ofDest].keys(p.t)}, nil, r.policy, false)
			as = keys.Result.(map[string]any)
			if !free(all, one, merge.Identity(p.t, as)) {
				continue
			}
		}
		to := p.below(p.t.EntryType(), of, merge.StepOf(p.t, as, 0), one[ofOriginal].step(), one[ofUpdated].step(), one[ofDest].step())
		r.find(to)
		if keys.Result != nil {
			r.name(to, p.t, keys)
		}
	}
}

// trimmed reports whether one side has renamed an entry, and the other one has done nothing but take something
// out of it that the renamed entry still has, or reorder the list. As an entry under the old name, which the merge
// removes, that would be lost without a conflict.
func trimmed(t *merge.Type, all [3]members, one [3]*member) bool {
	was, i := one[ofOriginal], ofDest
	if one[ofUpdated].id == was.id {
		i = ofUpdated
	}
	is, kept := one[ofUpdated+ofDest-i], one[i]
	had, has, left := was.beside(t), is.beside(t), kept.beside(t)
	if share(had, has) < leastShare {
		return false
	}
	still := all[i].reordered(all[ofOriginal])
	for fact, n := range left {
		if n > had[fact] {
			return false
		}
	}
	for fact, n := range had {
		still = still || left[fact] < n && has[fact] > left[fact]
	}
	return still
}

// deleted is the conflict about an entry that one side has renamed and the other one deleted. An
// entry that has less than half in common with it is another one.
func (r *renaming) deleted(p trio, all [3]members, one [3]*member) {
	was, is := one[ofOriginal], cmp.Or(one[ofUpdated], one[ofDest])
	if is == nil || share(was.beside(p.t), is.beside(p.t)) < leastShare || !free(all, one, is.id) {
		return
	}
	of := [3]any{ofOriginal: was.fields}
	of[slices.Index(one[:], is)] = is.fields
	r.conflict(p.as.Child(merge.StepOf(p.t, is.fields, 0)), of)
}

// name gives the entry of all sides the same keys.
func (r *renaming) name(p trio, t *merge.Type, keys merge.Plan) {
	for _, k := range t.Keys {
		c := merge.Change{Op: merge.OpRemove}
		if v, ok := keys.Result.(map[string]any)[k.Name]; ok {
			c.Op, c.New = merge.OpSet, merge.Some(v)
		}
		for i, at := range p.at {
			c.Path = at.Child(merge.Named(k.Name))
			r.changes[i] = append(r.changes[i], c)
		}
	}
	for _, c := range keys.Conflicts {
		c.Path = append(p.as[:len(p.as):len(p.as)], c.Path...)
		r.conflicts = append(r.conflicts, c)
	}
}

// free: no other entry has that name on any side.
func free(all [3]members, one [3]*member, id string) bool {
	for i := range all {
		if m := all[i].by[id]; m != nil && m != one[i] {
			return false
		}
	}
	return true
}

// member is an entry of a keyed list.
type member struct {
	id     string
	nth    int
	fields map[string]any
}

// members are those of one side, with a way to find them.
type members struct {
	list []*member
	by   map[string]*member
}

// membersOf reads a list; ok is false where its keys do not distinguish the entries.
func membersOf(v any, t *merge.Type) (all members, ok bool) {
	list, ok := v.([]any)
	ok = ok || v == nil
	all.by = make(map[string]*member, len(list))
	for i, e := range list {
		fields, isMap := e.(map[string]any)
		m := &member{merge.Identity(t, e), i, fields}
		if !isMap || all.by[m.id] != nil {
			return all, false
		}
		all.list = append(all.list, m)
		all.by[m.id] = m
	}
	return all, ok
}

// without are those that the other side does not have.
func (ms members) without(other members) []*member {
	return slices.DeleteFunc(slices.Clone(ms.list), func(m *member) bool { return other.by[m.id] != nil })
}

// reordered: those that an earlier form of the list has, too, are in another order.
func (ms members) reordered(was members) bool {
	kept := slices.DeleteFunc(slices.Clone(ms.list), func(m *member) bool { return was.by[m.id] == nil })
	return !slices.IsSortedFunc(kept, func(a, b *member) int { return was.by[a.id].nth - was.by[b.id].nth })
}

func (m *member) step() merge.Step { return merge.Step{Kind: merge.IndexStep, Index: m.nth} }

// keys are the keys that an entry states.
func (m *member) keys(t *merge.Type) map[string]any {
	out := map[string]any{}
	for _, k := range t.Keys {
		if v, ok := m.fields[k.Name]; ok {
			out[k.Name] = v
		}
	}
	return out
}

// beside are the facts of an entry beside its keys.
func (m *member) beside(t *merge.Type) map[string]int {
	fields := maps.Clone(m.fields)
	maps.DeleteFunc(fields, func(name string, _ any) bool {
		return slices.ContainsFunc(t.Keys, func(k merge.Key) bool { return k.Name == name })
	})
	return yamldoc.Facts(fields)
}

// likeness is how much two entries have in common beside their keys. What both sides have put in
// the place of one entry is never two, whatever it has in common.
func (r *renaming) likeness(t *merge.Type, was, is *member) float64 {
	by := share(was.beside(t), is.beside(t))
	if was.nth != is.nth {
		return by
	}
	if !r.alone {
		by = max(by, leastShare)
	}
	return by + samePlace
}

// followKeys is a triple whose sides know a mapping or list by the one name that one of them alone has given it.
func followKeys(s merge.Triple) merge.Triple {
	of := keysFollowed([3]any{ofOriginal: s.Original, ofUpdated: s.Local, ofDest: s.Live})
	return merge.Triple{Original: of[ofOriginal], Local: of[ofUpdated], Live: of[ofDest]}
}

func keysFollowed(of [3]any) [3]any {
	if lists, ok := listsOf(of); ok { // entries in one place
		for at := range lists[0] {
			for i, v := range keysFollowed([3]any{lists[0][at], lists[1][at], lists[2][at]}) {
				lists[i][at] = v
			}
		}
		return [3]any{lists[0], lists[1], lists[2]}
	}
	var in [3]map[string]any
	for i, v := range of {
		m, ok := v.(map[string]any)
		if !ok {
			return of
		}
		in[i] = maps.Clone(m)
	}
	for _, i := range []int{ofUpdated, ofDest} {
		for was, is := range keysBecame(in[ofOriginal], in[i]) {
			other := in[ofUpdated+ofDest-i]
			_, knows := other[was]
			if _, taken := other[is]; !knows || taken {
				continue
			}
			for _, m := range []map[string]any{in[ofOriginal], other} {
				m[is] = m[was]
				delete(m, was)
			}
		}
	}
	for k := range in[ofOriginal] {
		for i, v := range keysFollowed([3]any{in[ofOriginal][k], in[ofUpdated][k], in[ofDest][k]}) {
			if _, ok := in[i][k]; ok {
				in[i][k] = v
			}
		}
	}
	return [3]any{in[ofOriginal], in[ofUpdated], in[ofDest]}
}

// listsOf are copies of three lists of one length; ok is false where there are none.
func listsOf(of [3]any) (lists [3][]any, ok bool) {
	for i, v := range of {
		list, isList := v.([]any)
		if !isList || i > 0 && len(list) != len(lists[0]) {
			return lists, false
		}
		lists[i] = slices.Clone(list)
	}
	return lists, true
}

// keysBecame are the names that a side has given to mappings and lists in a mapping: the only one that is new
// there to the only one that is gone, else to what has most in common.
func keysBecame(original, side map[string]any) map[string]string {
	without := func(m, other map[string]any) []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(k string) bool {
			_, both := other[k]
			return both || !isCollection(m[k])
		})
	}
	gone, come := without(original, side), without(side, original)
	if len(gone) == 1 && len(come) == 1 {
		return map[string]string{gone[0]: come[0]}
	}
	return best(gone, come, func(was, is string) float64 { return share(yamldoc.Facts(original[was]), yamldoc.Facts(side[is])) })
}
