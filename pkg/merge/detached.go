package merge

import (
	"encoding/json"
	"slices"
	"strings"
)

// Detached copies a value so that its texts have memory of their own. The texts that
// ReadJSON returns are parts of the whole text that was read, and each keeps that in
// memory. v is not modified; a value that is not JSON is returned as it is.
func Detached(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, e := range v {
			m[strings.Clone(name)] = Detached(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = Detached(e)
		}
		return l
	case string:
		return strings.Clone(v)
	case json.Number:
		return json.Number(strings.Clone(string(v)))
	}
	return v
}

// Detached copies the value as the function Detached does; one that is not set stays so.
func (o Opt) Detached() Opt {
	o.Value = Detached(o.Value)
	return o
}

// Detached copies the path, so that its texts have memory of their own; nil for nil.
func (p Path) Detached() Path {
	p = slices.Clone(p)
	for i, s := range p {
		s.Name, s.Value, s.Keys = strings.Clone(s.Name), Detached(s.Value), slices.Clone(s.Keys)
		for k, part := range s.Keys {
			s.Keys[k].Name, s.Keys[k].Value = strings.Clone(part.Name), Detached(part.Value)
		}
		p[i] = s
	}
	return p
}

// Detached copies the owner, so that its texts have memory of their own.
func (o Owner) Detached() Owner {
	o.Manager, o.Operation, o.Subresource = strings.Clone(o.Manager), strings.Clone(o.Operation), strings.Clone(o.Subresource)
	return o
}
