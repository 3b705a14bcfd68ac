package merge

// ownedBy are the owners of fields, by manager, as trees of names.
type ownedBy map[string]any

func (o ownedBy) At(p Path) []Owner {
	var out []Owner
	for manager, fields := range o {
		for _, s := range p {
			m, _ := fields.(map[string]any)
			fields = m[s.Name]
		}
		if fields != nil {
			out = append(out, Owner{Manager: manager, Operation: "Update"})
		}
	}
	return out
}
