package merge

// Put returns an object with a value at the path, and the maps, lists and entries on the way that
// are missing. The error names a step that leads into a value of another kind.
func Put(obj map[string]any, path Path, value any) (map[string]any, error) {
	var steps []Change
	for i := 1; i < len(path); i++ {
		if at, ok := Lookup(obj, path[:i], nil); !ok || at == nil {
			steps = append(steps, Change{Op: OpSet, Path: path[:i], New: Some(empty(path[i-1], path[i]))})
		}
	}
	out, err := Replay(obj, append(steps, Change{Op: OpSet, Path: path, New: Some(value)}))
	if err != nil {
		return nil, err
	}
	return out.(map[string]any), nil
}

// empty returns a new value at a step, with its identifying keys, to hold the next one.
func empty(at, next Step) any {
	if next.Kind != FieldStep {
		return []any{}
	}
	m := map[string]any{}
	for _, k := range at.Keys {
		if k.Value != nil {
			m[k.Name] = k.Value
		}
	}
	return m
}
