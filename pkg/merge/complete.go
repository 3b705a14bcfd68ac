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
	return completer{admission: admission}.completeValue(v, typ)
}

// completer completes values, with the rules of admission or without; with a path, only what leads to its end, and
// what is there.
type completer struct {
	admission bool
	to        Path
}

func (c completer) completeValue(v any, t *Type) any {
	if m, isMap := v.(map[string]any); isMap && (t == nil || t.Kind != Map) {
		if t != nil && t.Kind == Object {
			return c.completeObject(m, t)
		}
		return v
	}
	return Rebuilt(v, func(e any) any { return c.below().completeValue(e, t.EntryType()) })
}

// below completes a part of the value.
func (c completer) below() completer { return completer{c.admission, c.to[min(1, len(c.to)):]} }

// completeObject fills in the fixed defaults first, then applies the rules, and then completes the
// fields. This is the order of the server's functions, from the outside in.
func (c completer) completeObject(stated map[string]any, t *Type) map[string]any {
	now := c.byRules(stated, t, c.matters)
	filled := edited{fields: now}
	for name, f := range t.Fields {
		if e := now[name]; f.Type != nil && (len(c.to) == 0 || c.to[0].Name == name) {
			if n := c.below().field(e, f); !shared(n, e) {
				filled.put(name, Some(n))
			}
		}
	}
	return filled.fields
}

// matters reports whether a rule may fill in what is to be completed. One about the fields themselves costs little.
func (c completer) matters(d *Default) bool {
	return len(c.to) == 0 || !slices.Contains(d.Path, "*") || d.reaches(upward(c.to))
}

// byRules fills the fixed defaults and the rules of a type in, those that may matter.
func (c completer) byRules(stated map[string]any, t *Type, matters func(*Default) bool) map[string]any {
	fixed := edited{fields: stated}
	for name, f := range t.Fields {
		if v, there := stated[name]; f.Default != nil && (!there || f.unset(v)) {
			fixed.put(name, Some(f.Default))
		}
	}
	now := fixed.fields
	for i := range t.Defaults {
		if d := &t.Defaults[i]; (c.admission || !d.Admission) && matters(d) && d.met(t, stated, now) {
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
	out := edited{fields: side}
	for _, pair := range t.Mirrored {
		stated, mirror := pair[0], pair[1]
		if _, ok := side[stated]; !ok {
			stated, mirror = mirror, stated
		}
		v, ok := side[stated]
		if _, both := side[mirror]; !ok || both || live[mirror] == nil {
			continue
		}
		out.put(mirror, Some(v))
	}
	return out.fields
}

// CompleteAt returns v as the server completes it at the path p of the finder's object: what it fills
// in by rules of the types around v, too. Where v has no place in the object, it is completed by
// itself. The admission rules are used.
func (f *Finder) CompleteAt(p Path, v any) any {
	if made := f.completed(p, Some(v)); made.Set {
		return made.Value
	}
	return Complete(v, f.typ.At(p), true)
}

// Refilled reports whether the server fills in the value that the finder's object has at the
// path, or leaves it as it was, where an update takes it out; false too where it has none there.
func (f *Finder) Refilled(p Path) bool {
	is, ok := f.Lookup(p)
	if !ok || len(p) == 0 {
		return false
	}
	last := len(p) - 1
	field, around := Field{Type: f.typ.At(p)}, f.typ.At(p[:last])
	if p[last].Kind == FieldStep {
		field = around.Field(p[last].Name)
	}
	alone := f
	if around != nil {
		for _, pair := range around.Mirrored {
			if root, _ := f.root.(map[string]any); pair[0] == p[last].Name { // the other one is there because of this one
				root, _ = Put(root, p[:last].Child(Named(pair[1])), nil)
				alone = NewFinder(root, f.typ)
			}
		}
	}
	return stays(f, f, p) || equalOpt(alone.completed(p, Opt{}), Some(is), field)
}

// completed returns the value that the server has at the path once it has completed the object with v there, or
// without a value there. Of the object nothing is completed but what leads to the path, so that
// its size does not matter.
func (f *Finder) completed(p Path, v Opt) Opt {
	if len(p) == 0 {
		return Some(Complete(v.Value, f.typ, true))
	}
	last := len(p) - 1
	around, _ := f.Lookup(p[:last])
	_, isMap := around.(map[string]any)
	_, isList := around.([]any)
	named := p[last].Kind == FieldStep
	switch {
	case named && !isMap, !named && !isList:
		return Opt{}
	case ruled(f.typ, p):
		root, q := f.alone(f.root, f.typ, p, v)
		is, there := Lookup(completer{true, q}.completeValue(root, f.typ), q, f.typ)
		return Opt{is, there}
	case named:
		field := f.typ.At(p[:last]).Field(p[last].Name)
		if field.Default != nil && (!v.Set || field.unset(v.Value)) {
			v = Some(field.Default)
		}
		made := completer{admission: true}.field(v.Value, field)
		return Opt{made, v.Set || made != nil}
	case !v.Set:
		return v
	}
	return Some(Complete(v.Value, f.typ.At(p), true))
}

// ruled: a rule of a type around the path fills in what is there.
func ruled(t *Type, p Path) bool {
	for n, s := range p {
		if t != nil && slices.ContainsFunc(t.Defaults, func(d Default) bool { return d.reaches(upward(p[n:])) }) {
			return true
		}
		t = t.At(Path{s})
	}
	return false
}

// upward are the names on a path, from its end.
func upward(p Path) []string {
	names := make([]string, len(p))
	for i, s := range p {
		names[len(p)-1-i] = "*"
		if s.Kind == FieldStep {
			names[len(p)-1-i] = s.Name
		}
	}
	return names
}

// alone is at, of type t, with a value at the path p, or without one, and with nothing else in the lists that lead
// there. The path that it returns leads to the value in that.
func (f *Finder) alone(at any, t *Type, p Path, v Opt) (any, Path) {
	if len(p) == 0 {
		return v.Value, nil
	}
	s, gone := p[0], len(p) == 1 && !v.Set
	if list, isList := at.([]any); isList {
		if gone {
			return []any{}, Path{s}
		}
		var e any
		if i := f.entries(list, t).At(s); i >= 0 {
			e = list[i]
		}
		e, q := f.alone(e, t.EntryType(), p[1:], v)
		return []any{e}, append(Path{{Kind: IndexStep}}, q...)
	}
	m, _ := at.(map[string]any)
	if gone {
		return Without(m, s.Name), Path{s}
	}
	e, q := f.alone(m[s.Name], t.Field(s.Name).Type, p[1:], v)
	return With(m, e, s.Name), append(Path{s}, q...)
}
