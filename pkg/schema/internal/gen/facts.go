package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed facts.yaml
var factsYAML []byte

// defaultsText lists what the API server's defaulting functions fill in. The module
// test/cluster, which links them, writes it.
//
//go:embed defaults.txt
var defaultsText string

// facts holds what no schema states, and is therefore maintained by hand.
type facts struct {
	OneOf     []oneOfFact     `json:"oneOf"`
	Unique    []uniqueFact    `json:"unique"`
	Exclusive []exclusiveFact `json:"exclusive"`
	Allocated texts           `json:"allocated"` // fields
	Mirrored  texts           `json:"mirrored"`  // the two fields that the server keeps alike
	Made      texts           `json:"made"`      // paths of entries that the server makes
	Fixed     texts           `json:"fixed"`     // paths of what can no longer be changed
	Defaults  texts           `json:"defaults"`  // rules for what the server fills in

	ControlPlane []string `json:"controlPlane"`
}

// texts are facts that the table has as they are written, by the type that they are about.
type texts map[string][]string

type oneOf struct {
	Fields        []string          `json:"fields"`
	Discriminator string            `json:"discriminator"`
	Selects       map[string]string `json:"selects"`
	Fallback      string            `json:"fallback"`
	Displaces     bool              `json:"displaces"`
}

type oneOfFact struct {
	Type   string    `json:"type"`   // a type's short name; * stands for any version
	Except *[]string `json:"except"` // all fields but these
	oneOf  `json:",inline"`
}

// exclusiveFact states that the API refuses a set that has two of the members.
type exclusiveFact struct {
	Type    string   `json:"type"`
	Set     string   `json:"set"`
	Members []string `json:"members"`
}

// uniqueFact states that the API refuses a list in which two entries have the same value of
// by. Where absent is given, an entry without a value counts as having that.
type uniqueFact struct {
	Type   string `json:"type"`
	List   string `json:"list"`
	By     string `json:"by"`
	Absent any    `json:"absent"`
}

func readFacts(text []byte) (*facts, error) {
	f := &facts{}
	if err := yaml.UnmarshalStrict(text, f); err != nil {
		return nil, fmt.Errorf("facts.yaml: %w", err)
	}
	return f, nil
}

// addTo writes the facts into the rows that they are about. A fact without a row is an
// error (the type was renamed, or never existed). So is a union of the server's schema that
// has no values in facts.yaml.
func (f *facts) addTo(t *table) (err error) {
	add := func(pattern string, do func(*typeRow) error) { err = errors.Join(err, t.each(pattern, do)) }
	for _, fact := range f.OneOf {
		add(fact.Type, func(r *typeRow) error { return r.addOneOf(fact) })
	}
	for _, fact := range f.Unique {
		add(fact.Type, func(r *typeRow) error { return r.addUnique(t, fact) })
	}
	for _, fact := range f.Exclusive {
		add(fact.Type, func(r *typeRow) error { return r.addExclusive(fact) })
	}
	for _, one := range []struct {
		texts
		add func(*typeRow, []string) error
	}{{f.Allocated, (*typeRow).markAllocated}, {f.Mirrored, (*typeRow).addMirrored}, {f.Made, rows("!")}, {f.Fixed, rows("#")}, {f.Defaults, rows(">")}} {
		for _, name := range slices.Sorted(maps.Keys(one.texts)) {
			add(name, func(r *typeRow) error { return one.add(r, one.texts[name]) })
		}
	}
	t.controlPlane = f.ControlPlane
	add("*", (*typeRow).addUnions)
	return err
}

// each applies a function to every row whose name fits the pattern.
func (t *table) each(pattern string, do func(*typeRow) error) error {
	found := false
	for _, name := range t.names() {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return fmt.Errorf("%s: %w", pattern, err)
		}
		if !ok {
			continue
		}
		found = true
		if err := do(t.types[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if !found {
		return fmt.Errorf("%s: there is no such type", pattern)
	}
	return nil
}

func (r *typeRow) field(name string) *fieldCol {
	i := slices.IndexFunc(r.fields, func(f fieldCol) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return &r.fields[i]
}

// addOneOf adds a group to the row.
func (r *typeRow) addOneOf(fact oneOfFact) error {
	o := fact.oneOf
	if fact.Except != nil {
		for _, f := range r.fields {
			if !slices.Contains(*fact.Except, f.name) {
				o.Fields = append(o.Fields, f.name)
			}
		}
	}
	if o.Discriminator != "" {
		o.Fields = slices.Sorted(maps.Values(o.Selects))
	}
	if len(o.Fields) == 0 || o.Discriminator == "" && len(o.Fields) < 2 {
		return fmt.Errorf("a group of one-of fields needs fields")
	}
	named := append([]string{o.Discriminator}, o.Fields...)
	if fact.Except != nil {
		named = append(named, *fact.Except...)
	}
	for _, name := range named {
		if name != "" && r.field(name) == nil {
			return fmt.Errorf("there is no field %q", name)
		}
	}
	r.oneOf = append(r.oneOf, o)
	return nil
}

// addUnions adds the unions of the server's schema. One with a discriminator has to be
// among the facts: the schema names the Go fields in place of the discriminator's values
// ("LocalhostProfile" for "Localhost").
func (r *typeRow) addUnions() error {
	for _, u := range r.unions {
		if u.Discriminator != nil {
			if !slices.ContainsFunc(r.oneOf, func(o oneOf) bool { return o.Discriminator == *u.Discriminator }) {
				return fmt.Errorf("the union by %s is not among the facts", *u.Discriminator)
			}
			continue
		}
		var o oneOf
		for _, f := range u.Fields {
			o.Fields = append(o.Fields, f.FieldName)
		}
		if len(o.Fields) > 1 {
			r.oneOf = append(r.oneOf, o)
		}
	}
	return nil
}

func (r *typeRow) markAllocated(names []string) error {
	for _, name := range names {
		f := r.field(name)
		if f == nil {
			return fmt.Errorf("there is no field %q", name)
		}
		f.allocated = true
	}
	return nil
}

// addUnique writes into the shape of a keyed list which other field distinguishes its
// entries.
func (r *typeRow) addUnique(t *table, fact uniqueFact) error {
	f := r.field(fact.List)
	if f == nil {
		return fmt.Errorf("there is no field %q", fact.List)
	}
	keys, elem, keyed := strings.Cut(f.shape, "]")
	if !keyed || len(keys) < 2 || keys == "[=" {
		return fmt.Errorf("%s is no list with keys", fact.List)
	}
	if entry := t.types[elem]; entry == nil || entry.field(fact.By) == nil {
		return fmt.Errorf("entries of %s have no field %q", fact.List, fact.By)
	}
	keys += ";" + fact.By
	if fact.Absent != nil {
		text, err := json.Marshal(fact.Absent)
		if err != nil {
			return err
		}
		keys += "=" + string(text)
	}
	f.shape = keys + "]" + elem
	return nil
}

// addExclusive writes into the shape of a set which of its members exclude each other.
func (r *typeRow) addExclusive(fact exclusiveFact) error {
	f := r.field(fact.Set)
	if f == nil || !strings.HasPrefix(f.shape, "[=]") || len(fact.Members) < 2 {
		return fmt.Errorf("%q is no set with members", fact.Set)
	}
	f.shape = "[=" + strings.Join(fact.Members, "|") + strings.TrimPrefix(f.shape, "[=")
	return nil
}

// rows returns the function that adds texts to a row, each as a line with a mark. They begin with a field.
func rows(mark string) func(*typeRow, []string) error {
	return func(r *typeRow, texts []string) error {
		for _, text := range texts {
			name := text[:strings.IndexAny(text+" ", "/? ")]
			if r.field(name) == nil {
				return fmt.Errorf("there is no field %q", name)
			}
			r.lines = append(r.lines, mark+" "+text)
		}
		return nil
	}
}

// addMirrored adds the pair, and that the server fills in each from the other.
func (r *typeRow) addMirrored(pair []string) error {
	if len(pair) != 2 {
		return fmt.Errorf("%q is no pair of fields", pair)
	}
	a, b := pair[0], pair[1]
	return errors.Join(rows("=")(r, []string{a + " " + b}), rows(">")(r, []string{a + " @" + b + " admission", b + " @" + a + " admission"}))
}

// addDefaults writes the fixed defaults of the server's functions into the rows. Types that
// no kind reaches are skipped.
func (t *table) addDefaults(text string) error {
	for line := range strings.Lines(text) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if line[0] == '#' || words[2] == "depends" || t.types[words[0]] == nil {
			continue
		}
		f := t.types[words[0]].field(words[1])
		if f == nil {
			return fmt.Errorf("defaults.txt: %s: there is no field %q", words[0], words[1])
		}
		f.serverDefault = words[2]
	}
	return nil
}
