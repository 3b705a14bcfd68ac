package merge

import "slices"

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
	field := Field{Type: f.typ.At(p)}
	if p[last].Kind == FieldStep {
		field = f.typ.At(p[:last]).Field(p[last].Name)
	}
	return stays(f, f, p) || equalOpt(f.completed(p, Opt{}), Some(is), field)
}

// completed returns the value that the server has at the path once it has completed the object with v there, or
// without a value there. Of the object nothing is completed but what leads to the path, so that
// its size does not matter.
func (f *Finder) completed(p Path, v Opt) Opt {
	if len(p) == 0 {
		return Some(Complete(v.Value, f.typ, true))
	}
	last := len(p) - 1
	around, ok := f.Lookup(p[:last])
	switch around.(type) {
	case map[string]any:
		ok = ok && p[last].Kind == FieldStep
	case []any:
		ok = ok && p[last].Kind != FieldStep
	default:
		ok = false
	}
	switch {
	case !ok:
		return Opt{}
	case ruled(f.typ, p):
		root, q := f.alone(f.root, f.typ, alone{p, v})
		return along(root, f.typ, q)
	case p[last].Kind == FieldStep:
		field := f.typ.At(p[:last]).Field(p[last].Name)
		if field.Default != nil && (!v.Set || field.unset(v.Value)) {
			v = Some(field.Default)
		}
		made := completer(true).field(v.Value, field)
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

// alone is a value to be put at a path, or none, which takes away what is there.
type alone struct {
	Path
	value Opt
}

// alone is at, of type t, with the value at its place, and with nothing else in the lists that lead
// there. The path leads to the value in that.
func (f *Finder) alone(at any, t *Type, a alone) (any, Path) {
	if len(a.Path) == 0 {
		return a.value.Value, nil
	}
	s, below := a.Path[0], alone{a.Path[1:], a.value}
	gone := len(below.Path) == 0 && !a.value.Set
	if list, isList := at.([]any); isList {
		if gone {
			return []any{}, Path{s}
		}
		var e any
		if i := f.entries(list, t).At(s); i >= 0 {
			e = list[i]
		}
		e, q := f.alone(e, t.EntryType(), below)
		return []any{e}, append(Path{{Kind: IndexStep}}, q...)
	}
	m, _ := at.(map[string]any)
	out := cloneMap(m)
	if gone {
		delete(out, s.Name)
		return out, Path{s}
	}
	e, q := f.alone(m[s.Name], t.Field(s.Name).Type, below)
	out[s.Name] = e
	return out, append(Path{s}, q...)
}

// along completes what leads to the path, and the value there.
func along(v any, t *Type, p Path) Opt {
	c := completer(true)
	for n, s := range p {
		field := Field{Type: t.EntryType()}
		var e any
		there := false
		if list, isList := v.([]any); isList {
			if i := EntryAt(list, s, t); i >= 0 {
				e, there = list[i], true
			}
		} else {
			m, _ := v.(map[string]any)
			if t != nil && t.Kind == Object {
				m = c.byRules(m, t, func(d *Default) bool { return !slices.Contains(d.Path, "*") || d.reaches(upward(p[n:])) })
			}
			field = t.Field(s.Name)
			e, there = m[s.Name]
		}
		switch {
		case n == len(p)-1:
			e = c.field(e, field)
			return Opt{e, there || e != nil}
		case e == nil && !field.ZeroIsAbsent:
			return Opt{}
		}
		v, t = e, field.Type
	}
	return Some(v)
}
