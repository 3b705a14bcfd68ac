package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// legal leaves those edits of each list in which every side is one that the server
// takes from anybody. It asks once for lists with entries of one type.
func (s *sweep) legal(kinds []*sweptKind) {
	asked := map[string]error{}
	takes := func(k *sweptKind, l *sweptList, o merge.Opt) error {
		o.Set = o.Value != nil
		key := fmt.Sprint(l.sample, l.keep > 0, o)
		if _, known := asked[key]; !known {
			asked[key] = s.takes(k, l, o)
		}
		return asked[key]
	}
	for _, k := range kinds {
		for _, l := range k.lists {
			var legal []gen.Sides
			var why error
			for _, e := range l.sides {
				if err := cmp.Or(takes(k, l, e.Original), takes(k, l, e.Local), takes(k, l, e.Live)); err != nil {
					s.refused(l.sample, e.Name, "as a side", err)
					why = err
				} else {
					legal = append(legal, e)
				}
			}
			if l.sides = legal; len(legal) == 0 {
				s.t.Errorf("%s: %s: no edit has legal sides: %v", k, l, why)
			}
		}
	}
}

// takes asks the server whether a list may be so, and stays so.
func (s *sweep) takes(k *sweptKind, l *sweptList, o merge.Opt) error {
	try := &sweptObject{kind: k, word: "try", edits: []edited{{l, gen.Sides{Live: o}}}}
	want := try.manifest(s.ns, 1<<16, live)
	text, err := s.ask(s.t.Context(), "POST", k.url(s.ns, ""), want, "dryRun", "All")
	if err != nil {
		return err
	}
	got, err := decodeJSON(text)
	if err != nil {
		return err
	}
	asked, _ := entriesAt(want, l.Names)
	if made, _ := entriesAt(k.configuration(got.(map[string]any)), l.Names); made != asked {
		return errors.New("the server makes another list of it")
	}
	return nil
}

// thin: of kinds in which nothing but the metadata merges, which is one type for
// all of them, each plays one edit out of so many; -soak plays more of them.
const thin = 4

// objects spreads the edits of a kind's lists over objects, so that each list sees
// each of its edits, beside others in the others. Lists in which a key is twice are
// in objects of their own: server-side apply takes none of those.
func (s *sweep) objects(nth int, k *sweptKind) []*sweptObject {
	step := max(1, thin / *soak)
	if slices.ContainsFunc(k.lists, func(l *sweptList) bool { return l.Names[0] != "metadata" }) {
		step = 1
	}
	var all []*sweptObject
	for _, fixed := range []bool{false, true} {
		for _, repeats := range []bool{false, true} {
			var lists []*sweptList
			sides := map[*sweptList][]gen.Sides{}
			most := 0
			for _, l := range k.lists {
				some := slices.DeleteFunc(slices.Clone(l.sides), func(e gen.Sides) bool { return l.repeats(e) != repeats })
				if l.fixed == fixed && len(some) > 0 {
					lists, sides[l], most = append(lists, l), some, max(most, len(some))
				}
			}
			for i := nth % step; i < most; i += step {
				var edits []edited
				for j, l := range lists {
					edits = append(edits, edited{l, sides[l][(i+7*j)%len(sides[l])]})
				}
				all = append(all, s.object(k, fmt.Sprintf("s%d-%d", nth, len(all)), nth<<6+len(all), edits...))
			}
		}
	}
	return all
}

// repeats: one of the sides has a key twice.
func (l *sweptList) repeats(e gen.Sides) bool {
	typ := l.Field.Type
	return laws.Repeats(e.Original.Value, typ) || laws.Repeats(e.Local.Value, typ) || laws.Repeats(e.Live.Value, typ)
}

// object is one whose lists are edited so; n is a number of its own.
func (s *sweep) object(k *sweptKind, word string, n int, edits ...edited) *sweptObject {
	o := &sweptObject{kind: k, word: word, edits: edits, fixed: edits[0].list.fixed}
	o.v1, o.v2 = o.manifest(s.ns, n, original), o.manifest(s.ns, n, local)
	return o
}
