package merge

import (
	"encoding/json"
	"sort"
	"strings"
	"time"
)

// Owners answers who owns a value of live. It is read from
// metadata.managedFields (KEP-555) as it stands, so that making one costs
// nothing and only disagreements pay for the look-up.
type Owners struct {
	entries []ownerEntry
	created time.Time // metadata.creationTimestamp, zero if unknown
}

// Unrecorded is the manager under which the API server enters what was there before it
// began to record managers, or after somebody had removed the record (KEP-555): it stands
// for everybody, and so for nobody in particular.
const Unrecorded = "before-first-apply"

type ownerEntry struct {
	owner  Owner
	fields map[string]any
}

// ParseOwners reads managedFields and creationTimestamp of an object's metadata, as
// the API writes them. It returns nil where there are no managedFields, or where none
// can be read: nothing is known of owners then.
func ParseOwners(metadata any) *Owners {
	m, _ := metadata.(map[string]any)
	list, _ := m["managedFields"].([]any)
	o := &Owners{created: readTime(m["creationTimestamp"])}
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		fields, ok := m["fieldsV1"].(map[string]any)
		if !ok {
			continue
		}
		entry := ownerEntry{fields: fields}
		entry.owner.Manager, _ = m["manager"].(string)
		entry.owner.Operation, _ = m["operation"].(string)
		entry.owner.Subresource, _ = m["subresource"].(string)
		entry.owner.Time = readTime(m["time"])
		o.entries = append(o.entries, entry)
	}
	if len(o.entries) == 0 {
		return nil
	}
	sort.SliceStable(o.entries, func(i, j int) bool {
		return o.entries[i].owner.Time.After(o.entries[j].owner.Time)
	})
	return o
}

// readTime: an unreadable time is an unknown one, the zero.
func readTime(v any) time.Time {
	s, _ := v.(string)
	t, _ := time.Parse(time.RFC3339, s)
	return t
}

// At lists who owns the value at the path, or a part of it, newest first; nil if
// nobody does. A nil *Owners knows nobody.
func (o *Owners) At(p Path) []Owner {
	if o == nil {
		return nil
	}
	var out []Owner
	for _, e := range o.entries {
		if descend(e.fields, p) {
			out = append(out, e.owner)
		}
	}
	return out
}

// Made lists who made the map, list or object at the path, newest first: whoever holds
// it itself, besides what is in it. nil if nobody does; a nil *Owners knows nobody.
func (o *Owners) Made(p Path) []Owner {
	if o == nil {
		return nil
	}
	var out []Owner
	for _, e := range o.entries {
		fields := e.fields
		for _, s := range p {
			fields, _ = fields[fieldsKey(s)].(map[string]any)
		}
		if _, itself := fields["."]; itself {
			out = append(out, e.owner)
		}
	}
	return out
}

func descend(fields map[string]any, p Path) bool {
	for _, s := range p {
		next, ok := fields[fieldsKey(s)]
		if !ok {
			return false
		}
		fields, _ = next.(map[string]any)
	}
	return true
}

// fieldsKey is the step as FieldsV1 spells it: f:name, k:{"name":"web"}, v:"x",
// i:0.
func fieldsKey(s Step) string {
	switch s.Kind {
	case FieldStep:
		return "f:" + s.Name
	case KeyStep:
		keys := make(map[string]any, len(s.Keys))
		for _, k := range s.Keys {
			if k.Value != nil {
				keys[k.Name] = k.Value
			}
		}
		return "k:" + compact(keys)
	case ValueStep:
		return "v:" + compact(s.Value)
	}
	return "i:" + compact(s.Index)
}

// compact is the value as FieldsV1 spells it: sorted keys, no HTML escapes.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Creator is the manager that made the object: the one whose entry for the object
// itself still has the time of the object's creation. An entry's time is that of its
// last write, so a creator that has written again is not found, and an older entry than
// all others proves nothing. "" where nobody is known, or where several have written in
// the second in which the object was made: a guess would take one's values for
// another's. Of several, one whose only trade is to make objects has made this one.
func (o *Owners) Creator() string {
	if o == nil || o.created.IsZero() {
		return ""
	}
	name, several := "", false
	for _, entry := range o.entries {
		e := entry.owner
		switch {
		case e.Subresource != "" || e.Manager == Unrecorded || !e.Time.Equal(o.created) || e.Manager == name:
		case makers[e.Manager]:
			return e.Manager
		case name != "":
			several = true
		default:
			name = e.Manager
		}
	}
	if several {
		return ""
	}
	return name
}

// makers are the managers as which kubectl makes objects, and does nothing else.
var makers = map[string]bool{"kubectl-create": true, "kubectl-run": true, "kubectl-expose": true, "kubectl-autoscale": true}
