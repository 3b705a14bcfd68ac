// Package ownership reads metadata.managedFields (KEP-555): who owns a value of an object,
// and what a manager applied. It is the only place that knows how FieldsV1 spells a path.
// It refuses to decide which side of a merge wins, and to write anything.
package ownership

import (
	"slices"
	"strings"
	"time"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// owners knows who owns a value of live. It reads metadata.managedFields (KEP-555) in their
// raw form, so that creating one costs nothing and only disagreements pay for the look-up.
type owners struct {
	live    map[string]any
	entries []ownerEntry
	version any  // the API version that an entry is about
	partial bool // some are about other versions than the rest, or than the object's
}

type ownerEntry struct {
	owner  merge.Owner
	fields map[string]any
}

// Of reads the owners of an object from its managedFields, as the API writes them. It returns nil
// where there are none, or where none can be read: then nothing is known of owners.
func Of(obj any) merge.Owners {
	is := merge.At[map[string]any](obj)
	o := &owners{live: is}
	for _, m := range merge.MapsAt(is, "metadata", "managedFields") {
		fields, ok := m["fieldsV1"].(map[string]any)
		if !ok {
			continue
		}
		o.partial = o.partial || o.version != nil && m["apiVersion"] != o.version
		o.version = m["apiVersion"]
		when, _ := time.Parse(time.RFC3339, merge.At[string](m, "time")) // one that cannot be read is unknown, the zero time
		o.entries = append(o.entries, ownerEntry{fields: fields, owner: merge.Owner{
			Manager: merge.At[string](m, "manager"), Operation: merge.At[string](m, "operation"),
			Subresource: merge.At[string](m, "subresource"), Time: when,
		}})
	}
	if len(o.entries) == 0 {
		return nil
	}
	slices.SortStableFunc(o.entries, func(a, b ownerEntry) int { return b.owner.Time.Compare(a.owner.Time) })
	o.partial = o.partial || o.version != nil && o.version != is["apiVersion"]
	return o
}

// Partial implements merge.Partial: each entry is about the fields of its own version.
func (o *owners) Partial() bool { return o.partial }

// At lists the owners of the value at the path, or of a part of it, newest first; nil if it
// has none. Those of the value itself alone come after those of its parts. A nil *owners has none.
func (o *owners) At(p merge.Path) (out []merge.Owner) {
	if o == nil {
		return nil
	}
	var itself, entire []merge.Owner
	for _, e := range o.entries {
		switch below, held, around := descend(e.fields, p); {
		case held && (len(below) > 1 || len(below) == 1 && below["."] == nil):
			out = append(out, e.owner)
		case held:
			itself = append(itself, e.owner)
		case around:
			entire = append(entire, e.owner)
		}
	}
	out = append(out, itself...)
	if len(out) == 0 && len(entire) > 0 {
		if _, there := merge.Lookup(o.live, p, nil); there { // otherwise, others have removed it
			return entire
		}
	}
	return out
}

// At lists the owners of the value at the path; nil where owners are not known.
func At(o merge.Owners, p merge.Path) []merge.Owner {
	if o == nil {
		return nil
	}
	return o.At(p)
}

// ByUsers reports whether others than the control plane hold the value at the path, or a part of it, and not
// only through status, as controllers do.
func ByUsers(o merge.Owners, p merge.Path) bool {
	return slices.ContainsFunc(At(o, p), func(o merge.Owner) bool {
		return o.Subresource != "status" && !schema.ControlPlane(o.Manager)
	})
}

// Claims returns a function that reports whether an owner states what it owns: by server-side apply, and it is
// neither one that own reports nor the control plane. Only server-side apply gives an equal value several owners, and
// writing another value leaves its writer as the only one.
func Claims(own func(merge.Owner) bool) func(merge.Owner) bool {
	return func(o merge.Owner) bool {
		return o.Operation == "Apply" && !own(o) && !schema.ControlPlane(o.Manager)
	}
}

// descend returns what is held below the value at the path, and reports whether that is held, and whether only
// a list around it is, as one value: its type was that when it was set.
func descend(fields map[string]any, p merge.Path) (below map[string]any, held, around bool) {
	for _, s := range p {
		next, ok := fields[keyOf(s, nil)]
		if !ok {
			next, ok = fields[keyOf(s, "")] // a key that is absent to the merge
		}
		if !ok {
			return nil, false, len(fields) == 0 && (s.Kind == merge.KeyStep || s.Kind == merge.ValueStep)
		}
		fields, _ = next.(map[string]any)
	}
	return fields, true, false
}

// Makers names who has set the fields of an object, in parentheses with a space before them; ""
// where none is known.
func Makers(live map[string]any) string {
	var names []string
	for _, e := range list(live) {
		if name := merge.At[string](e, "manager"); merge.At[string](e, "subresource") == "" && name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (its fields were set by " + strings.Join(names, ", ") + ")"
}
