package main

import (
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/yaml"
)

//go:embed facts.yaml
var factsYAML []byte

// facts is what no schema says and is therefore kept by hand.
type facts struct {
	OneOf     []oneOfFact     `json:"oneOf"`
	Allocated []allocatedFact `json:"allocated"`
}

type oneOf struct {
	Fields        []string          `json:"fields"`
	Discriminator string            `json:"discriminator"`
	Selects       map[string]string `json:"selects"`
	Fallback      string            `json:"fallback"`
	Displaces     bool              `json:"displaces"`
}

type oneOfFact struct {
	Type   string   `json:"type"`   // a type's short name; * stands for any version
	Except []string `json:"except"` // all fields but these
	oneOf  `json:",inline"`
}

type allocatedFact struct {
	Type   string   `json:"type"`
	Fields []string `json:"fields"`
}

func readFacts(text []byte) (*facts, error) {
	f := &facts{}
	if err := yaml.UnmarshalStrict(text, f); err != nil {
		return nil, fmt.Errorf("facts.yaml: %w", err)
	}
	return f, nil
}

// addTo writes the facts into the rows that they are about. A fact that is about
// nothing is an error: the type was renamed, or never was.
func (f *facts) addTo(t *table) error {
	for _, r := range t.types {
		for _, u := range r.unions {
			if o, ok := fromUnion(u); ok {
				r.oneOf = append(r.oneOf, o)
			}
		}
	}
	for _, fact := range f.OneOf {
		rows, err := t.match(fact.Type)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := r.addOneOf(fact); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	for _, fact := range f.Allocated {
		rows, err := t.match(fact.Type)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := r.markAllocated(fact.Fields); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
}

// match lists the rows whose name fits the pattern.
func (t *table) match(pattern string) ([]*typeRow, error) {
	var rows []*typeRow
	for _, name := range t.names() {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pattern, err)
		}
		if ok {
			rows = append(rows, t.types[name])
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: there is no such type", pattern)
	}
	return rows, nil
}

func (r *typeRow) field(name string) *fieldCol {
	for i := range r.fields {
		if r.fields[i].name == name {
			return &r.fields[i]
		}
	}
	return nil
}

// addOneOf adds a group to the row, in place of the schema's union with the same
// discriminator.
func (r *typeRow) addOneOf(fact oneOfFact) error {
	o := fact.oneOf
	if len(fact.Except) > 0 {
		for _, f := range r.fields {
			if !slices.Contains(fact.Except, f.name) {
				o.Fields = append(o.Fields, f.name)
			}
		}
	}
	if o.Discriminator != "" {
		o.Fields = slices.Sorted(maps.Values(o.Selects))
		r.oneOf = slices.DeleteFunc(r.oneOf, func(u oneOf) bool { return u.Discriminator == o.Discriminator })
	}
	if o.Discriminator == "" && len(o.Fields) < 2 || len(o.Fields) == 0 {
		return fmt.Errorf("a group needs fields")
	}
	// A version that does not have all of the fields has a smaller group.
	var missing []string
	for _, name := range slices.Concat(o.Fields, fact.Except, []string{o.Discriminator}) {
		if name != "" && r.field(name) == nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("there is no field %q", missing)
	}
	r.oneOf = append(r.oneOf, o)
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

// fromUnion reads a union of the server's schema. One without a discriminator
// and with one field says nothing.
func fromUnion(u smd.Union) (oneOf, bool) {
	o := oneOf{Selects: map[string]string{}}
	for _, f := range u.Fields {
		o.Fields = append(o.Fields, f.FieldName)
		o.Selects[f.DiscriminatorValue] = f.FieldName
	}
	if u.Discriminator == nil {
		return o, len(o.Fields) > 1
	}
	o.Discriminator = *u.Discriminator
	return o, true
}

func mapsKeys(m map[string]string) iter.Seq[string] { return maps.Keys(m) }
