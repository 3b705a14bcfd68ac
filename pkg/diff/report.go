// Package diff may change with a minor version until 1.0.0. It reports a plan: first as data
// (Note, Explanation), then in forms for people or programs. These are notes and conflicts in
// words, an explanation, a unified diff, and a Markdown comment. It refuses to compute what
// should change, to decide anything, and to print a Secret's value in any form.
//
// A note is data until Note.Text puts it into words; a finished text is not edited. Values
// are JSON values as merge.ReadJSON gives them; none is ever modified.
package diff

import (
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Report is one object and the outcome of its merge: the source of notes, conflicts and
// explanations.
type Report struct {
	Object    string // as outcome lines name it: deployment.apps/web
	Namespace string // for the commands that are suggested; "" leaves -n out
	Local     any    // the file's object; shows which values are a Secret's
	Live      any    // nil where there is none
	Plan      merge.Plan
	Type      *merge.Type  // the object's; nil: what the server fills in is unknown
	Owners    merge.Owners // of live's values; nil: none is known

	Ignored    []merge.Path // server-owned fields in local
	Uncompared []merge.Path // fields of an original in another apiVersion
	Defaulted  []merge.Path // fields that are null in local and get their default

	// Adoptable lists values of kubectl's own managers that no file has stated since
	// (strategy.Output). Adoption says how undecided values can be adopted.
	Adoptable []merge.Removal
	Adoption  Adoption

	// Restored lists the paths of values that the server still has, though a write replaced
	// or removed them.
	Restored []merge.Path

	// Guards are notes on other managers of the object or its fields, for a comment.
	Guards []Note

	ShowSecrets bool
	Sensitive   redact.Fields // of this object, which are masked too; nil: none

	looked *looked // nil until Looked has found it

	Voice
}

// stored returns the sides with what the server fills into those that are written for it, and
// without what equals its absence, and what the server has allocated to live. What only live states, or
// states in another way, is then not a difference.
func (r Report) stored(p merge.Path, s sides) sides {
	s.original, s.local = r.filled(p, s.original), r.filled(p, s.local)
	for _, o := range []*merge.Opt{&s.live, &s.original, &s.local} {
		o.Value = merge.Respelled(merge.Field{Type: r.Type.At(p)}, merge.Normal(r.Type.At(p), o.Value), s.live.Value)
	}
	s.live.Value = r.withoutAllocated(p, s.live.Value)
	return r.mask(p, s)
}

// withoutAllocated returns live's value without the fields that the server has allocated, as a port's nodePort:
// no manager owns them.
func (r Report) withoutAllocated(p merge.Path, v any) any {
	t := r.Type.At(p)
	for name := range merge.At[map[string]any](v) {
		if r.Owners != nil && t.Field(name).Allocated && len(r.Owners.At(p.Child(merge.Named(name)))) == 0 {
			v = merge.Without(v.(map[string]any), name)
		}
	}
	return v
}

// filled returns what the server makes of a value at that place of the result.
func (r Report) filled(p merge.Path, o merge.Opt) merge.Opt {
	if merge.IsScalar(o.Value) {
		return o
	}
	return merge.Some(r.Looked().looked.result.CompleteAt(p, o.Value))
}

// sides holds three values of one place, masked where they are a Secret's.
type sides struct{ original, local, live merge.Opt }

// mask hides a Secret's values. Where they differ, live's shows as "*** (before)" and
// local's as "*** (after)". original's shows as the one it equals, and as "***" where it
// equals neither, or is unknown.
func (r Report) mask(p merge.Path, s sides) sides {
	if r.ShowSecrets {
		return s
	}
	r = r.Looked()
	at := redact.Place{Path: p, Secret: r.secretDepth(p), Values: r.looked.values}
	var out sides
	out.live, out.local = redact.MaskAt(at, s.live, s.local, r.Sensitive)
	switch {
	case alike(s.original, s.local):
		out.original = out.local
	case alike(s.original, s.live):
		out.original = out.live
	default:
		out.original, _ = redact.MaskAt(at, s.original, merge.Opt{}, r.Sensitive)
	}
	return out
}

// looked caches the lookups of a report, and not for each path.
type looked struct {
	local, live, result *merge.Finder

	top       bool                  // the object is a Secret
	below     bool                  // some are parts of it
	values    *redact.Values        // of these Secrets; nil: none
	restored  map[string]bool       // by path
	displaced map[string]merge.Path // what displaced a value that is removed, by its path
}

// Looked is r with its Secrets found, so that many paths can be asked about.
func (r Report) Looked() Report {
	if r.looked != nil {
		return r
	}
	r.looked = &looked{
		local: merge.NewFinder(r.Local, r.Type), live: merge.NewFinder(r.Live, r.Type), result: merge.NewFinder(r.Plan.Result, r.Type),
		restored: map[string]bool{}, displaced: map[string]merge.Path{},
	}
	for _, p := range r.Restored {
		r.looked.restored[p.String()] = true
	}
	for _, gone := range r.Plan.Removed {
		if len(gone.By) > 0 {
			r.looked.displaced[gone.Path.String()] = gone.By
		}
	}
	for _, root := range []any{r.Local, r.Live, r.Plan.Result} {
		m, _ := root.(map[string]any)
		r.looked.top = r.looked.top || redact.IsSecret(m)
		for _, v := range m {
			r.looked.below = r.looked.below || merge.Any(v, func(v any) bool { return redact.IsSecret(merge.At[map[string]any](v)) })
		}
	}
	if r.looked.top || r.looked.below {
		r.looked.values = redact.ValuesOf(r.Local, r.Live, r.Plan.Result)
	}
	return r
}

// secretDepth returns how many steps of the path lead to a Secret; -1 if it leads into
// none. The value there may still contain a whole Secret.
func (r Report) secretDepth(p merge.Path) int {
	r = r.Looked()
	if r.looked.top {
		return 0
	}
	if !r.looked.below {
		return -1
	}
	for _, root := range []*merge.Finder{r.looked.local, r.looked.live, r.looked.result} {
		for i := 1; i <= len(p); i++ {
			v, ok := root.Lookup(p[:i])
			if !ok {
				break
			}
			if m, isMap := v.(map[string]any); isMap && redact.IsSecret(m) {
				return i
			}
		}
	}
	return -1
}

// by names a value's owner, with a space before it; "" if it is unknown.
func by(o *merge.Owner) string { return aside(OwnerName(o)) }

// aside puts a text in parentheses behind a space; "" stays.
func aside(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// OwnerName returns a field manager's name for messages, with the subresource that it wrote
// through; "" for nil.
func OwnerName(o *merge.Owner) string {
	switch {
	case o == nil:
		return ""
	case o.Subresource != "":
		return escape.Line(o.Manager + "/" + o.Subresource)
	}
	return escape.Line(o.Manager)
}

// By names a value's owner and when it wrote it; "" if it is unknown.
func By(o *merge.Owner) string { return strings.TrimSuffix(OwnerName(o)+", "+When(o), ", ") }

// When returns the time of a value's owner to the minute, "" if unknown.
func When(o *merge.Owner) string {
	if o == nil || o.Time.IsZero() {
		return ""
	}
	return o.Time.UTC().Format("2006-01-02 15:04Z")
}

// Masked returns the values that local and live have at a path, masked where they are a
// Secret's or a rule calls them sensitive. Where they differ, live's is "*** (before)" and
// local's is "*** (after)".
func (r Report) Masked(p merge.Path, local, live merge.Opt) (l, v merge.Opt) {
	s := r.mask(p, sides{local: local, live: live})
	return s.local, s.live
}

// Beside spells values of one place on one line of about n characters each, so that two
// different ones never read alike; an absent value is "-".
func Beside(n int, values ...merge.Opt) []string {
	texts := beside(n, values...)
	for i, o := range values {
		if !o.Set {
			texts[i] = "-"
		}
	}
	return texts
}
