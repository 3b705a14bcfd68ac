package merge

// Complete gives v, a value of type typ, what the server fills in where v leaves it
// out: the fixed defaults of fields (Field.Default), and the rules of types
// (Type.Defaults). Where admission is set, also what is no work of the defaulting
// functions (Default.Admission). The result shares memory with v, and is v itself
// where nothing is filled in; a nil typ knows no defaults.
//
// Rules: docs/semantics.md#when-two-values-are-equal.
func Complete(v any, typ *Type, admission bool) any {
	return completer(admission).value(v, typ)
}

// CompleteAt is what the server makes of v at the path p of the object root, which is of
// type typ: what it fills in by rules of the types around v, too. Where v has no place in
// root, it is completed by itself. The admission rules are used.
func CompleteAt(root any, p Path, v any, typ *Type) any {
	was, there := Lookup(root, p, typ)
	with, err := Replay(root, []Change{{Op: OpSet, Path: p, Old: Opt{was, there}, New: Some(v)}})
	if err == nil {
		if made, found := Lookup(Complete(with, typ, true), p, typ); found {
			return made
		}
	}
	return Complete(v, typ.At(p), true)
}

type completer bool

func (c completer) value(v any, t *Type) any {
	switch v := v.(type) {
	case map[string]any:
		switch {
		case t == nil:
		case t.Kind == Object:
			return c.object(v, t)
		case t.Kind == Map:
			return c.mapping(v, t)
		}
	case []any:
		return c.list(v, t)
	}
	return v
}

func (c completer) mapping(m map[string]any, t *Type) any {
	out := m
	for k, e := range m {
		if n := c.value(e, t.Elem); !shared(n, e) {
			if shared(out, m) {
				out = cloneMap(m)
			}
			out[k] = n
		}
	}
	return out
}

func (c completer) list(list []any, t *Type) any {
	out := list
	for i, e := range list {
		if n := c.value(e, t.EntryType()); !shared(n, e) {
			if shared(out, list) {
				out = append([]any(nil), list...)
			}
			out[i] = n
		}
	}
	return out
}

// object fills in the fixed defaults first, then what the rules make of them, and then
// looks into the fields: as the server's functions do, from the outside in.
func (c completer) object(stated map[string]any, t *Type) map[string]any {
	now := stated
	for name, f := range t.Fields {
		if v, there := stated[name]; f.Default != nil && (!there || f.unset(v)) {
			now = c.set(now, stated, name, f.Default)
		}
	}
	for i := range t.Defaults {
		if d := &t.Defaults[i]; (bool(c) || !d.Admission) && d.met(t, stated, now) {
			now = d.put(now, now, t, d.Path).(map[string]any)
		}
	}
	filled := now
	for name, f := range t.Fields {
		e, inside := now[name], f.Type
		if inside == nil {
			continue
		}
		if e == nil && f.ZeroIsAbsent && inside.Kind == Object {
			if n := c.object(nil, inside); len(n) > 0 {
				filled = c.set(filled, now, name, n)
			}
			continue
		}
		if n := c.value(e, inside); !shared(n, e) {
			filled = c.set(filled, now, name, n)
		}
	}
	return filled
}

// set sets a field of m, in a copy where m is still what it was.
func (c completer) set(m, was map[string]any, name string, v any) map[string]any {
	if shared(m, was) {
		m = cloneMap(m)
	}
	m[name] = v
	return m
}

func (d *Default) met(t *Type, stated, now map[string]any) bool {
	for _, c := range d.If {
		if !c.holds(t, stated, now) {
			return false
		}
	}
	return true
}

// Refilled reports whether the server fills in the value that v has at the path, or leaves
// it as it was, where an update takes it out; false too where v has none there. typ is the
// type of v.
func Refilled(v any, p Path, typ *Type) bool {
	is, ok := Lookup(v, p, typ)
	if !ok || len(p) == 0 {
		return false
	}
	without, err := Replay(v, []Change{{Op: OpRemove, Path: p, Old: Some(is)}})
	if err != nil {
		return false
	}
	without = Complete(without, typ, true)
	if stays(without, v, p, typ) {
		return true
	}
	again, found := Lookup(without, p, typ)
	last := len(p) - 1
	f := Field{Type: typ.At(p)}
	if p[last].Kind == FieldStep {
		f = typ.At(p[:last]).Field(p[last].Name)
	}
	return equalOpt(Opt{again, found}, Some(is), f)
}
