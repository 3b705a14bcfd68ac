package plandoc

import (
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Subject is an object of a run, with its plan stored whole.
type Subject struct {
	Action   apply.Action
	Identity // with the namespace that the object is written to
	Reason   string
	Impact   string // what the plan does to what runs
	Planned  apply.Planned

	// Stored is the object as the server has stored it; nil: what is to be sent counts.
	Stored map[string]any
}

// Item is the document form of an object. Its changes lead from the live object to the
// planned one (or to Stored), without what the server itself keeps in metadata and status.
// The last-applied annotation, which repeats the object, is apart from them.
func (s Spelling) Item(sub Subject) Item { return s.item(sub, s.reasons) }

// item is Item with the reasons that are found so.
func (s Spelling) item(sub Subject, reasons func(apply.Planned) map[string]string) Item {
	p := sub.Planned
	live := object.Object{Value: p.Live}
	item := Item{Action: sub.Action, Identity: sub.Identity, Reason: sub.Reason, UID: live.UID(), ResourceVersion: live.ResourceVersion()}
	if !s.Record {
		item.Impact = sub.Impact
	}
	switch sub.Action {
	case apply.Keep:
		return item
	case apply.Held:
		item.Conflicts = object.Each(diff.Conflicts(s.report(p)), func(n diff.Note) ConflictAt { return ConflictAt{n.Path.String(), words(n)} })
		return item
	}
	after := p.Final
	if sub.Stored != nil {
		after = sub.Stored
	}
	if sub.Action == apply.Delete {
		after = nil
	}
	c := changing{hider: hider{s, sub.Identity}, typ: p.Type, sides: []any{p.Value, p.LiveSide()}, sensitive: p.Sensitive, reasons: reasons(p)}
	c.recreated = s.Record && sub.Action == apply.Recreate
	c.before, c.after = p.Configuration(p.Live), p.Configuration(after)
	c.maskedBefore, c.maskedAfter = c.before, c.after
	if !s.ShowSecrets {
		c.maskedBefore, c.maskedAfter = redact.Mask(c.before, c.after, p.Sensitive, c.sides...)
	}
	item.Changes = c.changes()
	item.LastApplied = c.lastApplied(p.Live, after, sub.Action)
	return item
}

// Lost reports whether a value that was there before is hidden: undo cannot restore it.
func (i Item) Lost() bool {
	return slices.ContainsFunc(i.Changes, func(c ChangeOf) bool { return Hashes(c.Before.Value) })
}

// changing is an object before and after, also masked.
type changing struct {
	hider
	typ                       *merge.Type
	sensitive                 redact.Fields
	before, after             any
	sides                     []any // the file's object, and live with its annotation
	maskedBefore, maskedAfter any
	reasons                   map[string]string
	recreated                 bool // by a run that is recorded
}

// changes are the changes in path order.
func (c changing) changes() (out []ChangeOf) {
	if c.before == nil || c.after == nil || c.recreated { // a run may be killed after it has deleted the object
		whole := ChangeOf{Path: merge.Path{}.String()}
		whole.Before, whole.After = c.whole(c.before, c.maskedBefore), c.whole(c.after, c.maskedAfter)
		return []ChangeOf{whole}
	}
	before, after := merge.NewFinder(c.maskedBefore, c.typ), merge.NewFinder(c.maskedAfter, c.typ)
	ordered := map[string]bool{} // lists whose order is in the record
	for _, change := range merge.Diff(c.before, c.after, c.typ) {
		switch {
		case c.Record && c.typ.Makes(change.Path):
			continue // no change of the run's, and nothing to undo
		case change.Op == merge.OpOrder:
			out = append(out, ChangeOf{Path: change.Path.String(), Order: &Order{merge.Texts(change.OldOrder), merge.Texts(change.NewOrder)}, Reason: "local states this order"})
			continue
		}
		one := ChangeOf{Path: change.Path.String(), Reason: c.reason(change)}
		one.Before, one.After = c.side(change.Path, change.Old, before), c.side(change.Path, change.New, after)
		out = append(out, one)
		if list := change.Path[:max(len(change.Path)-1, 0)]; c.Record && change.OldOrder != nil && !ordered[list.String()] {
			ordered[list.String()] = true
			out = append(out, ChangeOf{Path: list.String(), Order: &Order{Before: merge.Texts(change.OldOrder)}})
		}
	}
	return out
}

func (c changing) whole(v, masked any) merge.Opt {
	if v == nil {
		return merge.Opt{}
	}
	if c.ShowSecrets {
		return merge.Some(v)
	}
	return merge.Some(c.hide("", v, masked))
}

// side is a value of one side, as it may be shown.
func (c changing) side(p merge.Path, v merge.Opt, masked *merge.Finder) merge.Opt {
	if !v.Set || c.ShowSecrets {
		return v
	}
	m, found := masked.Lookup(p)
	if !found {
		return merge.Some(c.Hash(c.id, fieldsOf(p), v.Value))
	}
	return merge.Some(c.hide(fieldsOf(p), v.Value, m))
}

// lastApplied is the annotation before and after: in a plan the hash of what is written, by
// which a run that would record something else is recognized; in a record both texts, or, where
// they have secret values, both configurations with hashes in place of those.
func (c changing) lastApplied(live, after map[string]any, a apply.Action) *Sides {
	was, is := lastapplied.Read(live), lastapplied.Read(after)
	if was.Text == is.Text || a == apply.Delete && !c.Record {
		return nil
	}
	s := &Sides{After: c.annotation(is)}
	if c.Record {
		s.Before = c.annotation(was)
	}
	return s
}

func (c changing) annotation(o lastapplied.Original) merge.Opt {
	const fields = "/metadata/annotations/" + lastapplied.Annotation
	switch {
	case o.Text == "":
		return merge.Opt{}
	case !c.Record || o.Value == nil && !c.ShowSecrets: // what cannot be read may be secret
		return merge.Some(c.Hash(c.id, fields, o.Text))
	case c.ShowSecrets:
		return merge.Some(o.Text)
	}
	whole, err := merge.ReadJSON([]byte(o.Text)) // with what marks it as blanked
	masked, _ := redact.MaskAt(redact.Place{Values: redact.ValuesOf(append(c.sides, c.before, c.after)...)}, merge.Some(whole), merge.Opt{}, c.sensitive)
	hidden := slices.ContainsFunc(merge.Diff(whole, masked.Value, nil), func(c merge.Change) bool { return c.Old.Value != "" })
	if err != nil || !hidden { // what is blanked is empty, and no secret
		return merge.Some(o.Text)
	}
	return merge.Some(c.hide("", whole, masked.Value))
}

// words is a note without its path.
func words(n diff.Note) string { return strings.TrimPrefix(n.Text(), n.Path.String()+": ") }

// reasons are the notes of a merge by path: what is overwritten, removed or put back.
func (s Spelling) reasons(p apply.Planned) map[string]string {
	found := map[string]string{}
	for _, n := range diff.Notes(s.report(p)) {
		if n.Path != nil && n.Lost() {
			found[n.Path.String()] = words(n)
		}
	}
	return found
}

func (s Spelling) report(p apply.Planned) diff.Report {
	return diff.Report{Object: p.Name, Local: p.Value, Live: p.LiveSide(), Plan: p.Plan, ShowSecrets: s.ShowSecrets, Sensitive: p.Sensitive, Voice: diff.Voice{Preview: !s.Record, FromOwners: p.FromOwners}}
}

// reason is why a value changes: what the merge has noted about it or what holds it, else
// what local has.
func (c changing) reason(change merge.Change) string {
	for n := len(change.Path); n > 0; n-- {
		if text, ok := c.reasons[change.Path[:n].String()]; ok {
			return text
		}
	}
	if change.New.Set {
		return "local states it"
	}
	return "not in local any more"
}
