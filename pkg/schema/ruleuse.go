package schema

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/linemerge"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

//go:embed exceptions.yaml
var exceptionsText []byte

// Exceptions are the built-in rules (exceptions.yaml). They come after the
// user's.
var Exceptions = sync.OnceValues(func() (Rules, error) {
	rules, err := ParseRules(exceptionsText)
	if err != nil {
		return nil, fmt.Errorf("exceptions.yaml: %w", err)
	}
	return rules, nil
})

// Object is an object that rules are matched against.
type Object struct {
	Group, Kind, Namespace, Name string

	// Triple's sides answer conditions: an object has what local has, and what only live
	// has, unless local removes that with a null.
	Triple merge.Triple
}

// For lists the rules that hold for an object, in order.
func (rs Rules) For(o Object) Rules {
	var out Rules
	for _, r := range rs {
		if r.holds(o) {
			if r.Manager != "" {
				r.triple = o.Triple
			}
			out = append(out, r)
		}
	}
	return out
}

func (r Rule) holds(o Object) bool {
	return r.mayMean(Typed{Group: o.Group, Kind: o.Kind}) && fits(r.Name, o.Name) && fits(r.Namespace, o.Namespace) &&
		(len(r.Has) == 0 || has(o.Triple.Local, r.Has) ||
			has(o.Triple.Live, r.Has) && !has(o.Triple.Original, r.Has) && !nulled(o.Triple.Local, r.Has))
}

// nulled reports whether v has null at the path, or around it.
func nulled(v any, p merge.Path) bool {
	for n := range p {
		if e, ok := merge.Lookup(v, p[:n+1], nil); ok && e == nil {
			return true
		}
	}
	return false
}

func has(v any, p merge.Path) bool {
	e, ok := merge.Lookup(v, p, nil)
	return ok && e != nil
}

// Policy returns the rules about which side wins, for merge.Policy.Rules; nil where there
// are none.
func (rs Rules) Policy() []merge.Rule {
	var out []merge.Rule
	for _, r := range rs {
		switch {
		case r.Ignore:
			out = append(out, merge.Rule{Name: r.String(), Match: r.matches, Choice: merge.TakeLive, Always: true})
		case r.Winner != "":
			out = append(out, merge.Rule{Name: r.String(), Match: r.matches, Choice: winners[r.Winner], Always: true})
		}
	}
	return out
}

// Texts returns the rules for texts that are merged by lines, for merge.Policy.Texts; nil
// where there are none.
func (rs Rules) Texts() []merge.TextRule {
	var out []merge.TextRule
	for _, r := range rs {
		if r.Text != "" {
			out = append(out, merge.TextRule{Name: r.String(), Match: r.matches, Merge: texts[r.Text]})
		}
	}
	return out
}

func byLines(base, local, live string) (localWins, liveWins string, clean bool) {
	return linemerge.Sides(base, live, local)
}

// String returns the short form of the rule for notes and explanations.
func (r Rule) String() string {
	say := r.Winner
	switch {
	case r.Ignore:
		say = "ignore"
	case say == "":
		say = cmp.Or(r.List, r.Text)
	}
	switch {
	case r.waits():
		return r.spelled()
	case say == "":
		say = "sensitive"
	}
	if r.Manager != "" {
		say += ", if by " + r.Manager
	}
	if r.text != "" {
		return r.text + ": " + say
	}
	return r.Path.String() + ": " + say
}

// matches compares a path with the rule's, step by step. The path "." fits every path. A
// rule with a manager also fits what is below its path: that manager may own a part of it
// alone where it does not own the whole.
func (r Rule) matches(p merge.Path) bool {
	switch {
	case r.Manager != "":
		return len(p) >= len(r.Path) && slices.EqualFunc(r.Path, p[:len(r.Path)], stepFits) && r.owned(p)
	case len(r.Path) == 0:
		return true
	}
	return len(p) == len(r.Path) && slices.EqualFunc(r.Path, p, stepFits)
}

// owned reports whether only managers of the rule's name own live's value at the path and
// all its parts, and local has nothing to add to it.
func (r Rule) owned(p merge.Path) bool {
	if r.triple.Owners == nil {
		return false
	}
	owners := r.triple.Owners.At(p)
	if len(owners) == 0 || slices.ContainsFunc(owners, func(o merge.Owner) bool { return !r.by(o) }) {
		return false
	}
	local, _ := merge.Lookup(r.triple.Local, p, nil)
	live, _ := merge.Lookup(r.triple.Live, p, nil)
	return !adds(local, live)
}

// by reports whether an owner is the manager of the rule.
func (r Rule) by(o merge.Owner) bool {
	return glob(r.Manager, o.Manager) || glob(r.Manager, o.Manager+"/"+o.Subresource)
}

// adds reports whether a map, or one in it, has a key that live's does not have.
func adds(local, live any) bool {
	l, ok := local.(map[string]any)
	v, also := live.(map[string]any)
	if !ok || !also {
		return false
	}
	for name, e := range l {
		if there, has := v[name]; !has || adds(e, there) {
			return true
		}
	}
	return false
}

// stepFits reports whether a step fits the rule's pattern. Of an entry's keys the pattern may omit some.
func stepFits(pattern, s merge.Step) bool {
	if pattern.Kind == merge.FieldStep && pattern.Name == "*" {
		return true
	}
	lacks := func(want merge.KeyPart) bool {
		return !slices.ContainsFunc(s.Keys, func(k merge.KeyPart) bool { return k.Name == want.Name && valueFits(want.Value, k.Value) })
	}
	return pattern.Kind == s.Kind && pattern.Index == s.Index && (pattern.Nth < 2 || pattern.Nth == s.Nth) &&
		(s.Kind != merge.FieldStep || glob(pattern.Name, s.Name)) &&
		(s.Kind != merge.ValueStep || valueFits(pattern.Value, s.Value)) && !slices.ContainsFunc(pattern.Keys, lacks)
}

func valueFits(pattern, v any) bool {
	if text, ok := pattern.(string); ok {
		return glob(text, plain(v))
	}
	return pattern == v
}

// plain spells a key's value as in a path.
func plain(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// fits is glob, with "" for any text.
func fits(pattern, text string) bool { return pattern == "" || glob(pattern, text) }

// glob matches text with a pattern in which * stands for any run of characters. It uses the
// earliest place for each part between stars, and so never backtracks.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return ok && strings.HasSuffix(text, parts[len(parts)-1])
}

// Shape applies what the rules state about lists to a type and returns the result; t may be
// nil, and is not modified. Where several rules fit a list, the first counts. A rule for a
// path that t does not have, or where it has no list, does nothing.
func (rs Rules) Shape(t *merge.Type) *merge.Type {
	// Outer lists first: the entries of a list that is not split yet are not parts,
	// and rules for what is in them would find nothing.
	outerFirst := slices.Clone(rs)
	slices.SortStableFunc(outerFirst, func(a, b Rule) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	for _, r := range outerFirst {
		if r.List != "" {
			t = r.shape(t, r.Path)
		}
	}
	return t
}

// shape copies the types along the path, so that a type that is also used elsewhere is not
// changed there.
func (r Rule) shape(t *merge.Type, rest merge.Path) *merge.Type {
	if len(rest) == 0 {
		return r.split(t)
	}
	if t == nil || t.Kind == merge.Unknown {
		return r.shapeUnknown(t, rest)
	}
	name := rest[0].Name
	out := *t
	switch {
	case isList(t), t.Kind == merge.Map:
		if isList(t) && name != "*" {
			return t
		}
		out.Elem = r.shape(t.Elem, rest[1:])
	case t.Kind == merge.Object:
		out.Fields = maps.Clone(t.Fields)
		for field, f := range t.Fields {
			if glob(name, field) {
				f.Type = r.shape(f.Type, rest[1:])
				out.Fields[field] = f
			}
		}
		if _, declared := t.Fields[name]; !declared && t.Open && !strings.Contains(name, "*") {
			out.Fields[name] = merge.Field{Type: r.shape(nil, rest[1:])}
		}
	default:
		return t
	}
	return &out
}

// shapeUnknown creates the object that the path leads through. Where the path has a *,
// nothing is known.
func (r Rule) shapeUnknown(t *merge.Type, rest merge.Path) *merge.Type {
	name := rest[0].Name
	if strings.Contains(name, "*") {
		return t
	}
	below := r.shape(nil, rest[1:])
	if below == nil {
		return t
	}
	return &merge.Type{Kind: merge.Object, Open: true, Fields: map[string]merge.Field{name: {Type: below}}}
}

// split makes the list t a set, keyed or atomic.
func (r Rule) split(t *merge.Type) *merge.Type {
	out := merge.Type{}
	if t != nil {
		if t.Kind != merge.Unknown && !isList(t) || t.Source == merge.SourceRules {
			return t
		}
		out = *t
	}
	out.Kind, out.Keys, out.Source = splits[r.List], nil, merge.SourceRules
	for _, name := range r.Keys {
		k := merge.Key{Name: name}
		if out.Elem != nil {
			k.Default = out.Elem.Fields[name].Default
		}
		out.Keys = append(out.Keys, k)
	}
	return &out
}
