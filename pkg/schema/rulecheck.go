package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Typed is a kind and the type of its objects; nil is unknown.
type Typed struct {
	Group, Kind string
	Type        *merge.Type
}

// Check returns an error for each rule of the named file that can never match. A rule with a kind cannot where the
// kind's type does not have its path, or where the kind is misspelt: served reports whether a server has one that is
// neither among kinds nor built in; it may be nil. One without a kind may be meant for kinds outside a run: it
// is wrong where neither a kind of the run nor a built-in kind has its path.
func (rs Rules) Check(file string, kinds []Typed, served func(kind string) bool) error {
	var errs []error
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", file, fmt.Sprintf(format, args...)))
	}
	for _, r := range rs {
		var loose []misfit // why each kind cannot have it
		possible := false
		for _, k := range kinds {
			if !r.mayMean(k) {
				continue
			}
			m := r.impossible(k.Type)
			switch single := r.Kind != "" && !strings.Contains(r.Kind, "*"); {
			case m.why == "":
				possible = true
			case single && m.line > 0:
				fail("line %d: %s", m.line, m.why)
				possible = true
			case single || m.index:
				fail("line %d: %s: does not fit a %s: %s", r.Line, r.spelled(), k.Kind, m.why)
				possible = true
			case m.line > 0:
				loose = append(loose, m)
			default:
				m.why = fmt.Sprintf("%s: no kind of this run and no built-in one can have it: in a %s, %s", r.spelled(), k.Kind, m.why)
				loose = append(loose, m)
			}
		}
		if !possible && len(loose) > 0 && !rs.builtinHas(r) {
			i := slices.IndexFunc(loose, func(m misfit) bool { return m.line > 0 })
			if i < 0 {
				i = max(0, slices.IndexFunc(loose, func(m misfit) bool { return strings.Contains(m.why, "did you mean") }))
			}
			fail("line %d: %s; if it is for objects of another kind, add that: kind: NAME", cmp.Or(loose[i].line, r.Line), loose[i].why)
		}
		if near := r.nearKind(kinds); near != "" && (served == nil || !served(r.Kind)) {
			fail("%s: there is no such kind (did you mean %s?)", r.Where(), near)
		}
	}
	return errors.Join(errs...)
}

// mayMean reports whether the rule may apply to objects of the kind, as far as the kind decides that.
func (r Rule) mayMean(k Typed) bool {
	return (r.APIGroup == nil || glob(*r.APIGroup, k.Group)) && fits(strings.ToLower(r.Kind), strings.ToLower(k.Kind))
}

// builtinHas reports whether a built-in kind that the rule may mean can have its path. A
// rule for another API group may mean unknown kinds.
func (rs Rules) builtinHas(r Rule) bool {
	groups := false
	for _, k := range builtinKinds() {
		if !r.mayMean(Typed{Group: k.Group, Kind: k.Kind}) {
			continue
		}
		groups = true
		t, ok := Builtin(k.Group, k.Version, k.Kind)
		if m := r.impossible(rs.Shape(t)); ok && m.why == "" {
			return true
		}
	}
	return !groups
}

// misfit is why no value of a type has what a rule looks for; "" where one may.
type misfit struct {
	why   string
	index bool // its path counts entries that are identified otherwise
	line  int  // of what the type cannot have at the path, which it has; 0: it does not have that
}

// impossible returns why no value of type t has what the rule looks for.
func (r Rule) impossible(t *merge.Type) (m misfit) {
	p := r.Path
	if r.Ready.Path != nil {
		p = r.Ready.Path
	}
	for i, s := range p {
		if t == nil || t.Kind == merge.Unknown {
			return m
		}
		wild := s.Kind == merge.FieldStep && s.Name == "*"
		switch {
		case t.Kind == merge.Scalar:
			return misfit{why: fmt.Sprintf("%s has no parts", p[:i])}
		case isList(t) && s.Kind == merge.IndexStep:
			if hint := entryHint(t); hint != "" {
				return misfit{why: fmt.Sprintf("%s is a list whose entries are identified by %s: write %s or [*]", p[:i], hint, keyPattern(t)), index: true}
			}
			return misfit{why: fmt.Sprintf("%s is one value, whose entries cannot be named: write a rule for all of it, or make it a list: keyed", p[:i]), index: true}
		case isList(t) && s.Kind == merge.FieldStep && !wild:
			return misfit{why: fieldOfList(t, p[:i], s.Name)}
		case isList(t):
			t = t.Elem
		case s.Kind != merge.FieldStep:
			return misfit{why: fmt.Sprintf("%s is no list", p[:i])}
		case t.Kind == merge.Map:
			t = t.Elem
		default:
			if t, m.why = fieldLike(t, p[:i], s.Name); m.why != "" {
				return m
			}
		}
	}
	if r.List != "" && t != nil && t.Kind != merge.Unknown && !isList(t) {
		return misfit{why: fmt.Sprintf("list: is for lists, and %s is none", p), line: r.listLine}
	}
	for _, key := range r.Keys {
		if entry := t.EntryType(); entry != nil && entry.Kind == merge.Object && m.why == "" {
			_, m.why = fieldLike(entry, p, key)
			m.why, m.line = strings.Replace(m.why, p.String()+" has", "the entries have", 1), r.keysLine
		}
	}
	return m
}

// fieldLike returns the type of the field that a pattern names; nil where it may be
// several, or is unknown.
func fieldLike(t *merge.Type, at merge.Path, pattern string) (_ *merge.Type, why string) {
	names := slices.Sorted(maps.Keys(t.Fields))
	if i := slices.IndexFunc(names, func(n string) bool { return glob(pattern, n) }); i >= 0 {
		if strings.Contains(pattern, "*") {
			return nil, ""
		}
		return t.Fields[names[i]].Type, ""
	}
	if t.Open {
		return nil, ""
	}
	why = fmt.Sprintf("%s has no field %s", at, pattern)
	if len(at) == 0 {
		why = "there is no field " + pattern
	}
	if near := suggest.Name(pattern, names); near != "" {
		why += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return nil, why
}

// fieldOfList returns why a list of type t has nothing of that name: it is a field of its
// entries, or the key of one.
func fieldOfList(t *merge.Type, at merge.Path, name string) string {
	_, why := fieldLike(t.EntryType(), nil, name)
	if t.Kind == merge.Keyed && len(t.Keys) == 1 && (t.EntryType() == nil || why != "") {
		return fmt.Sprintf("%s is a list: did you mean %s[%s=%s]?", at, at, t.Keys[0].Name, name)
	}
	return fmt.Sprintf("%s is a list: write %s or [*] before %s", at, keyPattern(t), name)
}

func entryHint(t *merge.Type) string {
	switch {
	case t.Kind == merge.Set:
		return "their value"
	case t.Kind == merge.Keyed:
		return strings.NewReplacer("[", "", "=…", "", ",", " and ", "]", "").Replace(keyPattern(t))
	}
	return ""
}

// keyPattern returns the form of an entry of the list in a path.
func keyPattern(t *merge.Type) string {
	if t.Kind != merge.Keyed {
		return "[=…]"
	}
	names := make([]string, len(t.Keys))
	for i, k := range t.Keys {
		names[i] = k.Name + "=…"
	}
	return "[" + strings.Join(names, ",") + "]"
}

// Found calls mark with the index of each rule that has something to decide in an object.
// Such a rule holds for the object, one of the sides has a value at its path, and its manager owns something if owners are recorded.
func (rs Rules) Found(o Object, t *merge.Type, mark func(i int)) {
	for i, r := range rs {
		if !r.holds(o) || r.Manager != "" && o.Triple.Owners != nil && !slices.ContainsFunc(o.Triple.Owners.At(nil), r.by) {
			continue
		}
		for _, side := range []any{o.Triple.Local, o.Triple.Live, o.Triple.Original} {
			if side != nil && found(t, side, r.Path) {
				mark(i)
				break
			}
		}
	}
}

// found reports whether v, of type t, has a value at a path of that pattern.
func found(t *merge.Type, v any, p merge.Path) bool {
	if len(p) == 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if stepFits(p[0], merge.Named(name)) && found(t.Field(name).Type, e, p[1:]) {
				return true
			}
		}
	case []any:
		for i, step := range EntrySteps(t, v) {
			if stepFits(p[0], step) && found(t.EntryType(), v[i], p[1:]) {
				return true
			}
		}
	}
	return false
}

// spelled returns the rule's path as the user wrote it.
func (r Rule) spelled() string {
	switch {
	case r.NoWait:
		return "wait: false"
	case r.Ready.Path != nil:
		return "ready: " + r.Ready.Path.String() + "=" + r.Ready.Value
	case r.text != "":
		return r.text
	}
	return r.Path.String()
}

// nearKind returns the built-in kind, or the one of others, that was probably meant by an unknown kind in a rule;
// "" for one of them, for a pattern, and where none is near.
func (r Rule) nearKind(others []Typed) string {
	var kinds []string
	for _, k := range others {
		kinds = append(kinds, k.Kind)
	}
	for _, k := range builtinKinds() {
		kinds = append(kinds, k.Kind)
	}
	near := suggest.Name(r.Kind, kinds)
	if strings.Contains(r.Kind, "*") || strings.EqualFold(near, r.Kind) {
		return ""
	}
	return near
}

// Where names the rule for messages: its line, path and kind.
func (r Rule) Where() string {
	text := fmt.Sprintf("line %d: %s", r.Line, r.spelled())
	if r.Kind != "" {
		text += " (kind " + r.Kind + ")"
	}
	if r.Manager != "" {
		text += " (manager " + r.Manager + ")"
	}
	return text
}
