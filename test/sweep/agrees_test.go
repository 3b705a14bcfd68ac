package sweep

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	types "github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// library merges as kubectl apply does to built-in types; ok is false where its
// library refuses.
func library(k kind, in merge.Triple) (result any, ok bool) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(k.object)
	if err != nil {
		return nil, false
	}
	var text [3][]byte
	for i, side := range []any{in.Original, in.Local, in.Live} {
		if side == nil {
			continue
		}
		if text[i], err = json.Marshal(side); err != nil {
			return nil, false
		}
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(text[0], text[1], text[2], meta, true)
	if err != nil {
		return nil, false
	}
	out, err := strategicpatch.StrategicMergePatchUsingLookupPatchMeta(text[2], patch, meta)
	if err != nil {
		return nil, false
	}
	result, err = merge.ReadJSON(out)
	return result, err == nil
}

// agreement counts what comparing with the library comes to.
type agreement struct {
	mu                                sync.Mutex
	merges, refused, unlawful, agreed int
	rules                             map[string]int
	unexplained                       []string
}

// compare merges both ways. Where the library keeps wanted, gone and kept, and the
// outcomes differ, the difference has to have a rule.
func (a *agreement) compare(k kind, in merge.Triple, name string) {
	theirs, ok := library(k, in)
	plan, err := laws.Three(k.typ)(in, "apply")
	lawful := ok && err == nil && keeps(k.typ, in, theirs)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.merges++
	switch {
	case !ok:
		a.refused++
	case !lawful:
		a.unlawful++
	case merge.Equal(plan.Result, theirs, k.typ):
		a.agreed++
	default:
		for _, d := range differences(k.typ, theirs, plan.Result) {
			rule := explain(k.typ, in, theirs, d)
			a.rules[rule]++
			if rule == unexplained && len(a.unexplained) < 8 {
				a.unexplained = append(a.unexplained, fmt.Sprintf("%s: %s\n%s  theirs   %s\n  ours     %s", name, d.Path, spell(in), shown(theirs), shown(plan.Result)))
			}
		}
	}
}

// keeps: the library's outcome keeps wanted, gone and kept.
func keeps(typ *merge.Type, in merge.Triple, result any) bool {
	for _, b := range (laws.Merge{Triple: in, Type: typ, Result: result}).Breaches() {
		switch b.Law {
		case laws.Wanted, laws.Gone, laws.Kept:
			return false
		}
	}
	return true
}

// differences are those that are any to a server.
func differences(typ *merge.Type, theirs, ours any) []merge.Change {
	return slices.DeleteFunc(merge.Diff(theirs, ours, typ), func(c merge.Change) bool {
		f, _ := types.FieldAt(typ, c.Path)
		return c.Op != merge.OpOrder && laws.Alike(c.Old, c.New, f)
	})
}

// The rules by which ours differs from the library's where that keeps the laws.
const (
	ruleOneOf   = "one-of: local's variant displaces live's; the library leaves both"
	ruleOrder   = "order: live's own entries stay behind the entry that they followed"
	ruleSet     = "order: a set has none"
	ruleGroup   = "repeated keys: entries that share an identity are paired by what else they have"
	ruleFixed   = "fixed: what a queue or admission added to what can no longer be changed stays"
	ruleShrunk  = "fixed: what a controller removed from what may only shrink is not added again"
	ruleMade    = "equality: an atomic value that the server made of local's is left alone"
	ruleAtomic  = "atomic: one value, and local's; the library merges what is inside"
	ruleDefault = "equality: what the server would fill in again stays as live has it"
	ruleAlloc   = "equality: an allocated field stated as empty is left to the server"
	ruleMoot    = "obsolete: what the API refuses beside local's value is displaced; the library leaves both"
	ruleEmpty   = "removal: a map or list of which nothing is left goes itself"
	unexplained = "unexplained"
)

// explain finds the rule by which ours differs from the library's at one path.
func explain(typ *merge.Type, in merge.Triple, theirs any, c merge.Change) string {
	f, _ := types.FieldAt(typ, c.Path)
	for _, b := range (laws.Merge{Triple: in, Type: typ, Result: theirs}).Breaches() {
		if !laws.Within(b.Path, c.Path) && !laws.Within(c.Path, b.Path) {
			continue
		}
		switch b.Law {
		case laws.OneOf:
			return ruleOneOf
		case laws.Order:
			return ruleOrder
		}
	}
	live, _ := merge.Lookup(in.Live, c.Path, typ)
	local, stated := merge.Lookup(in.Local, c.Path, typ)
	switch {
	case f.Type != nil && f.Type.Kind == merge.Set:
		return ruleSet
	case inGroup(typ, in, c.Path):
		return ruleGroup
	case (!stated || local == nil) && c.New.Set && refilled(typ, theirs, c, f):
		return ruleDefault
	case c.New.Set && shown(c.New.Value) == shown(live) && whole(f) && (laws.Merge{Type: typ}).Fixed(c.Path):
		return ruleFixed
	case !c.New.Set && stated && live == nil && (laws.Merge{Type: typ}).Fixed(c.Path):
		return ruleShrunk
	case c.New.Set && shown(c.New.Value) == shown(live) && (whole(f) || local == ""):
		return ruleMade
	case c.New.Set && shown(c.New.Value) == shown(nullless(local)) && whole(f):
		return ruleAtomic
	case !c.New.Set && (laws.Merge{Type: typ, Result: theirs}).Moot(c.Path):
		return ruleMoot
	case !c.New.Set && empty(c.Old.Value):
		return ruleEmpty
	case f.Allocated && stated && laws.Alike(merge.Some(local), merge.Opt{}, merge.Field{Type: f.Type, ZeroIsAbsent: true}):
		return ruleAlloc
	}
	return unexplained
}

// refilled: of the library's result the server would make what ours is.
func refilled(typ *merge.Type, theirs any, c merge.Change, f merge.Field) bool {
	stored, ok := merge.Lookup(merge.Complete(theirs, typ, true), c.Path, typ)
	ours := merge.Some(merge.Complete(c.New.Value, f.Type, true))
	return ok && laws.Alike(merge.Some(stored), ours, f) || laws.Alike(merge.Opt{}, c.New, f)
}

// nullless is a value without its nulls: no Go value of a compiled-in type holds one.
func nullless(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for k, e := range m {
		if e != nil {
			out[k] = nullless(e)
		}
	}
	return out
}

func whole(f merge.Field) bool {
	return f.Type != nil && (f.Type.Atomic || f.Type.Kind == merge.List)
}

// inGroup: the path is, or leads through, a list in which keys repeat on a side.
func inGroup(typ *merge.Type, in merge.Triple, p merge.Path) bool {
	for n := range len(p) + 1 {
		f, _ := types.FieldAt(typ, p[:n])
		if f.Type == nil || f.Type.Kind != merge.Keyed {
			continue
		}
		for _, side := range []any{in.Original, in.Local, in.Live} {
			list, _ := merge.Lookup(side, p[:n], typ)
			if repeats(f.Type, list) {
				return true
			}
		}
	}
	return false
}

func repeats(t *merge.Type, v any) bool {
	list, _ := v.([]any)
	seen := map[string]bool{}
	for _, e := range list {
		m, _ := e.(map[string]any)
		id := ""
		for _, k := range t.Keys {
			v := m[k.Name]
			if v == nil || v == "" {
				v = k.Default
			}
			id += shown(v) + " "
		}
		if seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
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

func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// golden is the account of the differences.
func (a *agreement) golden() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d merges: %d refused by the library, %d in which it breaks a law, %d in which both agree\n", a.merges, a.refused, a.unlawful, a.agreed)
	var rules []string
	for rule := range a.rules {
		rules = append(rules, rule)
	}
	slices.Sort(rules)
	for _, rule := range rules {
		fmt.Fprintf(&b, "%8d  %s\n", a.rules[rule], rule)
	}
	return b.String()
}

// distinct are the edits at every place, but one place for all kinds that have it.
func distinct(kinds []kind) []swept {
	type spot struct {
		typ  *merge.Type
		name string
	}
	seen := map[spot]bool{}
	var out []swept
	for _, k := range kinds {
		for _, p := range gen.Places(k.typ) {
			s := spot{p.Field.Type, p.Names[len(p.Names)-1]}
			if !seen[s] {
				seen[s] = true
				out = append(out, k.at(p)...)
			}
		}
	}
	return out
}

// TestAgrees compares with kubectl's library, at every place and at random.
func TestAgrees(t *testing.T) {
	kinds := slices.DeleteFunc(builtin(t), func(k kind) bool { return k.object == nil })
	a := agreement{rules: map[string]int{}}
	once := distinct(kinds)
	each(len(once), func(i int) {
		if s := once[i]; s.triple.Live != nil {
			a.compare(s.kind, s.triple, s.String())
		}
	})
	b := agreement{rules: map[string]int{}}
	each(20000, func(i int) {
		k := kinds[i%len(kinds)]
		in := gen.New(1, uint64(i)).Triple(k.Kind, k.typ)
		if in.Live != nil {
			b.compare(k, in, fmt.Sprintf("%s: triple %d", k, i))
		}
	})
	got := "every place: " + a.golden() + "\nat random: " + b.golden()
	for _, text := range append(a.unexplained, b.unexplained...) {
		t.Error(text)
	}
	const file = "testdata/agrees.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
