package e2e

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

// TestBeside gives the same random situations, an original that was applied, what others
// made of it, and a file, to the program and to kubectl apply, and to the program and to
// kubectl apply --server-side --force-conflicts. Then,
//
//   - wanted: a value that the file states, or removes by null, and that kubectl sets, is
//     what the program has set as well;
//   - kept: a value that only live had, and that kubectl keeps, is there with the program
//     as well;
//   - gone: a value that the file gave up, and that kubectl removes, is gone.
//
// Where one is not, a row of besideRules says why, in the words of docs/semantics.md, or
// the test fails. An ordinary run plays a part of the same situations each time (see ../part);
// with -soak they are random.
func TestBeside(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	n := sequenceSeed(t)
	total := &tally{counts: map[string]int{}}
	t.Run("play", func(t *testing.T) {
		for _, peer := range []sequencePart{
			{name: "apply", args: []string{"--openapi-patch=false"}},
			{name: "server-side", args: []string{"--server-side", "--force-conflicts"}},
		} {
			peer.each = 4 * *soak
			peer.parts = slices.DeleteFunc(sequenceTemplates(t), func(template any) bool {
				return slices.Contains([]string{"LimitRange", "ResourceQuota"}, kindName(template)) // which decide about the others
			})
			t.Run(peer.name, func(t *testing.T) {
				t.Parallel()
				b := &beside{stage: newStage(t, s, n, peer), total: total}
				for step := range besideSteps {
					b.act(step)
					b.judge(step, b.apply(step))
				}
				total.add(peer.name+": situations", len(b.all))
			})
		}
	})
	t.Logf("%s", total)
}

const besideSteps = 2

// beside plays the situations of a stage, with kubectl in one namespace and with the
// program in the other.
type beside struct {
	*stage
	total *tally
}

// act has others edit each object in the same way, twice where chance has it so, some of
// them by server-side apply, and some removing managedFields; and draws what is applied then.
func (b *beside) act(step int) {
	b.others(step)
	if step > 0 {
		b.others(100 + step)
	}
	for _, q := range b.all {
		r := b.random(q, 300+step)
		strip := step > 0 && r.IntN(6) == 0
		for side, u := range b.users {
			if strip && q.live[side] != nil {
				q.live[side] = b.api.stripped(b.T, q.live[side].(map[string]any))
			}
			q.local[side] = b.nulled(q, step, b.draw(q, u.ns, uint64(step)))
		}
	}
}

// nulled is the nth object to be applied with null in the place of one of its values, where
// chance has it so and the server takes that.
func (b *beside) nulled(q *sequence, n int, o object) object {
	r := b.random(q, 400+n)
	paths := places(o.value, nil, func(v any) bool { return v != nil })
	if r.IntN(5) > 0 || len(paths) == 0 || !b.api.of(o.value).Namespaced {
		return o
	}
	with := setAt(o.value, paths[r.IntN(len(paths))], nil).(map[string]any)
	if b.served(q, renamed(with, namespaceOf(with), "$NS")) != nil {
		o.value = with
	}
	return o
}

// judge compares what became of each object in both namespaces.
func (b *beside) judge(step int, was map[*sequence]state) {
	count := func(what string) { b.total.add(b.part.name+": "+what, 1) }
	for _, q := range b.all {
		c := b.contrast(q, was[q].live, was[q].accepted)
		c.original[theirs] = c.original[ours] // which server-side apply keeps in managedFields
		switch {
		case q.refused[ours] && q.refused[theirs]:
			count("refused by the server on both sides")
		case q.refused[theirs]:
			count("refused by the server as kubectl has it")
		case !b.together(c, was[q].live):
			count("not compared: the two were apart already")
		case q.refused[ours] && (len(c.breaches(theirs)) > 0 || hasNull(c.local)):
			count("differs: " + ruleTogether)
		case q.refused[ours]:
			b.fails(q, step, c, "kubectl applies it, the program does not: "+strings.TrimSpace(q.why))
		default:
			count("compared")
			b.compare(q, step, c, count)
		}
	}
}

// together: the object was the same in both namespaces, save for what is allocated.
func (b *beside) together(c *contrast, was [2]any) bool {
	var text [2]string
	for side, u := range b.users {
		text[side] = spelled(marked(configuration(was[side], u.ns), merge.Field{Type: c.typ}, func(any) any { return nil }))
	}
	return text[0] == text[1]
}

func (b *beside) compare(q *sequence, step int, c *contrast, count func(string)) {
	for _, at := range c.values() {
		if !at.kubectl {
			continue
		}
		count("values that kubectl has " + participles[at.law])
		if at.ours {
			continue
		}
		if i := slices.IndexFunc(besideRules, func(r besideRule) bool { return slices.Contains(r.laws, at.law) && r.holds(at) }); i >= 0 {
			count(string(at.law) + ": " + besideRules[i].says)
			continue
		}
		b.fails(q, step, c, string(at.law)+": kubectl has "+participles[at.law]+" "+at.path.String()+", the program has not, and no rule says why")
	}
}

var participles = map[laws.Law]string{laws.Wanted: "set", laws.Kept: "kept", laws.Gone: "removed"}

// held is a value that is held to a law, and whether kubectl and the program keep to it.
type held struct {
	*contrast
	law           laws.Law
	path          merge.Path
	kubectl, ours bool
}

// values lists them: wanted are those that local states, kept those that only live has, gone
// those that local gave up.
func (c *contrast) values() (all []held) {
	root := merge.Field{Type: c.typ}
	for _, l := range leaves(root, c.local, nil) {
		if !(empty(l.value) && divided(l.field.Type)) {
			want := merge.Some(l.value)
			all = append(all, held{c, laws.Wanted, l.path, c.has(theirs, l, want), c.has(ours, l, want)})
		}
	}
	for _, l := range leaves(root, c.before, nil) {
		switch is := merge.Some(l.value); {
		case l.field.Allocated || empty(l.value) || c.lookup(c.local, l.path).Set:
		case c.lookup(c.original[ours], l.path).Set || c.nulled(l.path):
			all = append(all, held{c, laws.Gone, l.path, !c.still(theirs, l), !c.still(ours, l)})
		default:
			all = append(all, held{c, laws.Kept, l.path, c.has(theirs, l, is), c.has(ours, l, is)})
		}
	}
	return all
}

// still: a side has the value that live had.
func (c *contrast) still(side int, l leaf) bool {
	is := c.lookup(c.after[side], l.path)
	return is.Set && laws.Alike(is, merge.Some(l.value), l.field)
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// divided: a value of the type is merged by its parts.
func divided(t *merge.Type) bool {
	return t == nil || !t.Atomic && t.Kind != merge.Scalar && t.Kind != merge.List
}

// has: a side has the value, or what the server makes of it; null is absence, or the
// default.
func (c *contrast) has(side int, l leaf, v merge.Opt) bool {
	is := c.lookup(c.after[side], l.path)
	if v.Value == nil {
		v.Set = false
	}
	return laws.Alike(is, v, l.field) || laws.Alike(is, c.lookup(c.served(c.local), l.path), l.field)
}

// leaf is a value that is merged as one, or a null.
type leaf struct {
	path  merge.Path
	value any
	field merge.Field
}

// leaves lists those of a value, in an order that is always the same.
func leaves(f merge.Field, v any, path merge.Path) (all []leaf) {
	switch v := v.(type) {
	case map[string]any:
		if empty(v) || !divided(f.Type) {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leaves(f.Type.Field(name), v[name], path.Child(merge.Named(name)))...)
		}
		return all
	case []any:
		if empty(v) || f.Type == nil || f.Type.Kind != merge.Keyed && f.Type.Kind != merge.Set {
			break
		}
		steps, entries := merge.Spare(f.Type, v, nil)
		for i, step := range steps {
			all = append(all, leaves(merge.Field{Type: f.Type.Elem}, entries[i], path.Child(step))...)
		}
		return all
	}
	return append(all, leaf{path, v, f})
}

// besideRule is a reason for which the program does not do what kubectl does.
type besideRule struct {
	says  string
	docs  string // the words of docs/semantics.md that have it
	laws  []laws.Law
	holds func(at held) bool
}

// besideRules are all of them; the first that holds is it.
var besideRules = []besideRule{
	{"others' variant is displaced by local's", "**Fields that exclude each other.**", []laws.Law{laws.Kept}, held.displaced},
	{"what is around it left the file", "**A whole branch that leaves the file.**", []laws.Law{laws.Kept}, held.branch},
	{"a null in a map of a built-in type removes the key; server-side apply stores an empty text", "a built-in type has no null there", []laws.Law{laws.Wanted}, held.emptied},
	{"an entry of which a key was changed in live is the same entry", "**Keys edited in place.**", []laws.Law{laws.Kept, laws.Wanted, laws.Gone}, func(at held) bool {
		return laws.Merge{Triple: at.triple(), Type: at.typ}.Rekeyed(at.path)
	}},
	{"entries that share an identity are paired by what else they have", "**Keys that repeat or are missing**", []laws.Law{laws.Kept, laws.Wanted, laws.Gone}, func(at held) bool {
		return place{contrast: at.contrast, change: merge.Change{Path: at.path}}.throughGroup()
	}},
	{"a field that the new type of a Service does not have", "**Fields that have no meaning any more.**", []laws.Law{laws.Kept}, func(at held) bool {
		return at.lookup(at.local, merge.Path{merge.Named("kind")}).Value == "Service" && at.path[0].Name == "spec"
	}},
	{"what was added to what can no longer be changed stays where it is", "**What can no longer be changed.**", []laws.Law{laws.Wanted}, func(at held) bool {
		return laws.Merge{Triple: at.triple(), Type: at.typ, Result: at.after[ours]}.Added(at.path)
	}},
	{"a default that would come back", "a default that the server would set again stays", []laws.Law{laws.Gone}, func(at held) bool {
		return merge.NewFinder(at.after[ours], at.typ).Refilled(at.path)
	}},
}

func (at held) triple() merge.Triple {
	return merge.Triple{Original: at.contrast.original[ours], Local: at.contrast.local, Live: at.before}
}

// displaced: local states another variant of a one-of around the value.
func (at held) displaced() bool {
	for n := range at.path {
		f, _ := schema.FieldAt(at.typ, at.path[:n])
		local, _ := at.lookup(at.contrast.local, at.path[:n]).Value.(map[string]any)
		if f.Type == nil || local == nil {
			continue
		}
		for _, g := range f.Type.OneOf {
			if member := append(slices.Clone(g.Fields), g.Discriminator); slices.Contains(member, at.path[n].Name) && slices.ContainsFunc(member, func(name string) bool { return name != at.path[n].Name && local[name] != nil }) {
				return true
			}
		}
	}
	return false
}

// branch: original had a declared object or an entry around the value, and local has not.
func (at held) branch() bool {
	for n := 1; n < len(at.path); n++ {
		p := at.path[:n]
		f, _ := schema.FieldAt(at.typ, p)
		whole := p[n-1].Kind != merge.FieldStep || f.Type != nil && f.Type.Kind == merge.Object
		if whole && at.lookup(at.contrast.original[ours], p).Set && !at.lookup(at.contrast.local, p).Set {
			return true
		}
	}
	return false
}

// nulled: local has null for the value, or for something around it.
func (c *contrast) nulled(p merge.Path) bool {
	for n := range len(p) + 1 {
		if v, ok := merge.Lookup(c.local, p[:n], c.typ); ok && v == nil {
			return true
		}
	}
	return false
}

// emptied: local has a null, or a value that is merged as one with a null in it.
func (at held) emptied() bool {
	v, ok := merge.Lookup(at.local, at.path, at.typ)
	return ok && hasNull(v)
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), hasNull)
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}

// TestBesideRules holds the words of the rules to the documentation.
func TestBesideRules(t *testing.T) {
	text, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range besideRules {
		if !strings.Contains(string(text), rule.docs) {
			t.Errorf("%s: docs/semantics.md does not have %q", rule.says, rule.docs)
		}
	}
}
