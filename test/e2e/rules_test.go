package e2e

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

const ruleRefused = "refused: the server does not take what kubectl makes of it"

// ruleTogether holds where kubectl breaks a law: a port without a name, say, is not
// legal beside another manager's port, which kubectl removes.
const ruleTogether = "refused: the server does not take local together with what others set, which kubectl takes away"

// sequenceRule is a reason for which the program leaves something else than
// kubectl apply; docs/unlike-kubectl.md describes them in the users' words.
type sequenceRule struct {
	says string
	law  laws.Law // kubectl breaks it there
	// or, where kubectl breaks none:
	holds func(at place) bool
}

// place is one difference.
type place struct {
	*contrast
	change                merge.Change // from kubectl's to ours
	field                 merge.Field
	original, live, local merge.Opt
}

// sequenceRules are all of them; the first that holds is it.
var sequenceRules = []sequenceRule{
	{says: "one-of: local's variant displaces live's; kubectl leaves both", law: laws.OneOf},
	{says: "wanted: kubectl leaves out what local states", law: laws.Wanted},
	{says: "gone: kubectl leaves what was removed from local", law: laws.Gone},
	{says: "kept: kubectl removes what others set", law: laws.Kept},
	{says: "order: live's own entries stay behind the entry that they followed", law: laws.Order},
	{says: "identity: kubectl distinguishes entries by the first key only", holds: func(at place) bool { return at.throughKeys() }},
	{says: "repeated keys: entries that share an identity are paired by what else they have", holds: func(at place) bool { return at.throughGroup() }},
	{says: "gone: kubectl forgets a field's old name, out of which the server fills it in again", holds: func(at place) bool {
		p := at.change.Path
		return len(p) > 0 && strings.HasPrefix(p[len(p)-1].Name, "serviceAccount") && !at.change.New.Set
	}},
	{says: "order: a set has none", holds: func(at place) bool { return at.field.Type != nil && at.field.Type.Kind == merge.Set }},
	{says: "equality: an atomic value that the server made of local's is left alone", holds: func(at place) bool {
		return at.change.New.Set && at.same(at.change.New, at.live) && (at.whole() || at.local.Value == "")
	}},
	{says: "atomic: one value, and local's; kubectl merges what is inside", holds: func(at place) bool {
		return at.local.Set && at.same(at.change.New, at.local) && at.whole()
	}},
}

func (at place) whole() bool {
	return at.field.Type != nil && (at.field.Type.Atomic || at.field.Type.Kind == merge.List)
}

// beside: the server filled in another variant of the one that kubectl took away.
func (at place) beside(p merge.Path) bool {
	n := len(at.change.Path) - 1
	if n < 0 || len(p) != n+1 || !within(p[:n], at.change.Path) {
		return false
	}
	f, _ := schema.FieldAt(at.typ, p[:n])
	return f.Type != nil && slices.ContainsFunc(f.Type.OneOf, func(g merge.OneOf) bool {
		return slices.Contains(g.Fields, p[n].Name) && slices.Contains(g.Fields, at.change.Path[n].Name)
	})
}

// throughKeys: the way to it leads through a list whose entries are distinguished by
// several keys.
func (at place) throughKeys() bool {
	for n := range len(at.change.Path) + 1 {
		if f, _ := schema.FieldAt(at.typ, at.change.Path[:n]); f.Type != nil && f.Type.Kind == merge.Keyed && len(f.Type.Keys) > 1 {
			return true
		}
	}
	return false
}

// throughGroup: it is in a list in which a key stands twice, on some side.
func (d place) throughGroup() bool {
	for n := range len(d.change.Path) + 1 {
		p := d.change.Path[:n]
		f, _ := schema.FieldAt(d.typ, p)
		if f.Type == nil || f.Type.Kind != merge.Keyed {
			continue
		}
		for _, side := range []any{d.contrast.original[ours], d.contrast.local, d.before} {
			list, _ := d.lookup(side, p).Value.([]any)
			seen := map[string]bool{}
			for _, e := range list {
				var id []any
				for _, k := range f.Type.Keys {
					v := at(e, []any{k.Name})
					if v == nil {
						v = k.Default
					}
					id = append(id, v)
				}
				if seen[spelled(id)] {
					return true
				}
				seen[spelled(id)] = true
			}
		}
	}
	return false
}

func (at place) same(a, b merge.Opt) bool { return laws.Alike(a, b, at.field) }

// explain finds the rule of a difference; broken are the laws that kubectl's
// outcome breaks.
func explain(c *contrast, broken []laws.Breach, d merge.Change) (string, bool) {
	at := place{contrast: c, change: d, original: c.lookup(c.original[ours], d.Path), live: c.lookup(c.before, d.Path), local: c.lookup(c.local, d.Path)}
	at.field, _ = schema.FieldAt(c.typ, d.Path)
	for _, rule := range sequenceRules {
		if rule.holds != nil && rule.holds(at) {
			return rule.says, true
		}
		for _, b := range broken {
			if b.Law == rule.law && (within(b.Path, d.Path) || within(d.Path, b.Path) || at.beside(b.Path)) {
				return rule.says, true
			}
		}
	}
	return "", false
}

// within: a path leads through another, or to it.
func within(p, q merge.Path) bool {
	return len(p) <= len(q) && q[:len(p)].String() == p.String()
}
