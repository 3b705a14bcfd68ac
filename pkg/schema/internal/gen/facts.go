package main

import (
	_ "embed"
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
	OneOf     texts `json:"oneOf"`     // groups of fields of which one may be set
	Unique    texts `json:"unique"`    // lists, and a field that no two of their entries have alike
	Exclusive texts `json:"exclusive"` // sets, and members that exclude each other
	Allocated texts `json:"allocated"` // fields
	Mirrored  texts `json:"mirrored"`  // the two fields that the server keeps alike
	Made      texts `json:"made"`      // paths of entries that the server makes
	Fixed     texts `json:"fixed"`     // paths of what can no longer be changed
	Defaults  texts `json:"defaults"`  // rules for what the server fills in

	ControlPlane []string `json:"controlPlane"`
}

// texts are facts as they are written, by the type that they are about; * stands for any version.
type texts map[string][]string

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
	for _, one := range []struct {
		texts
		add func(*table, *typeRow, string) error
	}{
		{f.OneOf, addOneOf}, {f.Unique, addUnique}, {f.Exclusive, addExclusive}, {f.Allocated, markAllocated},
		{f.Mirrored, addMirrored}, {f.Made, line("!")}, {f.Fixed, line("#")}, {f.Defaults, line(">")},
	} {
		for _, name := range slices.Sorted(maps.Keys(one.texts)) {
			for _, text := range one.texts[name] {
				err = errors.Join(err, t.each(name, func(r *typeRow) error { return one.add(t, r, text) }))
			}
		}
	}
	t.controlPlane = f.ControlPlane
	return errors.Join(err, t.each("*", (*typeRow).addUnions))
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

// has returns an error for the first of those fields that the row does not have.
func (r *typeRow) has(names ...string) error {
	for _, name := range names {
		if r.field(name) == nil {
			return fmt.Errorf("there is no field %q", name)
		}
	}
	return nil
}

// addOneOf adds a group to the row.
func addOneOf(_ *table, r *typeRow, text string) error {
	names := strings.Fields(text)
	by, _, chosen := strings.Cut(names[0], ":")
	switch {
	case chosen:
		fields := []string{by}
		for _, word := range names[1:] {
			if _, field, selects := strings.Cut(word, "="); selects {
				fields = append(fields, field)
			}
		}
		names = fields
	case names[0] == "*":
		but := strings.Fields(strings.ReplaceAll(text[1:], "-", ""))
		if err := r.has(but...); err != nil {
			return err
		}
		names = nil
		for _, f := range r.fields {
			if !slices.Contains(but, f.name) {
				names = append(names, f.name)
			}
		}
		text = strings.Join(names, " ")
	}
	if len(names) < 2 {
		return fmt.Errorf("a group of one-of fields needs fields")
	}
	r.lines = append(r.lines, "| "+text)
	return r.has(names...)
}

// addUnions adds the unions of the server's schema. One with a discriminator has to be
// among the facts: the schema names the Go fields in place of the discriminator's values
// ("LocalhostProfile" for "Localhost").
func (r *typeRow) addUnions() error {
	for _, u := range r.unions {
		if u.Discriminator != nil {
			if !slices.ContainsFunc(r.lines, func(line string) bool { return strings.HasPrefix(line, "| "+*u.Discriminator+":") }) {
				return fmt.Errorf("the union by %s is not among the facts", *u.Discriminator)
			}
			continue
		}
		text := "|"
		for _, f := range u.Fields {
			text += " " + f.FieldName
		}
		if len(u.Fields) > 1 {
			r.lines = append(r.lines, text)
		}
	}
	return nil
}

func markAllocated(_ *table, r *typeRow, name string) error {
	if err := r.has(name); err != nil {
		return err
	}
	r.field(name).allocated = true
	return nil
}

// addUnique writes into the shape of a keyed list which other field distinguishes its
// entries: LIST FIELD. FIELD=JSON is what an entry without the field counts as.
func addUnique(t *table, r *typeRow, text string) error {
	list, by, _ := strings.Cut(text, " ")
	if err := r.has(list); err != nil {
		return err
	}
	f := r.field(list)
	keys, elem, keyed := strings.Cut(f.shape, "]")
	if !keyed || len(keys) < 2 || keys == "[=" {
		return fmt.Errorf("%s is no list with keys", list)
	}
	f.shape = keys + ";" + by + "]" + elem
	name, _, _ := strings.Cut(by, "=")
	if entry := t.types[elem]; entry == nil || entry.field(name) == nil {
		return fmt.Errorf("entries of %s have no field %q", list, name)
	}
	return nil
}

// addExclusive writes into the shape of a set which of its members exclude each other: SET MEMBER|MEMBER….
func addExclusive(_ *table, r *typeRow, text string) error {
	set, members, _ := strings.Cut(text, " ")
	f := r.field(set)
	if f == nil || !strings.HasPrefix(f.shape, "[=]") || !strings.Contains(members, "|") {
		return fmt.Errorf("%q is no set with members", set)
	}
	f.shape = "[=" + members + strings.TrimPrefix(f.shape, "[=")
	return nil
}

// line returns the function that adds a text to a row, as a line with a mark. It begins with a field.
func line(mark string) func(*table, *typeRow, string) error {
	return func(_ *table, r *typeRow, text string) error {
		r.lines = append(r.lines, mark+" "+text)
		return r.has(text[:strings.IndexAny(text+" ", "/? ")])
	}
}

// addMirrored adds the pair, and that the server fills in each from the other.
func addMirrored(t *table, r *typeRow, pair string) error {
	a, b, _ := strings.Cut(pair, " ")
	if b == "" || strings.Contains(b, " ") {
		return fmt.Errorf("%q is no pair of fields", pair)
	}
	fill := line(">")
	return errors.Join(line("=")(t, r, pair), fill(t, r, a+" @"+b+" admission"), fill(t, r, b+" @"+a+" admission"))
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
