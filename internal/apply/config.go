package apply

import (
	"encoding/json"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// configuration returns what to apply: what local states, with the values of the result. It
// includes a value that the plan leaves to live only where no other manager owns it: the server
// would remove what the applier owned alone and no longer states. It includes values that the
// server does not store, since it would forget their owner.
func (p *Planned) configuration(k *serverSides) (map[string]any, error) {
	c := configuring{Planned: p, serverSides: k}
	stated := c.withKept(merge.Some(k.stated), merge.Some(k.shares.Applied), nil, p.Type).Value
	var unstored []merge.Change
	for _, path := range p.Unstored {
		was, there := merge.Lookup(p.Result, path, p.Type)
		is, _ := merge.Lookup(stated, path, p.Type)
		unstored = append(unstored, merge.Change{Op: merge.OpSet, Path: path, Old: merge.Opt{Value: was, Set: there}, New: merge.Some(is)})
	}
	result, err := merge.Replay(p.Result, unstored)
	if err != nil {
		return nil, err
	}
	v, _ := c.recordValue(stated, result, spot{typ: p.Type})
	conf, _ := v.(map[string]any)
	if id := lastapplied.SetOf(p.Result); id != "" && (lastapplied.SetOf(conf) != "" || k.Alone(lastapplied.PartOfPath)) {
		conf, _ = lastapplied.WithSet(conf, id).(map[string]any)
	}
	return conf, nil
}

type configuring struct {
	*Planned
	*serverSides
}

type spot struct {
	path merge.Path
	typ  *merge.Type
	kept bool // the plan leaves it to live
}

func (c configuring) below(s spot, step merge.Step) spot {
	b := spot{path: s.path.Child(step), typ: s.typ.EntryType()}
	if step.Kind == merge.FieldStep {
		b.typ = s.typ.Field(step.Name).Type
	}
	b.kept = s.kept || c.livesAt(b.path)
	return b
}

// livesAt reports whether policy, rule or user have given the value there, as a whole, to live.
func (c configuring) livesAt(path merge.Path) bool {
	r, ok := merge.RuleAt(c.Rules, path)
	return ok && r.Always && r.Choice == merge.TakeLive || slices.ContainsFunc(c.Settled, func(d merge.Disagreement) bool {
		return d.Winner == merge.LiveSide && d.Path.String() == path.String()
	})
}

// recordValue returns what is applied of a value that is stated; false for nothing.
func (c configuring) recordValue(stated, result any, s spot) (any, bool) {
	switch v := stated.(type) {
	case map[string]any:
		if r, ok := result.(map[string]any); ok && granular(s.typ) {
			fields := c.fields(v, r, s)
			return fields, len(fields) > 0 || len(v) == 0 || c.emptyMap(r, s)
		}
	case []any:
		if r, ok := result.([]any); ok && listed(s.typ) {
			return c.entries(v, r, s), true
		}
	}
	switch others := c.Others(s.path); {
	case s.kept && others:
		return nil, false
	case result == nil && emptyList(stated) && !c.Rewrite.Others(s.path):
		return stated, true // an empty list has no owner; a null would have one
	case s.kept || others || merge.Any(stated, func(v any) bool { return v == nil }):
		return result, true // live's spelling of the same value changes nothing that others own
	}
	return stated, true
}

// emptyMap reports whether a map of which nothing is applied is applied as an empty one: where something is left of it,
// since the server would remove it with all that has no owner, and where live has nothing of it either. What the run
// empties is null to the server, which removes it.
func (c configuring) emptyMap(result map[string]any, s spot) bool {
	live, _ := merge.Lookup(c.live, s.path, c.Type)
	return len(result) == 0 && !merge.HasEntries(live) || merge.Any(result, func(e any) bool { return e != nil && merge.IsScalar(e) })
}

// granular reports whether the fields or keys of a map are owned one by one.
func granular(t *merge.Type) bool {
	return t == nil || !t.Atomic && (t.Kind == merge.Object || t.Kind == merge.Map || t.Kind == merge.Unknown)
}

// listed reports whether the entries of a list are owned one by one.
func listed(t *merge.Type) bool {
	return t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set)
}

func (c configuring) fields(stated, result map[string]any, s spot) map[string]any {
	out := make(map[string]any, len(stated))
	for name, v := range stated {
		b := c.below(s, merge.Named(name))
		r, there := result[name]
		switch {
		case v == nil:
			if c.saysNull(b, s.typ, name, there) {
				out[name] = nil
			}
		case !there:
			if zero(v) && !b.kept && s.typ.Field(name).ZeroIsAbsent && !c.Others(b.path) {
				out[name] = v // kubectl would own it, too
			}
		default:
			if applied, ok := c.recordValue(v, r, b); ok {
				out[name] = applied
			}
		}
	}
	return out
}

// saysNull reports whether a null is applied unchanged. It is where the server takes it for
// absence: for a scalar, and for a value that was absent. A key of a map would become "" instead.
// A value that the applier states, even as null, is not removed.
func (c configuring) saysNull(s spot, parent *merge.Type, name string, there bool) bool {
	if parent == nil || parent.Kind != merge.Object || s.kept || c.Others(s.path) {
		return false
	}
	f, declared := parent.Fields[name]
	v, was := merge.Lookup(c.live, s.path, c.Type)
	switch {
	case parent.Source != merge.SourceBuiltin: // null is a value, and not the default that it asks for
		return f.Nullable && (!there || was && v == nil)
	case was && !there && !emptyList(v):
		return false
	}
	return declared && (!there || s.typ != nil && s.typ.Kind == merge.Scalar)
}

// emptyList reports whether v is an empty list: it has no owners, so that only a null removes it.
func emptyList(v any) bool {
	list, isList := v.([]any)
	return isList && len(list) == 0
}

func zero(v any) bool {
	return v == nil || v == "" || v == false || v == json.Number("0") || !merge.IsScalar(v) && !merge.HasEntries(v)
}

func (c configuring) entries(stated, result []any, s spot) []any {
	found, order := map[int]any{}, []int{}
	in := merge.EntriesOf(result, s.typ)
	for i, step := range schema.EntrySteps(s.typ, stated) {
		v, at := stated[i], in.At(step)
		b := c.below(s, step)
		if at < 0 {
			continue
		}
		applied, ok := c.recordValue(v, result[at], b)
		if !ok {
			continue
		}
		found[at], order = withKeysOf(applied, v, s.typ), append(order, at)
	}
	if s.typ.Kind == merge.Keyed { // the server takes over the order
		slices.Sort(order)
	}
	out := make([]any, 0, len(order))
	for _, at := range order {
		out = append(out, found[at])
	}
	return out
}

// withKeysOf adds back those keys of an entry that are among what is left to live.
func withKeysOf(part, entry any, typ *merge.Type) any {
	m, isMap := part.(map[string]any)
	for _, k := range typ.Keys {
		if v, there := merge.At[map[string]any](entry)[k.Name]; isMap && there && m[k.Name] == nil {
			m[k.Name] = v
		}
	}
	return part
}

// withKept returns what is stated, together with the parts that were applied before, are no longer stated, and are
// left to live by the plan.
func (c configuring) withKept(stated, applied merge.Opt, at merge.Path, typ *merge.Type) merge.Opt {
	if !stated.Set && c.livesAt(at) {
		return applied
	}
	is, isMap := stated.Value.(map[string]any)
	was, wasMap := applied.Value.(map[string]any)
	_, isList := stated.Value.([]any)
	_, wasList := applied.Value.([]any)
	switch {
	case isMap, !stated.Set && wasMap && granular(typ):
		out := make(map[string]any, len(is))
		for name, e := range is {
			before, there := was[name]
			out[name] = c.withKept(merge.Some(e), merge.Opt{Value: before, Set: there}, at.Child(merge.Named(name)), typ.Field(name).Type).Value
		}
		for name, e := range was {
			if _, there := is[name]; there {
				continue
			}
			if kept := c.withKept(merge.Opt{}, merge.Some(e), at.Child(merge.Named(name)), typ.Field(name).Type); kept.Set {
				out[name] = kept.Value
			}
		}
		return merge.Opt{Value: out, Set: stated.Set || len(out) > 0}
	case listed(typ) && (isList || !stated.Set && wasList):
		out := c.entriesWithKept(merge.At[[]any](stated.Value), merge.At[[]any](applied.Value), at, typ)
		return merge.Opt{Value: out, Set: stated.Set || len(out) > 0}
	}
	return stated
}

func (c configuring) entriesWithKept(stated, applied []any, at merge.Path, typ *merge.Type) []any {
	out := make([]any, len(stated))
	before, now := merge.EntriesOf(applied, typ), merge.EntriesOf(stated, typ)
	for i, step := range schema.EntrySteps(typ, stated) {
		var was merge.Opt
		if n := before.At(step); n >= 0 {
			was = merge.Some(applied[n])
		}
		out[i] = c.withKept(merge.Some(stated[i]), was, at.Child(step), typ.Elem).Value
	}
	for i, step := range schema.EntrySteps(typ, applied) {
		if now.At(step) >= 0 {
			continue
		}
		if kept := c.withKept(merge.Opt{}, merge.Some(applied[i]), at.Child(step), typ.Elem); kept.Set {
			out = append(out, withKeysOf(kept.Value, applied[i], typ))
		}
	}
	return out
}
