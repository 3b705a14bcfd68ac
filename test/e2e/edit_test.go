package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
)

// edit gives live with one or two changes, as others make them: a label, a value
// of another manifest of the same kind, something taken away, an entry of their own
// in a list, a list in another order. Whatever the server keeps to itself is left
// alone, and plays no part in what is chosen.
func edit(r *rand.Rand, live, other map[string]any) map[string]any {
	var out any = deepCopy(live)
	for range 1 + r.IntN(2) {
		switch r.IntN(8) {
		case 0:
			word := []string{"labels", "annotations"}[r.IntN(2)]
			out = setAt(out, []any{"metadata", word, "theirs"}, []string{"kept", "other"}[r.IntN(2)])
		case 1, 2:
			if paths := places(other, nil, anything); len(paths) > 0 {
				p := paths[r.IntN(len(paths))]
				out = setAt(out, named(p, other), deepCopy(at(other, p)))
			}
		case 3:
			if paths := places(out, nil, anything); len(paths) > 0 {
				out = dropAt(out, paths[r.IntN(len(paths))])
			}
		case 4, 5:
			if paths := places(out, nil, isList); len(paths) > 0 {
				p := paths[r.IntN(len(paths))]
				out = setAt(out, p, injected(r, at(out, p).([]any)))
			}
		case 6:
			if paths := places(out, nil, isList); len(paths) > 0 {
				p := paths[r.IntN(len(paths))]
				list := at(out, p).([]any)
				out = setAt(out, p, append(slices.Clone(list[1:]), list[0]))
			}
		case 7:
			if paths := places(out, nil, hasKey); len(paths) > 0 {
				p := paths[r.IntN(len(paths))]
				out = setAt(out, p, rekeyed(r, at(out, p).(map[string]any)))
			}
		}
	}
	return out.(map[string]any)
}

func anything(any) bool { return true }

func isList(v any) bool { list, ok := v.([]any); return ok && len(list) > 0 }

// rekeys are other values of fields by which entries of lists are identified.
var rekeys = map[string]func(any) any{
	"protocol":          either("TCP", "UDP"),
	"whenUnsatisfiable": either("DoNotSchedule", "ScheduleAnyway"),
	"port":              another,
	"containerPort":     another,
}

// either is the one of two values that another one is not.
func either(a, b string) func(any) any {
	return func(v any) any {
		if v == a {
			return b
		}
		return a
	}
}

func another(v any) any {
	n, err := strconv.Atoi(fmt.Sprint(v))
	if err != nil {
		return v
	}
	return json.Number(strconv.Itoa(n + 100))
}

func hasKey(v any) bool { return len(keysIn(v)) > 0 }

func keysIn(v any) (names []string) {
	m, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if rekeys[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// rekeyed is an entry with another value of one of its keys.
func rekeyed(r *rand.Rand, e map[string]any) map[string]any {
	names := keysIn(e)
	name := names[r.IntN(len(names))]
	e = maps.Clone(e)
	e[name] = rekeys[name](e[name])
	return e
}

// kept are fields at the top of an object, and of its metadata, that no edit
// touches.
var kept = map[string]bool{"apiVersion": true, "kind": true, "status": true, "finalizers": true, "ownerReferences": true, lastAppliedKey: true,
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "generation": true, "creationTimestamp": true, "managedFields": true,
	"deletionTimestamp": true, "deletionGracePeriodSeconds": true, "generateName": true, "selfLink": true}

const lastAppliedKey = "kubectl.kubernetes.io/last-applied-configuration"

// places lists the paths of an object, or of a part of it, that lead to what is
// wanted, in an order that is the same for equal objects. A step is a string or an
// int.
func places(v any, above []any, wanted func(any) bool) [][]any {
	var out [][]any
	visit := func(step any, e any) {
		p := append(slices.Clone(above), step)
		if wanted(e) && !(len(p) == 1 && step == "metadata") {
			out = append(out, p)
		}
		out = append(out, places(e, p, wanted)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if top := len(above) == 0 || len(above) <= 2 && above[0] == "metadata"; !top || !kept[name] {
				visit(name, v[name])
			}
		}
	case []any:
		for i, e := range v {
			visit(i, e)
		}
	}
	return out
}

func at(v any, p []any) any {
	for _, step := range p {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			list, _ := v.([]any)
			if s >= len(list) {
				return nil
			}
			v = list[s]
		}
	}
	return v
}

// entryNamed is the step to the entry of that name.
type entryNamed string

// named has steps to entries that have a name go by it.
func named(p []any, in any) []any {
	out := slices.Clone(p)
	for i, step := range p {
		if _, ok := step.(int); !ok {
			continue
		}
		if e, _ := at(in, p[:i+1]).(map[string]any); e != nil {
			if name, ok := e["name"].(string); ok && i+1 < len(p) {
				out[i] = entryNamed(name)
			}
		}
	}
	return out
}

// setAt puts a value where a path leads, making what is on the way; an entry that
// is not there comes last.
func setAt(v any, p []any, to any) any {
	if len(p) == 0 {
		return to
	}
	if name, ok := p[0].(string); ok {
		m, _ := v.(map[string]any)
		if m = maps.Clone(m); m == nil {
			m = map[string]any{}
		}
		m[name] = setAt(m[name], p[1:], to)
		return m
	}
	list, _ := v.([]any)
	list = slices.Clone(list)
	i, ok := p[0].(int)
	if !ok {
		i = slices.IndexFunc(list, func(e any) bool {
			m, _ := e.(map[string]any)
			return m["name"] == string(p[0].(entryNamed))
		})
	}
	if i < 0 || i >= len(list) {
		return append(list, setAt(nil, p[1:], to))
	}
	list[i] = setAt(list[i], p[1:], to)
	return list
}

func dropAt(v any, p []any) any {
	last := len(p) - 1
	switch parent := at(v, p[:last]).(type) {
	case map[string]any:
		m := maps.Clone(parent)
		delete(m, p[last].(string))
		return setAt(v, p[:last], m)
	case []any:
		i := p[last].(int)
		return setAt(v, p[:last], slices.Delete(slices.Clone(parent), i, i+1))
	}
	return v
}

// injected is a list with another manager's entry: a copy of one of its own with
// another name, another port, another path.
func injected(r *rand.Rand, list []any) []any {
	var entry any
	switch e := deepCopy(list[r.IntN(len(list))]).(type) {
	case string:
		entry = e + "-theirs"
	case map[string]any:
		for _, key := range []string{"name", "mountPath", "key", "topologyKey", "host"} {
			if text, ok := e[key].(string); ok {
				e[key] = text + "theirs"
			}
		}
		for _, key := range []string{"port", "containerPort"} {
			if n, err := strconv.Atoi(fmt.Sprint(e[key])); err == nil {
				e[key] = json.Number(strconv.Itoa(n + 1000))
			}
		}
		delete(e, "nodePort")
		entry = e
	default:
		return list
	}
	return slices.Insert(slices.Clone(list), r.IntN(len(list)+1), entry)
}

func deepCopy[T any](v T) T {
	switch w := any(v).(type) {
	case map[string]any:
		m := make(map[string]any, len(w))
		for k, e := range w {
			m[k] = deepCopy(e)
		}
		return any(m).(T)
	case []any:
		l := make([]any, len(w))
		for i, e := range w {
			l[i] = deepCopy(e)
		}
		return any(l).(T)
	}
	return v
}
