package merge

import (
	"encoding/json"
	"slices"
	"strings"
)

// Identity spells an entry's identity as one string, so that pairing is a map look-up.
// Entries with the same string are one entry, or a group if one side has several.
func Identity(t *Type, e any) string {
	m, ok := e.(map[string]any)
	if t.Kind == Set || !ok {
		return "=" + member(e, t.Elem)
	}
	if len(t.Keys) == 1 {
		return keyText(keyValue(t, t.Keys[0], m))
	}
	var b strings.Builder
	for i, k := range t.Keys {
		if i > 0 {
			b.WriteByte(0)
		}
		b.WriteString(keyText(keyValue(t, k, m)))
	}
	return b.String()
}

// member spells the member of a set as the server completes it. elem is its type, and may be nil.
func member(e any, elem *Type) string { return canonical(Complete(e, elem, true)) }

// keyValue returns the entry's key, its default where the key is missing, or nil.
func keyValue(t *Type, k Key, m map[string]any) any {
	v := m[k.Name]
	if v == nil || v == "" && t.Elem.Field(k.Name).ZeroIsAbsent {
		return k.Default
	}
	return v
}

// keyText distinguishes a missing key, text, numbers and the rest by the first byte. Text,
// the usual case, is not copied where it cannot be mistaken.
func keyText(v any) string {
	switch v := v.(type) {
	case nil:
		return "\x01"
	case string:
		if v != "" && v[0] > 4 {
			return v
		}
		return "\x02" + v
	case json.Number:
		return "\x03" + numberText(v)
	}
	return "\x04" + canonical(v)
}

// canonical returns the value as JSON with sorted keys.
func canonical(v any) string {
	switch v := v.(type) {
	case string:
		return `"` + v
	case json.Number:
		return numberText(v)
	}
	text, _ := json.Marshal(v) // "" for what is not JSON
	return string(text)
}

// numberText spells equal numbers alike: 80.0 and 8e1 are 80.
func numberText(n json.Number) string {
	text := n.String()
	if !strings.ContainsAny(text, ".eE") && text != "-0" {
		return text
	}
	if r, ok := number(text); ok {
		return r.RatString()
	}
	return text
}

// StepOf returns the step to an entry; nth counts the entries with its identity from 1, and
// is 0 where it is the only one.
func StepOf(t *Type, e any, nth int) Step {
	m, ok := e.(map[string]any)
	if t.Kind == Set || !ok {
		return Step{Kind: ValueStep, Value: e, Nth: nth}
	}
	s := Step{Kind: KeyStep, Keys: make([]KeyPart, len(t.Keys)), Nth: nth}
	for i, k := range t.Keys {
		v := keyValue(t, k, m)
		s.Keys[i] = KeyPart{Name: k.Name, Value: v, Default: k.Default != nil && sameKey(v, k.Default)}
	}
	return s
}

// Spare lists the entries of a that have no partner in b, in a's order, with the step
// that leads to each in a. Entries of one identity are partners where they are equal,
// the others in order. t is the type of both lists, Keyed or Set.
func Spare(t *Type, a, b []any) (steps []Step, entries []any) {
	free, same := map[string]int{}, map[string]int{}
	for _, e := range b {
		free[Identity(t, e)]++
		same[Identity(t, e)+alike(t, e)]++
	}
	paired := make([]bool, len(a))
	for i, e := range a {
		if id := Identity(t, e); same[id+alike(t, e)] > 0 {
			same[id+alike(t, e)]--
			free[id]--
			paired[i] = true
		}
	}
	nth := map[string]int{}
	for i, e := range a {
		id := Identity(t, e)
		nth[id]++
		switch {
		case paired[i]:
		case free[id] > 0:
			free[id]--
		default:
			steps, entries = append(steps, StepOf(t, e, nth[id])), append(entries, e)
		}
	}
	return steps, entries
}

// index maps identities to the places of their entries.
type index struct {
	first map[string]int   // the first entry of each identity
	more  map[string][]int // all entries of the identities that repeat
	ids   []string         // each entry's identity
}

func indexOf(t *Type, list []any) index {
	x := index{first: make(map[string]int, len(list)), ids: make([]string, len(list))}
	for i, e := range list {
		id := Identity(t, e)
		x.ids[i] = id
		if j, ok := x.first[id]; ok {
			if x.more == nil {
				x.more = map[string][]int{}
			}
			if x.more[id] == nil {
				x.more[id] = []int{j}
			}
			x.more[id] = append(x.more[id], i)
			continue
		}
		x.first[id] = i
	}
	return x
}

// all lists the places of an identity, in order.
func (x index) all(id string) []int {
	if g := x.more[id]; g != nil {
		return g
	}
	if i, ok := x.first[id]; ok {
		return []int{i}
	}
	return nil
}

// nth returns the number of entry i among those of its identity, counted from 1; 0 where it
// is the only one.
func (x index) nth(i int) int {
	n, _ := slices.BinarySearch(x.more[x.ids[i]], i)
	if x.more[x.ids[i]] == nil {
		return 0
	}
	return n + 1
}
