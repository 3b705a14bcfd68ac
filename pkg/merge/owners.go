package merge

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"
)

// Owners answers who owns a value of live. It is read from
// metadata.managedFields (KEP-555) as it stands, so that making one costs
// nothing and only disagreements pay for the look-up.
type Owners struct {
	entries []ownerEntry
}

type ownerEntry struct {
	owner  Owner
	fields map[string]any
}

// ParseOwners reads metadata.managedFields, a list of entries as the API writes
// them. It returns nil where there are none, or where none can be read: nothing
// is known of owners then.
func ParseOwners(managedFields any) *Owners {
	list, _ := managedFields.([]any)
	o := &Owners{}
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
		if s, ok := m["time"].(string); ok {
			entry.owner.Time, _ = time.Parse(time.RFC3339, s) // an unreadable time is an unknown one
		}
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

// Creator is the manager whose entry for the object itself is oldest: it made the
// object, or has not touched it since. "" where nothing is known, or where several
// are as old as the oldest: times are kept in seconds, and a guess would take
// somebody's change for the server's.
func (o *Owners) Creator() string {
	if o == nil {
		return ""
	}
	name, found := "", false
	var since time.Time
	for _, entry := range slices.Backward(o.entries) { // oldest first
		e := entry.owner
		switch {
		case e.Subresource != "":
		case !found:
			name, since, found = e.Manager, e.Time, true
		case e.Time.Equal(since) && e.Manager != name:
			return ""
		}
	}
	return name
}
