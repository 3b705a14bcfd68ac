package merge

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
)

var (
	lawSeed  = flag.Uint64("laws.seed", 1, "seed of the random triples")
	lawCount = flag.Int("laws.n", 3000, "number of random triples")
)

// TestLaws holds the rules of docs/semantics.md over random triples: an original, local
// as a user has edited it, live as others and the server have changed it.
func TestLaws(t *testing.T) {
	t.Logf("seed %d, %d triples", *lawSeed, *lawCount)
	for i := range *lawCount {
		g := generator{rand.New(rand.NewPCG(*lawSeed, uint64(i)))}
		o := g.value(thing, 3)
		l := g.edit(thing, o)
		v := g.edit(thing, g.edit(thing, o))
		in := Triple{Original: o, Local: l, Live: v}
		t.Run("", func(t *testing.T) {
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("triple %d\noriginal %s\nlocal    %s\nlive     %s", i, show(t, o), show(t, l), show(t, v))
				}
			})
			holdLaws(t, in)
		})
		if t.Failed() {
			return
		}
	}
}

func holdLaws(t *testing.T, in Triple) {
	before := show(t, []any{in.Original, in.Local, in.Live})
	p := Three(in, thing, named(t, "apply"), false)
	fail := func(law string, args ...any) {
		t.Errorf("%s: %s\nresult %s", law, fmt.Sprint(args...), show(t, p.Result))
	}
	if w := missing(in.Local, p.Result, in.Live, Field{Type: thing}); w != "" {
		fail("wanted", w)
	}
	again := Three(Triple{Original: in.Local, Local: in.Local, Live: p.Result}, thing, named(t, "apply"), false)
	if len(again.Changes) > 0 {
		fail("settled", again.Changes[0].Path, " ", show(t, again.Result))
	}
	for _, name := range []string{"merge3", "live"} {
		q := Three(Triple{Original: in.Local, Local: in.Local, Live: in.Live}, thing, named(t, name), false)
		if len(q.Changes) > 0 && !hasNull(in.Local) {
			fail(name+" with local = original gives live", q.Changes[0].Path)
		}
	}
	if show(t, []any{in.Original, in.Local, in.Live}) != before {
		fail("gentle")
	}
	sound(t, in.Live, p)
}

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, e := range v {
			if hasNull(e) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if hasNull(e) {
				return true
			}
		}
	}
	return false
}

// missing names a value that local states and result has not ("" if there is
// none). live's spelling counts where it is the same value to the server.
func missing(l, r, live any, f Field) string {
	if l == nil {
		return ""
	}
	if f.Allocated && isZero(l, f.Type) {
		return ""
	}
	if equalOpt(Some(l), Opt{r, r != nil}, f) {
		return ""
	}
	switch l := l.(type) {
	case map[string]any:
		if f.Type.Atomic {
			if between(f, Some(l), Some(Complete(l, f.Type, true)), Some(r)) {
				return ""
			}
			return show1(l) + " is not " + show1(r)
		}
		rm, _ := r.(map[string]any)
		vm, _ := live.(map[string]any)
		for k, lv := range l {
			if w := missing(lv, rm[k], vm[k], f.Type.Field(k)); w != "" {
				return k + "." + w
			}
		}
		return ""
	case []any:
		rl, _ := r.([]any)
		if f.Type.Kind == Keyed || f.Type.Kind == Set {
			// in order, each entry of local has an entry of result that says at least as much
			j := 0
			for _, e := range l {
				for j < len(rl) && (Identity(f.Type, e) != Identity(f.Type, rl[j]) || missing(e, rl[j], nil, Field{Type: f.Type.Elem}) != "") {
					j++
				}
				if j == len(rl) {
					if f.Type.Kind == Set {
						return missingMembers(f.Type, l, rl)
					}
					return "entry " + show1(e)
				}
				j++
			}
			return ""
		}
	}
	return show1(l) + " is not " + show1(r)
}

func missingMembers(t *Type, l, r []any) string {
	have := map[string]int{}
	for _, e := range r {
		have[Identity(t, e)]++
	}
	for _, e := range l {
		if have[Identity(t, e)]--; have[Identity(t, e)] < 0 {
			return "member " + show1(e)
		}
	}
	return ""
}

func show1(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

type generator struct{ *rand.Rand }

func (g generator) word() string { return string(rune('a' + g.IntN(4))) }

func (g generator) value(t *Type, depth int) any {
	if t == nil {
		return g.word()
	}
	switch t.Kind {
	case Object:
		m := map[string]any{}
		for _, k := range sortedFields(t) {
			if g.IntN(3) > 0 {
				m[k] = g.value(t.Fields[k].Type, depth-1)
			}
		}
		return m
	case Map:
		m := map[string]any{}
		for range g.IntN(3) {
			m[g.word()] = g.value(t.Elem, depth-1)
		}
		return m
	case Keyed, Set, List:
		list := []any{}
		for range g.IntN(4) {
			e := g.value(t.Elem, depth-1)
			if m, ok := e.(map[string]any); ok && t.Kind == Keyed && g.IntN(8) > 0 {
				for _, k := range t.Keys {
					if m[k.Name] == nil && k.Default == nil {
						m[k.Name] = g.value(t.Elem.Fields[k.Name].Type, 0)
					}
				}
			}
			list = append(list, e)
		}
		return list
	}
	if t == num {
		return json.Number(fmt.Sprint(g.IntN(3)))
	}
	if g.IntN(6) == 0 {
		return ""
	}
	return g.word()
}

// edit copies v with a few changes.
func (g generator) edit(t *Type, v any) any {
	if g.IntN(12) == 0 {
		return g.value(t, 2)
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range sortedKeys(v) {
			switch g.IntN(8) {
			case 0:
			case 1, 2:
				out[k] = g.edit(t.Field(k).Type, v[k])
			default:
				out[k] = v[k]
			}
		}
		if g.IntN(3) == 0 {
			if extra, ok := g.value(t, 2).(map[string]any); ok {
				for _, k := range sortedKeys(extra) {
					if _, has := out[k]; !has && g.IntN(2) == 0 {
						out[k] = extra[k]
					}
				}
			}
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			switch g.IntN(8) {
			case 0:
			case 1:
				out = append(out, g.edit(t.EntryType(), e))
			case 2:
				out = append(out, e, e)
			default:
				out = append(out, e)
			}
		}
		if g.IntN(4) == 0 {
			g.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		}
		if more, ok := g.value(t, 2).([]any); ok && g.IntN(3) == 0 {
			out = append(out, more...)
		}
		return out
	}
	return g.value(t, 1)
}

func sortedFields(t *Type) []string {
	m := map[string]any{}
	for k := range t.Fields {
		m[k] = nil
	}
	return sortedKeys(m)
}
