package merge

import (
	"slices"
	"strings"
)

// made names the value that the server is asked to complete.
type made uint8

const (
	ofWanted   made = iota // local beside what only live has
	ofLocal                // local alone
	ofOriginal             // original
)

// completed holds a side as the server completes it, computed on first use.
type completed struct {
	side func() Opt
	done bool
	v    Opt
	find *Finder
}

func (c *completed) valueAt(t *Type) Opt {
	if !c.done {
		c.v, c.done = c.side(), true
		if c.v.Set {
			c.v.Value = Complete(c.v.Value, t, true)
		}
		c.find = NewFinder(c.v.Value, t)
	}
	return c.v
}

// root completes a whole object, which may be nil.
func root(of func() any) completed {
	return completed{side: func() Opt { return Some(of()) }}
}

// twin completes an entry that shares its identity with others. No step leads to what a
// side has of it, so it is completed without the object around it.
func twin(o, l Opt, wanted func() Opt) *[3]completed {
	return &[3]completed{
		ofWanted:   {side: wanted},
		ofLocal:    {side: func() Opt { return l }},
		ofOriginal: {side: func() Opt { return o }},
	}
}

// completes reports whether a server has filled live in, and what it fills in is known.
func (m *merger) completes() bool {
	return !m.local && m.typ != nil && !m.policy.Literal && !m.policy.ClearNulls
}

// localWins returns the result of a merge in which local always wins: what the server would
// be asked to store, before it fills anything in.
func (m *merger) localWins(at cursor, o, l, v Opt) Opt {
	plain := &merger{triple: m.triple, typ: m.typ, policy: Policies[0], local: true}
	result, _ := plain.mergeValue(&at, o, l, v)
	return result
}

// filled reports whether live's value is a as the server completes it, the value at this
// place of the completed side. This is computed. Neither the value's owner, nor that live
// states more, nor any time is taken as a sign that a difference is the server's.
//
// Unlike kubectl: it sends such a value anew on every run and reports "configured".
func (m *merger) filled(from made, s *cursor, a, v Opt) bool {
	if !m.completes() || !v.Set || !s.fillable(a) {
		return false
	}
	if a.Set && !IsScalar(a.Value) && !s.field.unset(a.Value) && s.apart() { // the object around it need not be completed
		return between(s.field, a, Some(Complete(a.Value, s.field.Type, true)), v)
	}
	c := m.made(from, s)
	return c.Set && between(s.field, a, c, v)
}

// apart reports whether the type of a stated value alone decides what the server makes of
// it, since no rule of a type around it leads here.
func (s *cursor) apart() bool {
	return !s.below(func(at *cursor, names []string) bool {
		t := at.up.field.Type
		return at.twin != nil || t != nil && slices.ContainsFunc(t.Defaults, func(d Default) bool { return d.reaches(names) })
	})
}

// below reports whether is holds for the place or one around it, with the names from here up to
// the type around that.
func (s *cursor) below(is func(at *cursor, names []string) bool) bool {
	var names []string
	for at := s; at.up != nil; at = at.up {
		name := at.here.name
		if at.here.list != nil {
			name = "*"
		}
		if names = append(names, name); is(at, names) {
			return true
		}
	}
	return false
}

// reaches reports whether the rule fills in something at, around or in a place. The names
// lead from the place up to the type that has the rule.
func (d *Default) reaches(names []string) bool {
	for i, name := range d.Path[:min(len(d.Path), len(names))] {
		if is := names[len(names)-1-i]; name != is && strings.TrimSuffix(name, "?") != is && name != "*" && is != "*" {
			return false
		}
	}
	return true
}

// made returns what the server makes of a side at this place.
func (m *merger) made(from made, s *cursor) Opt {
	switch {
	case s.up == nil:
		return m.sides[from].valueAt(m.typ)
	case s.twin != nil:
		return s.twin[from].valueAt(s.field.Type)
	}
	above := m.made(from, s.up).Value
	list, isList := above.([]any)
	if s.here.list == nil || !isList {
		return key(At[map[string]any](above), s.here.name)
	}
	return pick(list, m.live.entries(list, s.here.list).At(StepOf(s.here.list, s.here.entry, 0)))
}

// fillable reports whether the server may fill something into a value of this place. It
// does not fill into a stated value without parts. Nor does it where neither the field nor
// a field or type around it has a default.
func (s *cursor) fillable(a Opt) bool {
	if a.Set && IsScalar(a.Value) {
		return a.Value == nil || s.field.ZeroIsAbsent && isZero(a.Value, s.field.Type)
	}
	if a.Set || s.field.Default != nil || s.field.ZeroIsAbsent && s.field.Type != nil && s.field.Type.Kind == Object {
		return true
	}
	for up := s.up; up != nil; up = up.up {
		if t := up.field.Type; up.field.Default != nil || t != nil && len(t.Defaults) > 0 {
			return true
		}
	}
	return false
}

// between reports whether each part of v equals that of a or, where a leaves it out, that of
// completed. A server that does not know a default yet leaves the part out as well.
func between(f Field, a, completed, v Opt) bool {
	if equalOpt(completed, v, f) || equalOpt(a, v, f) {
		return true
	}
	switch vv := v.Value.(type) {
	case map[string]any:
		am, aok := a.Value.(map[string]any)
		cm, cok := completed.Value.(map[string]any)
		if len(vv) == 0 && len(cm) > 0 && !aok {
			return false // a server that does not know a default fills in nothing, not an empty object
		}
		return cok && (aok || a.Value == nil) && betweenMaps(f.Type, am, cm, vv)
	case []any:
		al, aok := a.Value.([]any)
		cl, cok := completed.Value.([]any)
		if !cok || !aok || len(cl) != len(vv) || len(al) > len(vv) {
			return false
		}
		entry := Field{Type: f.Type.EntryType()}
		for i := range vv { // those behind al's are filled in by the server alone, and so exactly as completed
			if i < len(al) && !between(entry, Some(al[i]), Some(cl[i]), Some(vv[i])) || i >= len(al) && !equalOpt(Some(cl[i]), Some(vv[i]), entry) {
				return false
			}
		}
		return true
	}
	return false
}

func betweenMaps(t *Type, a, c, v map[string]any) bool {
	for _, side := range []map[string]any{c, v} {
		for name := range side {
			if _, there := v[name]; !there && t != nil && t.Kind == Map || !between(t.Field(name), key(a, name), key(c, name), key(v, name)) {
				return false // keys of a map are filled in all or none: a server knows all fields of its objects, or leaves some out
			}
		}
	}
	return true
}

// stays: the server keeps what live has at the path though the update, as the server
// completes it, leaves it out there (Default.Stays).
//
// Source: patchAllocatedValues of pkg/registry/core/service, and the PrepareForUpdate
// functions of other kinds.
func stays(update, live *Finder, p Path) bool {
	d := update.rule(p, func(d *Default) bool { return d.Stays })
	return d != nil && (!slices.Contains(d.Path, "*") || known(update, live, p))
}

// Obsolete reports whether the rest of the value makes what it has at the path obsolete, such as
// the node port of a Service whose type has none: an object that states both is refused.
func (f *Finder) Obsolete(p Path) bool {
	return f.rule(p, func(d *Default) bool { return d.Moot }) != nil
}

// rule returns the innermost of the rules for the path whose conditions the value meets; nil if there is none.
func (f *Finder) rule(p Path, is func(*Default) bool) *Default {
	for n := len(p) - 1; n >= 0; n-- {
		t := f.typ.At(p[:n])
		if t == nil || t.Kind != Object {
			continue
		}
		for i := range t.Defaults {
			if d := &t.Defaults[i]; is(d) && leads(d.Path, p[n:]) && d.metAt(f, p[:n]) {
				return d
			}
		}
	}
	return nil
}

// leads reports whether the path of a rule leads to that place.
func leads(rule []string, p Path) bool {
	return slices.EqualFunc(rule, p, func(name string, s Step) bool {
		return name == "*" && s.Kind != FieldStep || s.Kind == FieldStep && s.Name == name
	})
}

func (d *Default) metAt(update *Finder, p Path) bool {
	v, _ := update.Lookup(p)
	m, ok := v.(map[string]any)
	return ok && d.holdsFor(update.typ.At(p), m)
}

// known: the entry that holds the field is the one of live by its unique value too, and no
// other entry of the update asks for what it had.
func known(update, live *Finder, p Path) bool {
	last := len(p) - 1
	entry, list, name := p[:last], p[:last-1], p[last].Name
	was, _ := live.Lookup(entry)
	is, _ := update.Lookup(entry)
	before, after := At[map[string]any](was), At[map[string]any](is)
	t := live.typ.At(list)
	differs := func(k Key) bool { return !sameKey(keyValue(t, k, before), keyValue(t, k, after)) }
	if before == nil || after == nil || slices.ContainsFunc(slices.Concat(t.Unique...), differs) {
		return false
	}
	all, _ := update.Lookup(list)
	others := At[[]any](all)
	return !slices.ContainsFunc(update.entries(others, t).by([]string{name})["\x00"+roughly(before[name])], func(i int) bool {
		m, _ := others[i].(map[string]any)
		return m[name] != nil && !shared(m, after) && Equal(m[name], before[name], nil)
	})
}
