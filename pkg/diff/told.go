package diff

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Told is one object and what a merge of it came to: what notes, conflicts and
// explanations are made of.
type Told struct {
	Object    string // as outcome lines name it: deployment.apps/web
	Namespace string // for the commands that are suggested; "" leaves -n out
	Local     any    // the file's object; tells which values are a Secret's
	Live      any    // nil where there is none
	Plan      merge.Plan

	Ignored    []merge.Path // server-owned fields in local
	Uncompared []merge.Path // fields of an original in another apiVersion

	// Adoptable are values that the object's creator set and no file has had since
	// (strategy.Output). FromOwners: original was worked out from managedFields, so that
	// nothing is known to have been applied.
	Adoptable  []merge.Removal
	FromOwners bool

	ShowSecrets bool

	// Preview: nothing is written, so that notes are in the conditional.
	Preview bool

	// Merged is the place of the merged file, where files are merged: the sides are
	// called dest, updated and original then. "" for a cluster.
	Merged string
	Policy string // by which files are merged
}

// sides are three values of one place, masked where they are a Secret's.
type sides struct{ original, local, live merge.Opt }

// mask hides a Secret's values: live's shows as "*** (before)" and local's as
// "*** (after)" where they differ, original's as the one it is like, and as "***"
// where it is like neither, or not known any more.
func (t Told) mask(p merge.Path, s sides) sides {
	if t.ShowSecrets {
		return s
	}
	inside, ok := t.secretAt(p) // if not: a whole Secret may still be inside the value
	local := wrap(inside, s.local, ok)
	live, now := Mask(wrap(inside, s.live, ok), local)
	out := sides{local: unwrap(inside, now, s.local), live: unwrap(inside, live, s.live)}
	switch {
	case alike(s.original, s.local):
		out.original = out.local
	case alike(s.original, s.live):
		out.original = out.live
	default:
		original, _ := Mask(wrap(inside, s.original, ok), nil)
		out.original = unwrap(inside, original, s.original)
	}
	return out
}

// secretAt is the rest of the path below the Secret that it leads into.
func (t Told) secretAt(p merge.Path) (merge.Path, bool) {
	for i := 0; i <= len(p); i++ {
		for _, root := range []any{t.Local, t.Live, t.Plan.Result} {
			v, ok := merge.Lookup(root, p[:i], nil)
			if m, isMap := v.(map[string]any); ok && isMap && isSecret(m) {
				return p[i:], true
			}
		}
	}
	return nil, false
}

// wrap puts a value back where it came from, in a Secret that has nothing else.
func wrap(p merge.Path, o merge.Opt, secret bool) any {
	if !o.Set {
		return nil
	}
	v := o.Value
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].Kind == merge.FieldStep {
			v = map[string]any{p[i].Name: v}
		} else {
			v = []any{v}
		}
	}
	if m, ok := v.(map[string]any); ok && secret {
		return with(m, "kind", "Secret")
	}
	return v
}

func unwrap(p merge.Path, v any, was merge.Opt) merge.Opt {
	if !was.Set {
		return was
	}
	for _, s := range p {
		switch c := v.(type) {
		case map[string]any:
			v = c[s.Name]
		case []any:
			v = c[0]
		default:
			return merge.Some(v) // hidden whole, further up
		}
	}
	return merge.Some(v)
}

// by names a value's owner, with a space before it; "" if nobody knows.
func by(o *merge.Owner) string {
	if name := ownerName(o); name != "" {
		return " (" + name + ")"
	}
	return ""
}

func ownerName(o *merge.Owner) string {
	switch {
	case o == nil:
		return ""
	case o.Subresource != "":
		return inLine(o.Manager + "/" + o.Subresource)
	}
	return inLine(o.Manager)
}

// when is the time of a value's owner to the minute, "" if unknown.
func when(o *merge.Owner) string {
	if o == nil || o.Time.IsZero() {
		return ""
	}
	return o.Time.UTC().Format("2006-01-02 15:04Z")
}
