package plandoc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Bound is a document that a run is bound to.
type Bound struct {
	*Document
	items map[Identity]*Item // by identity without the version
}

// Bind prepares a document for comparisons. It is an error if an object is in it twice.
func Bind(d *Document) (*Bound, error) {
	b := &Bound{Document: d, items: make(map[Identity]*Item, len(d.Items))}
	for i := range d.Items {
		item := &d.Items[i]
		if id := item.Versionless(); b.items[id] == nil {
			b.items[id] = item
		} else {
			return nil, fmt.Errorf("line %d: %s is in the plan twice", item.Line, item.Name)
		}
	}
	return b, nil
}

// Versionless returns the identity with the group in place of apiVersion: it is the same in all versions of a kind.
func (i Identity) Versionless() Identity {
	i.APIVersion = object.Object{Value: map[string]any{"apiVersion": i.APIVersion}}.Group()
	return i
}

// Missing returns the objects of the plan that are not in a run's input; known reports whether an
// object is.
func (b *Bound) Missing(known func(Identity) bool) []Identity {
	missing := slices.DeleteFunc(slices.Clone(b.Items), func(item Item) bool {
		return item.Action != apply.Create && item.Action != apply.Change && item.Action != apply.Recreate || known(item.Identity)
	})
	return object.Each(missing, func(item Item) Identity { return item.Identity })
}

// elsewhere names the namespace in which the plan has an object of that name; "" if it has none.
func (b *Bound) elsewhere(id Identity) string {
	at := slices.IndexFunc(b.Items, func(i Item) bool { return i.Kind == id.Kind && i.Name == id.Name })
	if at < 0 || b.Items[at].Namespace == id.Namespace {
		return ""
	}
	return fmt.Sprintf(", which has one in the namespace %s and not in %s (-n chooses)", b.Items[at].Namespace, id.Namespace)
}

// Surplus lists what a run would do with an object beyond the plan, a line each; nil for nothing. A
// change is in the plan if it leads from the same value to the same one: later changes of others
// would be overwritten unreviewed. So would be lost what users have set since in an object that is to be
// deleted.
func (b *Bound) Surplus(sub Subject) []string {
	i := b.item(sub, func(apply.Planned) map[string]string { return nil }) // reasons would require all notes
	planned := b.items[i.Versionless()]
	switch {
	case i.Action == apply.Keep || i.Action == apply.Held || i.Action == "":
		return nil // nothing is written, so the object's maker is irrelevant
	case planned == nil:
		return []string{"is not in the plan" + b.elsewhere(i.Identity) + ", and would be " + done[i.Action]}
	case planned.UID != "" && i.UID != "" && planned.UID != i.UID:
		return []string{"has another UID than in the plan: it was deleted and made again since"}
	case planned.Action == apply.Recreate && i.Action == apply.Change: // less than was reviewed
	case i.Action == apply.Recreate && planned.Action == apply.Change:
		return []string{fmt.Sprintf("would be deleted and created again, and the plan has change: make the plan with --recreate=%s, and with --dry-run=server where the server alone knows what can be set only once", i.Kind)}
	case planned.Action != i.Action:
		return []string{fmt.Sprintf("would be %s, and the plan has %s", done[i.Action], had[planned.Action])}
	}
	return append(impactBeyond(*planned, i), surplus(*planned, i, sub.Planned.Type, ownership.Of(sub.Planned.Live))...)
}

// Lost lists what the plan would do with an object in which a run changes nothing, a line each; nil if that
// is done already. A plan that records no last-applied configuration, as that of a server-side apply, has
// been done where no value is as it was before.
func (b *Bound) Lost(id Identity, p apply.Planned) []string {
	planned := b.items[id.Versionless()]
	switch {
	case planned == nil || p.Live == nil:
		return nil
	case planned.LastApplied != nil:
		if now := (changing{hider: hider{b.Spelling, id}}).annotation(lastapplied.Read(p.Live)); Same(planned.LastApplied.After, now) {
			return nil
		}
	case !b.ServerSide || !b.undone(planned, p):
		return nil
	}
	return []string{fmt.Sprintf("would be left as it is, and the plan has %s: the input has changed: make the plan again from this input", had[planned.Action])}
}

// undone reports whether live has a value that the plan changes, as it was before, or lacks one that it adds.
func (b *Bound) undone(planned *Item, p apply.Planned) bool {
	reviewed, _ := leavesOf(*planned, p.Type)
	for path, s := range reviewed {
		at, err := merge.ParsePath(path)
		v, found := merge.Lookup(p.Live, at, p.Type)
		if IsHash(s.Before.Value) && found {
			v = b.Hash(planned.Identity, fieldsOf(at), v)
		}
		_, list := s.After.Value.([]any) // the server does not store an empty one
		if err == nil && (s.Before.Set || !list) && Same(s.Before, merge.Opt{Value: v, Set: found}) {
			return true
		}
	}
	return false
}

// impactBeyond lists impacts that the plan does not have. For the very object of the plan, the
// impact is always the same. An object that others have changed since must not replace pods that
// the plan keeps. The server knows better than a plan which fields are immutable.
func impactBeyond(planned, now Item) []string {
	rolls := func(i Item) bool { return strings.HasPrefix(i.Impact, "rolls out") }
	switch {
	case planned.Action != now.Action || now.Action == apply.Recreate || planned.Impact == now.Impact:
		return nil
	case planned.ResourceVersion == now.ResourceVersion:
		return []string{fmt.Sprintf("impact: is %q, and the plan has %q: the input or a flag (--policy, --rules) has changed, or the plan was edited, or made by another version of kubectl merge: make it again", now.Impact, planned.Impact)}
	case rolls(now) && !rolls(planned):
		return []string{fmt.Sprintf("impact: would be %q, and the plan has %q", now.Impact, planned.Impact)}
	}
	return nil
}

// done describes each action on an object.
var done = map[apply.Action]string{apply.Create: "created", apply.Change: "changed", apply.Recreate: "deleted and created again", apply.Delete: "deleted"}

// had describes the action of a plan.
var had = map[apply.Action]string{
	apply.Create: "create", apply.Change: "change", apply.Recreate: "recreate", apply.Delete: "delete", apply.Keep: "keep", apply.Held: "it held, because of conflicts",
}

func surplus(planned, now Item, typ *merge.Type, owners merge.Owners) (out []string) {
	reviewed, order := leavesOf(planned, typ)
	is, reordered := leavesOf(now, typ)
	for path, s := range is {
		p, ok := reviewed[path]
		at, _ := merge.ParsePath(path)
		switch {
		case now.Action == apply.Delete && owners != nil && !ownership.ByUsers(owners, at):
		case !ok:
			out = append(out, fmt.Sprintf("%s: %s is not in the plan", path, s))
		case Same(p.Before, s.Before) && Same(p.After, s.After):
		case Hashes(s.Before.Value) || Hashes(s.After.Value):
			out = append(out, path+": the hidden values are not those of the plan")
		default:
			out = append(out, fmt.Sprintf("%s: %s, and the plan has %s", path, s, p))
		}
	}
	for path, o := range reordered {
		if p, ok := order[path]; !ok || !SameOrder(p.After, o.After) || !SameOrder(p.Before, o.Before) {
			out = append(out, path+": another order is not in the plan")
		}
	}
	slices.Sort(out)
	if l := now.LastApplied; l != nil && (planned.LastApplied == nil || !Same(planned.LastApplied.After, l.After)) {
		out = append(out, "last-applied configuration: what would be recorded is not what the plan has: make the plan again from this input")
	}
	return out
}

// String returns the change on one line, as messages show it.
func (s Sides) String() string {
	switch {
	case !s.Before.Set:
		return "adding " + short(s.After.Value)
	case !s.After.Set:
		return "removing " + short(s.Before.Value)
	}
	return short(s.Before.Value) + " → " + short(s.After.Value)
}

func short(v any) string {
	if Hashes(v) {
		return "(a hidden value)"
	}
	return Inline(v)
}

// Inline returns a value on one line, cut if it is long.
func Inline(v any) string {
	text, err := object.Encode(v)
	if err != nil {
		return "?"
	}
	const most = 60
	line := []rune(escape.Line(strings.TrimSpace(string(text))))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}

// Same reports whether both values are absent, or equal.
func Same(a, b merge.Opt) bool {
	return a.Set == b.Set && (!a.Set || merge.Equal(a.Value, b.Value, nil))
}

// SameOrder reports whether what both lists have is in the same order.
func SameOrder(a, b []string) bool {
	common := func(list, with []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !slices.Contains(with, s) })
	}
	return slices.Equal(common(a, b), common(b, a))
}

// leaves holds the changes of an object, down to values that are compared as a whole, by their paths.
type leaves map[string]Sides

// leavesOf splits changes: a label added to an object without labels adds the whole map, and
// another manager may have added another label meanwhile.
func leavesOf(i Item, typ *merge.Type) (leaves, map[string]Order) {
	out, orders := leaves{}, map[string]Order{}
	for _, c := range i.Changes {
		p, err := c.ParsedPath()
		switch {
		case err != nil: // refused when it was decoded
		case c.Order != nil:
			orders[c.Path] = *c.Order
		default:
			out.add(p, c.Sides, typ.At(p))
		}
	}
	return out, orders
}

func (l leaves) add(p merge.Path, s Sides, t *merge.Type) {
	switch {
	case Same(s.Before, s.After):
		return
	case !hasParts(s.Before, t) || !hasParts(s.After, t):
		l[p.String()] = s
		return
	}
	for _, c := range merge.Diff(orEmpty(s.Before, s.After), orEmpty(s.After, s.Before), t) {
		at := slices.Concat(p, c.Path)
		switch last := len(at) - 1; {
		case c.Op == merge.OpOrder:
		case len(c.Path) == 0:
			l[p.String()] = s
		case at[last].Name == hashKey:
			l[at[:last].String()] = Sides{hashed(c.Old), hashed(c.New)}
		default:
			l.add(at, Sides{c.Old, c.New}, t.At(c.Path))
		}
	}
}

// hasParts reports whether a value is compared by its fields or entries, or is absent.
func hasParts(o merge.Opt, t *merge.Type) bool {
	switch v := o.Value.(type) {
	case map[string]any:
		return len(v) > 0 && !IsHash(v) && !(t != nil && t.Atomic)
	case []any:
		return len(v) > 0 && t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set)
	}
	return !o.Set
}

// orEmpty returns a value; for an absent one, an empty one of the other's kind.
func orEmpty(o, other merge.Opt) any {
	if _, isList := other.Value.([]any); isList && !o.Set {
		return []any{}
	} else if !o.Set {
		return map[string]any{}
	}
	return o.Value
}

// hashed returns a hash whose text is o.
func hashed(o merge.Opt) merge.Opt {
	if o.Set {
		o.Value = map[string]any{hashKey: o.Value}
	}
	return o
}
