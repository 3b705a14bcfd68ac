package merge

import "sort"

// because is one row of the explanation before its path is spelled out.
type because struct {
	result               Opt
	from                 Side
	cause                Cause
	original, local, liv Opt
}

// because records a row where an explanation was asked for.
func (m *merger) because(s *cursor, b because) {
	if !m.explain {
		return
	}
	row := Because{
		Path: s.path(), Result: b.result, From: b.from, Cause: b.cause, Split: s.split(),
		Original: m.recorded(b.original), Local: b.local, Live: b.liv,
	}
	if b.liv.Set {
		if owners := m.ownersAt(row.Path); len(owners) > 0 {
			row.Owner = &owners[0]
		}
	}
	m.plan.Because = append(m.plan.Because, row)
}

// split says how the nearest list or atomic value is identified, and which source decided that.
func (s *cursor) split() string {
	for a := s; a != nil; a = a.up {
		t := a.field.Type
		if t == nil {
			continue
		}
		if text := t.describe(); text != "" {
			return text
		}
	}
	return ""
}

// describe returns the rule of a list or atomic value in words.
func (t *Type) describe() string {
	by := ", from the " + t.Source
	switch t.Source {
	case "":
		by = ""
	case SourceInferred:
		by = ", inferred"
	}
	switch {
	case t.Kind == Keyed:
		text, sep := "list keyed by ", ""
		for _, k := range t.Keys {
			text, sep = text+sep+k.Name, "+"
		}
		return text + by
	case t.Kind == Set:
		return "set" + by
	case t.Kind == List:
		return "atomic list" + by
	case t.Atomic:
		return "atomic map" + by
	}
	return ""
}

// sortReported sorts everything reported by path: maps have no order.
func (m *merger) sortReported() {
	SortByPath(m.plan.Conflicts, func(d Disagreement) Path { return d.Path })
	SortByPath(m.plan.Settled, func(d Disagreement) Path { return d.Path })
	SortByPath(m.plan.Reordered, func(r Reordering) Path { return r.Path })
	SortByPath(m.plan.Doubtful, func(d Doubt) Path { return d.Path })
	SortByPath(m.plan.Removed, func(r Removal) Path { return r.Path })
	SortByPath(m.plan.Because, func(b Because) Path { return b.Path })
}

// SortByPath sorts rows by the text of their paths.
func SortByPath[T any](rows []T, path func(T) Path) {
	if len(rows) < 2 {
		return
	}
	type keyed struct {
		key string
		row T
	}
	all := make([]keyed, len(rows))
	for i, r := range rows {
		all[i] = keyed{path(r).String(), r}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].key < all[j].key })
	for i := range all {
		rows[i] = all[i].row
	}
}
