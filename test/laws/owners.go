package laws

import (
	"fmt"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Owned is the law of who owns what: a write takes from others only what it changes, and
// gives them nothing.
const Owned Law = "owned"

// Entries are the entries of an object's managedFields, as FieldsV1 spells them and without
// times, by "manager/operation/apiVersion/subresource"; empty where there are none.
func Entries(obj map[string]any) map[string]map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	list, _ := meta["managedFields"].([]any)
	out := map[string]map[string]any{}
	for _, e := range list {
		m, _ := e.(map[string]any)
		fields, _ := m["fieldsV1"].(map[string]any)
		subresource, _ := m["subresource"].(string)
		out[fmt.Sprintf("%v/%v/%v/%s", m["manager"], m["operation"], m["apiVersion"], subresource)] = fields
	}
	return out
}

// Others lists what the others own more or less of an object after a write than before it,
// beside what the write has changed; nil where they own the same. others says of an entry, as
// Entries names it, whether it is one of theirs. The error is that of managedFields that
// cannot be read.
//
// Rules: KEP-555; docs/server-side.md.
func Others(before, after map[string]any, changes []merge.Change, others func(entry string) bool) ([]Breach, error) {
	var found []Breach
	was, is := Entries(before), Entries(after)
	for who, had := range was {
		if !others(who) {
			continue
		}
		lost, err := ownership.Minus(had, is[who])
		if err != nil {
			return nil, err
		}
		for _, path := range ownership.Leaves(lost) {
			if !slices.ContainsFunc(changes, func(c merge.Change) bool { return Within(c.Path, path) || Within(path, c.Path) }) {
				found = append(found, Breach{Owned, path, who + " has lost it, and nothing has changed in it"})
			}
		}
	}
	for who, has := range is {
		if !others(who) {
			continue
		}
		gained, err := ownership.Minus(has, was[who])
		if err != nil {
			return nil, err
		}
		for _, path := range ownership.Leaves(gained) {
			found = append(found, Breach{Owned, path, who + " has got it"})
		}
	}
	return found, nil
}

// Within reports whether q is p, or below it.
func Within(p, q merge.Path) bool {
	return len(p) <= len(q) && q[:len(p)].String() == p.String()
}
