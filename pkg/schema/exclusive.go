package schema

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// constraint holds what a schema demands of the fields of an object: its required, not, oneOf,
// anyOf and allOf.
type constraint struct {
	required            []string
	not                 *constraint
	oneOf, anyOf, allOf []constraint

	// vague: it also demands something of the fields' values.
	vague bool
}

// UnmarshalJSON reads a schema; what it cannot read may demand anything.
func (c *constraint) UnmarshalJSON(data []byte) error {
	var words map[string]json.RawMessage
	if json.Unmarshal(data, &words) != nil {
		c.vague = true
		return nil
	}
	into := map[string]any{"required": &c.required, "not": &c.not, "oneOf": &c.oneOf, "anyOf": &c.anyOf, "allOf": &c.allOf}
	for word, text := range words {
		switch at, known := into[word]; {
		case known:
			c.vague = json.Unmarshal(text, at) != nil || c.vague
		case word != "description" && word != "title" && word != "type":
			c.vague = true
		}
	}
	return nil
}

// verdict says whether an object with certain fields can be valid, and whether it can be invalid.
type verdict struct{ yes, no bool }

func (v verdict) and(w verdict) verdict { return verdict{v.yes && w.yes, v.no || w.no} }

// judge returns the verdict on an object that has these fields.
func (c *constraint) judge(has map[string]bool) verdict {
	v := verdict{yes: true, no: c.vague}
	for _, name := range c.required {
		v = v.and(verdict{has[name], !has[name]})
	}
	if c.not != nil {
		n := c.not.judge(has)
		v = v.and(verdict{n.no, n.yes})
	}
	for i := range c.allOf {
		v = v.and(c.allOf[i].judge(has))
	}
	if len(c.anyOf) > 0 {
		least, most := count(c.anyOf, has)
		v = v.and(verdict{most > 0, least == 0})
	}
	if len(c.oneOf) > 0 {
		least, most := count(c.oneOf, has)
		v = v.and(verdict{least <= 1 && most >= 1, least != 1 || most != 1})
	}
	return v
}

// count returns how many of the branches hold at least, and at most.
func count(branches []constraint, has map[string]bool) (least, most int) {
	for i := range branches {
		v := branches[i].judge(has)
		if !v.no {
			least++
		}
		if v.yes {
			most++
		}
	}
	return least, most
}

// fields adds the names that the constraint mentions.
func (c *constraint) fields(to map[string]bool) {
	for _, name := range c.required {
		to[name] = true
	}
	if c.not != nil {
		c.not.fields(to)
	}
	for _, branches := range [][]constraint{c.oneOf, c.anyOf, c.allOf} {
		for i := range branches {
			branches[i].fields(to)
		}
	}
}

// mostFields bounds the objects that are tried for one schema: 2 to the power of it.
const mostFields = 10

// exclusive lists the groups of declared fields of which the schema allows only one,
// whatever else the object has. Two fields exclude each other if no valid object has both,
// though either may be present. Where all of these exclude each other, they are one group.
func (c *constraint) exclusive(declared map[string]merge.Field) (pairs []merge.OneOf) {
	spoken := map[string]bool{}
	c.fields(spoken)
	names := slices.Sorted(maps.Keys(spoken))
	if len(names) < 2 || len(names) > mostFields {
		return nil
	}
	var valid []map[string]bool // the fields that an object may have
	for set := range 1 << len(names) {
		has := map[string]bool{}
		for i, name := range names {
			has[name] = set>>i&1 == 1
		}
		if c.judge(has).yes {
			valid = append(valid, has)
		}
	}
	together := func(a, b string) bool {
		return slices.ContainsFunc(valid, func(has map[string]bool) bool { return has[a] && has[b] })
	}
	in := map[string]bool{}
	for i, a := range names {
		for _, b := range names[i+1:] {
			_, hasA := declared[a]
			_, hasB := declared[b]
			if hasA && hasB && together(a, a) && together(b, b) && !together(a, b) {
				pairs = append(pairs, merge.OneOf{Fields: []string{a, b}, Displaces: true})
				in[a], in[b] = true, true
			}
		}
	}
	if n := len(in); n > 2 && len(pairs) == n*(n-1)/2 {
		return []merge.OneOf{{Fields: slices.Sorted(maps.Keys(in)), Displaces: true}}
	}
	return pairs
}
