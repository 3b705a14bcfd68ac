package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Explanation lists the source of every field's value in an object.
type Explanation struct {
	Object string `json:"object"`
	Fields []Row  `json:"fields"`
}

// MarshalJSON returns the form for programs. The error is that of a value that is not JSON.
func (e Explanation) MarshalJSON() ([]byte, error) {
	type plain Explanation
	return marshal(plain(e))
}

// Row explains one field. Its values are masked.
type Row struct {
	Path   merge.Path
	Result merge.Opt // unset: the field is removed
	From   string    // original, local or live; "" while a conflict is open
	Why    string    // the cause, in words
	Split  string    // how the list or map around it is split, and which source decided that; "" for plain fields

	Original, Local, Live merge.Opt

	Owner *merge.Owner // of live's value, nil if unknown

	stored   sides  // the three sides with what the server fills in
	brief    string // Why in a word or two
	conflict bool
	differ   bool // the sides do not agree
	liveOnly bool // omit the line with the three sides
	changed  bool // live would change, or the sides disagree about it
}

// Changed returns the explanation of only those fields that the merge would change in live,
// or about which local and live disagree. Of a new object, the identifying fields are left
// out, unless it has no others.
func (e Explanation) Changed() Explanation {
	changed := slices.DeleteFunc(slices.Clone(e.Fields), func(r Row) bool { return !r.changed })
	rows := slices.DeleteFunc(slices.Clone(changed), func(r Row) bool { return slices.Contains(identifying, r.Path.String()) })
	if len(rows) == 0 {
		rows = changed
	}
	return Explanation{Object: e.Object, Fields: append([]Row{}, rows...)}
}

// identifying lists the fields that only a new object can change.
var identifying = []string{"apiVersion", "kind", "metadata.name", "metadata.namespace"}

// MarshalJSON returns the form for programs. An absent value is left out; null is null. The
// error is that of a value that is not JSON.
func (r Row) MarshalJSON() ([]byte, error) {
	return marshal(Fields(map[string]any{
		"path": merge.Some(r.Path.String()), "why": merge.Some(r.Why), "from": r.From, "split": r.Split, "result": r.Result,
		"original": recorded(r.Original), "local": r.Local, "live": r.Live, "owner": r.Owner,
	}, nil))
}

// Explain turns the plan's trace into rows, in its order. With paths, it explains only fields at
// or below one of them, or the one value that contains it. A path may name an entry by some of
// its keys. Without paths, status and the API's own book-keeping are left out.
func Explain(r Report, paths ...merge.Path) Explanation {
	r = r.Looked()
	settled := map[string]merge.Disagreement{}
	for _, d := range append(r.Plan.Settled[:len(r.Plan.Settled):len(r.Plan.Settled)], r.Plan.Conflicts...) {
		settled[d.Path.String()] = d
	}
	e := Explanation{Object: r.Object, Fields: []Row{}}
	for _, b := range r.Plan.Because {
		if len(paths) == 0 && !isBookkeeping(b.Path) || slices.ContainsFunc(paths, func(q merge.Path) bool { return Within(b.Path, q) || holds(b, q) }) {
			d, ok := settled[b.Path.String()]
			e.Fields = append(e.Fields, r.row(b, d, ok))
		}
	}
	return e
}

// isBookkeeping reports whether the API alone maintains the field.
func isBookkeeping(p merge.Path) bool {
	if len(p) < 2 || p[0].Name != "metadata" {
		return len(p) > 0 && p[0].Name == "status"
	}
	return slices.Contains(bookkeeping, p[1].Name) || len(p) == 3 && p[2].Name == redact.LastApplied
}

func (r Report) row(b merge.Because, d merge.Disagreement, disagree bool) Row {
	s := r.mask(b.Path, sides{b.Original, b.Local, b.Live})
	row := Row{
		Path: b.Path, From: sideName(b.From), Split: b.Split, Why: r.why(b, d, disagree), Owner: b.Owner,
		Original: s.original, Local: s.local, Live: s.live, stored: r.stored(b.Path, sides{b.Original, b.Local, b.Live}),
		conflict: disagree && d.Winner == merge.Nobody,
		liveOnly: !disagree && b.Cause == merge.CauseLive,
	}
	if disagree && d.Owner != nil {
		row.Owner = d.Owner // the owner of the value, not of a part of it
	}
	row.brief = brief(b.Cause, d.Kind, row.conflict)
	if b.Result.Set {
		row.Result = r.like(b, s)
	}
	row.differ = row.conflict || r.differ(b)
	row.changed = disagree || row.differ && !alike(b.Live, b.Result)
	return row
}

// differ reports whether the sides are different values to the server.
func (r Report) differ(b merge.Because) bool {
	result := r.filled(b.Path, b.Result)
	return !alike(r.filled(b.Path, b.Local), result) || !alike(b.Live, result) ||
		!unknown(b.Original) && !alike(r.filled(b.Path, b.Original), result)
}

// like masks the result in the same way as the side that it equals.
func (r Report) like(b merge.Because, s sides) merge.Opt {
	switch {
	case alike(b.Live, b.Result):
		return s.live
	case alike(b.Local, b.Result):
		return s.local
	case alike(b.Original, b.Result):
		return s.original
	}
	return r.mask(b.Path, sides{local: b.Result, live: b.Live}).local
}

func alike(a, b merge.Opt) bool {
	return a.Set == b.Set && (!a.Set || merge.Identical(a.Value, b.Value))
}

// why returns a cause in words.
func (r Report) why(b merge.Because, d merge.Disagreement, disagree bool) string {
	if disagree {
		text := Moved(d)
		switch {
		case len(d.By) > 0:
			text = excluded("local", r.excluding(d.By))
		case d.Kind == merge.Update || d.Kind == merge.Drift:
			text = brief(b.Cause, d.Kind, false) + " (" + text + ")"
		}
		text += ":" + winner(d.Winner)
		if d.Rule != "" {
			text += ", by rule " + escape.Line(d.Rule)
		}
		return text
	}
	switch known := causes[b.Cause]; {
	case known.why != "":
		return known.why
	case b.Cause == merge.CauseSame && alike(b.Local, b.Live):
		return "the same in local and live"
	case b.Cause == merge.CauseSame:
		return "one value to the server, as live spells it"
	case b.Cause == merge.CauseServer && b.Local.Value == nil:
		return "the server's default, which it would fill in again"
	case b.Cause == merge.CauseServer:
		return "local's, with what the server fills in"
	case b.Cause == merge.CausePolicy:
		return "the policy:" + winner(b.From)
	case b.Cause == merge.CauseStrategy && b.Result.Set:
		return known.gone
	case b.Cause == merge.CauseDisplaced && r.looked.displaced[b.Path.String()] != nil:
		return "removed: " + excluded("local", r.excluding(r.looked.displaced[b.Path.String()]))
	}
	return "removed: " + causeText(b.Cause, r.FromOwners)
}

// causes has each cause in a word or two, why a value is as it is, and why one is removed; "" depends on more.
var causes = map[merge.Cause]struct{ brief, why, gone string }{
	merge.CauseLocal:     {brief: "stated", why: "local states it"},
	merge.CauseLive:      {brief: "only live", why: "only live has it"},
	merge.CauseSame:      {brief: "same"},
	merge.CauseServer:    {brief: "server's"},
	merge.CausePolicy:    {brief: "policy"},
	merge.CauseLines:     {brief: "by lines", why: "merged by lines: local and live have changed different ones"},
	merge.CauseUnstored:  {brief: "not stored", why: "the server does not store what local states here: a feature gate, an admission policy or the kind drops it"},
	merge.CauseFixed:     {brief: "fixed", why: "as applied, with what others have added to it; the API lets nobody change it any more"},
	merge.CauseDropped:   {brief: "dropped"},
	merge.CauseNull:      {brief: "null", gone: "local has null"},
	merge.CauseStillNull: {gone: "local has null"},
	merge.CauseDisplaced: {brief: "one-of", gone: "excluded by what else changes"},
	merge.CauseInside:    {brief: "inside", gone: "inside what local dropped"},
	merge.CauseReplaced:  {brief: "replaced", gone: "only live has it, and this strategy replaces what holds it"},
	merge.CauseAnew:      {brief: "new entry", gone: "server-side apply begins the entry anew, since its key changes"},
	merge.CauseStrategy:  {brief: "strategy", gone: "by this strategy's own rules"},
}

// causeText says why a value is removed; fromOwners: what was applied is known from
// managedFields.
func causeText(c merge.Cause, fromOwners bool) string {
	applied := "in last-applied, not in local"
	if fromOwners {
		applied = "applied last according to managedFields, not in local"
	}
	return cmp.Or(causes[c].gone, applied)
}

// brief returns the cause in a word or two; kind is 0 without a disagreement.
func brief(c merge.Cause, kind merge.DisagreementKind, conflict bool) string {
	if conflict {
		return "conflict"
	}
	moved := map[merge.DisagreementKind]string{
		merge.Update: "update", merge.Drift: "drift", merge.Both: "both moved", merge.Dropped: "dropped",
	}
	return cmp.Or(moved[kind], causes[c].brief)
}

// Moved says which sides have changed a value that they disagree about.
func Moved(d merge.Disagreement) string {
	switch {
	case d.Kind == merge.Update:
		return "only local moved"
	case d.Kind == merge.Drift:
		return "only live moved"
	case d.Kind == merge.Both && !d.Original.Set:
		return "local and live differ" // which of them changed is unknown
	case d.Kind == merge.Both && unknown(d.Original):
		return "local and live differ (which of them moved is not recorded)"
	case d.Kind == merge.Both:
		return "local and live both moved"
	case !d.Original.Set && !d.Local.Set:
		return "only live has it"
	}
	return "local removed what live changed"
}

func winner(s merge.Side) string {
	if s == merge.Nobody {
		return " conflict"
	}
	return " " + sideName(s) + " wins"
}

// holds reports whether the path that a user typed leads into a value that is explained as one.
func holds(b merge.Because, typed merge.Path) bool {
	n := len(b.Path)
	if n >= len(typed) || !Within(b.Path, typed[:n]) {
		return false
	}
	return slices.ContainsFunc([]merge.Opt{b.Result, b.Live, b.Local, b.Original}, func(o merge.Opt) bool {
		_, ok := merge.Lookup(o.Value, typed[n:], nil)
		return ok && o.Set
	})
}

// Within reports whether p is at or below the path that a user typed: keys may be left out,
// and any of several repeated entries matches.
func Within(p, typed merge.Path) bool {
	return len(typed) <= len(p) && slices.EqualFunc(p[:len(typed)], typed, func(s, typed merge.Step) bool {
		return s.Kind == typed.Kind && s.Name == typed.Name && s.Index == typed.Index && (typed.Nth < 2 || typed.Nth == s.Nth) &&
			(s.Kind != merge.ValueStep || typedAs(typed.Value, s.Value)) && keysWithin(s.Keys, typed.Keys)
	})
}

func keysWithin(has, typed []merge.KeyPart) bool {
	return !slices.ContainsFunc(typed, func(k merge.KeyPart) bool {
		return !slices.ContainsFunc(has, func(h merge.KeyPart) bool { return h.Name == k.Name && typedAs(k.Value, h.Value) })
	})
}

// typedAs reports whether the typed value matches: [port=80] may mean "80" as well as 80.
func typedAs(typed, v any) bool {
	return merge.Equal(typed, v, nil) || merge.IsScalar(v) && v != nil && fmt.Sprint(typed) == fmt.Sprint(v)
}
