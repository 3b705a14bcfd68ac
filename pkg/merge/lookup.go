package merge

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// Lookup finds the value at a path; false where there is none. typ is asked for
// nothing but the identity of list entries, and may be nil: keys are then
// compared as the path has them. Who looks up many paths asks a Finder.
func Lookup(v any, p Path, typ *Type) (any, bool) { return NewFinder(v, typ).Lookup(p) }

// EntryAt is the place of the entry of a list that the step leads to, or -1; typ is the
// list's type, and nil knows no defaults of keys. Who looks for many entries asks EntriesOf.
func EntryAt(list []any, s Step, typ *Type) int { return EntriesOf(list, typ).At(s) }

// Finder looks up paths in one value, which must not be modified meanwhile. Each list is read
// once, however many of its entries are asked for. It is not safe for concurrent use.
type Finder struct {
	root  any
	typ   *Type
	lists map[*any]*Entries // by their first entries
}

// NewFinder makes the Finder of a value of that type; see Lookup.
func NewFinder(root any, typ *Type) *Finder { return &Finder{root: root, typ: typ} }

// Lookup is Lookup in the value.
func (f *Finder) Lookup(p Path) (any, bool) {
	v, typ := f.root, f.typ
	for _, s := range p {
		switch s.Kind {
		case FieldStep:
			m, _ := v.(map[string]any)
			e, ok := m[s.Name]
			if !ok {
				return nil, false
			}
			v, typ = e, typ.Field(s.Name).Type
		default:
			list, _ := v.([]any)
			i := f.entries(list, typ).At(s)
			if i < 0 {
				return nil, false
			}
			v, typ = list[i], typ.EntryType()
		}
	}
	return v, true
}

// Reach returns how many steps of a path lead to something in the value.
func (f *Finder) Reach(p Path) (n int) {
	for n < len(p) {
		if _, there := f.Lookup(p[:n+1]); !there {
			break
		}
		n++
	}
	return n
}

// entries are those of a list in the value.
func (f *Finder) entries(list []any, typ *Type) *Entries {
	if len(list) <= fewEntries {
		return EntriesOf(list, typ)
	}
	e := f.lists[&list[0]]
	if e == nil {
		if f.lists == nil {
			f.lists = map[*any]*Entries{}
		}
		e = EntriesOf(list, typ)
		f.lists[&list[0]] = e
	}
	return e
}

// fewEntries are compared one by one, as are all for the first few steps that are asked for.
const fewEntries = 8

// Entries finds the entries of one list, which must not be modified meanwhile.
type Entries struct {
	list  []any
	typ   *Type
	asked int

	alike map[string]map[string][]int // places by the names of the keys that a step has, and by their values
	led   map[string][]int            // see places
}

// EntriesOf are the entries of a list of that type; nil knows no defaults of keys.
func EntriesOf(list []any, typ *Type) *Entries { return &Entries{list: list, typ: typ} }

// At is the place of the entry that a step leads to, or -1. A key that the entry
// leaves out (its default stands in the step) matches where no other entry does.
func (x *Entries) At(s Step) int {
	switch {
	case s.Kind == IndexStep && s.Index < len(x.list):
		return s.Index
	case s.Kind == IndexStep || s.Kind == FieldStep:
		return -1
	}
	s = withDefaults(s, x.typ)
	nth := max(s.Nth, 1)
	for how := range matchings {
		if all := x.places(s, how, nth); len(all) >= nth {
			return all[nth-1]
		}
	}
	return -1
}

// All are the places of all entries that a step leads to, whichever of them it names.
func (x *Entries) All(s Step) []int {
	return x.places(withDefaults(s, x.typ), matchings-1, len(x.list))
}

// places are the first most, or more, of those of the entries that a step leads to.
func (x *Entries) places(s Step, how matching, most int) (all []int) {
	key := ""
	if most > fewEntries { // one of many with this identity
		most, s.Nth = len(x.list), int(how)+2 // 0 and 1 are spelled alike
		key = s.String()
		if all, known := x.led[key]; known {
			return all
		}
	}
	for i := range x.among(s) {
		if matches(x.list[i], s, how, x.typ.EntryType()) {
			all = append(all, i)
		}
		if len(all) == most {
			break
		}
	}
	if key != "" {
		if x.led == nil {
			x.led = map[string][]int{}
		}
		x.led[key] = all
	}
	return all
}

// among are the places of all entries to which the step may lead, and of others.
func (x *Entries) among(s Step) iter.Seq[int] {
	if x.asked++; x.asked <= fewEntries || len(x.list) <= fewEntries {
		return func(yield func(int) bool) {
			for i := range x.list {
				if !yield(i) {
					return
				}
			}
		}
	}
	names := make([]string, len(s.Keys))
	texts := []string{""}
	for i, k := range s.Keys {
		names[i] = k.Name
		text := roughly(k.Value)
		n := len(texts)
		if text != "" && k.Default { // an entry may leave the key out
			texts = append(texts, texts...)
		}
		for j := range texts {
			if texts[j] += "\x00"; j < n {
				texts[j] += text
			}
		}
	}
	if s.Kind == ValueStep {
		texts[0] = member(s.Value, x.typ.EntryType())
	}
	alike := x.by(names)
	var all []int
	for _, text := range texts {
		all = append(all, alike[text]...)
	}
	if len(texts) > 1 {
		slices.Sort(all)
	}
	return slices.Values(all)
}

// by are the places of entries by the values of those keys, or of none by their own.
func (x *Entries) by(names []string) map[string][]int {
	id := strings.Join(names, "\x00")
	if x.alike[id] == nil {
		alike := make(map[string][]int, len(x.list))
		for i, e := range x.list {
			m, isMap := e.(map[string]any)
			text := ""
			for _, name := range names {
				text += "\x00" + roughly(m[name])
			}
			if len(names) == 0 {
				text = member(e, x.typ.EntryType())
			}
			if isMap || len(names) == 0 {
				alike[text] = append(alike[text], i)
			}
		}
		if x.alike == nil {
			x.alike = map[string]map[string][]int{}
		}
		x.alike[id] = alike
	}
	return x.alike[id]
}

// roughly is one text for all values of a key that are the same (see sameKey), or that may
// stand for a key that is missing.
func roughly(v any) string {
	text := plain(v)
	switch {
	case v == nil:
		return ""
	case isNumber(text):
		return numberText(json.Number(text))
	}
	return text
}

// matching is how much a step's keys and an entry's may differ. What differs
// less is the entry that is meant.
type matching uint8

const (
	toTheLetter      matching = iota
	defaultIsMissing          // the entry may leave out a key whose default the step has
	emptyIsMissing            // and "" counts as left out
	asTyped                   // the same three again; a number or a map may be typed as a text
	matchings        = 2 * asTyped
)

// matches reports whether the step leads to the entry, which is of that type.
func matches(e any, s Step, how matching, elem *Type) bool {
	m, isMap := e.(map[string]any)
	switch {
	case s.Kind == ValueStep:
		return member(e, elem) == member(s.Value, elem)
	case s.Kind != KeyStep || !isMap:
		return false
	}
	for _, k := range s.Keys {
		v := m[k.Name]
		if v == nil || v == "" && how%asTyped == emptyIsMissing {
			if k.Value != nil && v != k.Value && (how%asTyped == toTheLetter || !k.Default) {
				return false
			}
			continue
		}
		if !equalScalars(v, k.Value, nil) && !Identical(v, k.Value) && (how < asTyped || !sameKey(v, k.Value)) {
			return false
		}
	}
	return true
}

// withDefaults marks the keys of a step that the list's type gives as default, so
// that a path typed by a user finds an entry that leaves the key out.
func withDefaults(s Step, t *Type) Step {
	if s.Kind != KeyStep || t == nil {
		return s
	}
	keys := append([]KeyPart(nil), s.Keys...)
	for i, k := range keys {
		for _, tk := range t.Keys {
			if tk.Name == k.Name && tk.Default != nil {
				keys[i].Default = sameKey(tk.Default, k.Value)
			}
		}
	}
	s.Keys = keys
	return s
}
