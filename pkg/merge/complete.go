package merge

import "slices"

// Complete returns v, a value of type typ, with what the server fills in where v leaves it
// out. These are the fixed defaults of fields (Field.Default), and the rules of types
// (Type.Defaults). With admission set, it also applies the rules that are not part of the
// defaulting functions (Default.Admission). The result shares memory with v, and is v
// itself where nothing is filled in. A nil typ has no defaults.
//
// Rules: docs/semantics.md#when-two-values-are-equal.
func Complete(v any, typ *Type, admission bool) any {
	return completer(admission).completeValue(v, typ)
}

type completer bool

func (c completer) completeValue(v any, t *Type) any {
	switch v := v.(type) {
	case map[string]any:
		switch {
		case t == nil:
		case t.Kind == Object:
			return c.completeObject(v, t)
		case t.Kind == Map:
			return c.mapping(v, t)
		}
	case []any:
		return entrywise(v, func(e any) any { return c.completeValue(e, t.EntryType()) })
	}
	return v
}

func (c completer) mapping(m map[string]any, t *Type) any {
	out := m
	for k, e := range m {
		if n := c.completeValue(e, t.Elem); !shared(n, e) {
			if shared(out, m) {
				out = cloneMap(m)
			}
			out[k] = n
		}
	}
	return out
}

// completeObject fills in the fixed defaults first, then applies the rules, and then completes the
// fields. This is the order of the server's functions, from the outside in.
func (c completer) completeObject(stated map[string]any, t *Type) map[string]any {
	now := c.byRules(stated, t, func(*Default) bool { return true })
	filled := now
	for name, f := range t.Fields {
		if e := now[name]; f.Type != nil {
			if n := c.field(e, f); !shared(n, e) {
				filled = c.set(filled, now, name, n)
			}
		}
	}
	return filled
}

// byRules fills the fixed defaults and the rules of a type in, those that may matter.
func (c completer) byRules(stated map[string]any, t *Type, matters func(*Default) bool) map[string]any {
	now := stated
	for name, f := range t.Fields {
		if v, there := stated[name]; f.Default != nil && (!there || f.unset(v)) {
			now = c.set(now, stated, name, f.Default)
		}
	}
	for i := range t.Defaults {
		if d := &t.Defaults[i]; (bool(c) || !d.Admission) && matters(d) && d.met(t, stated, now) {
			now = d.put(now, now, t, d.Path).(map[string]any)
		}
	}
	return now
}

// field looks into a field's value, which may be nil for none.
func (c completer) field(e any, f Field) any {
	if e != nil || !f.ZeroIsAbsent || f.Type == nil || f.Type.Kind != Object {
		return c.completeValue(e, f.Type)
	}
	if n := c.completeObject(nil, f.Type); len(n) > 0 {
		return n
	}
	return nil
}

// set sets a field of m, in a copy where m is still was, the original map.
func (c completer) set(m, was map[string]any, name string, v any) map[string]any {
	if shared(m, was) {
		m = cloneMap(m)
	}
	m[name] = v
	return m
}

func (d *Default) met(t *Type, stated, now map[string]any) bool {
	return !slices.ContainsFunc(d.If, func(c Condition) bool { return !c.holds(t, stated, now) })
}

// mirrored completes a side that states only one field of a pair which the server keeps
// alike: it adds the other field where live has it. Dropping or changing only one would
// leave its mirror, and the server takes that for the value (kubernetes/kubernetes#66450).
// Stating the field as empty, or as null, is stating it. Where live does not have the
// mirror, the server fills it in.
//
// Unlike kubectl: it removes the one field, and the value comes back out of the other.
func mirrored(t *Type, side, live map[string]any) map[string]any {
	out := side
	for _, pair := range t.Mirrored {
		stated, mirror := pair[0], pair[1]
		if _, ok := side[stated]; !ok {
			stated, mirror = mirror, stated
		}
		v, ok := side[stated]
		if _, both := side[mirror]; !ok || both || live[mirror] == nil {
			continue
		}
		if shared(out, side) {
			out = cloneMap(side)
		}
		out[mirror] = v
	}
	return out
}
