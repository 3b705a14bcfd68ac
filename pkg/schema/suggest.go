package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// formerly has fields of earlier versions of a kind that another name or place has taken since: those
// of extensions/v1beta1 Ingress.
var formerly = map[string]merge.Path{
	"serviceName": {merge.Named("service"), merge.Named("name")},
	"servicePort": {merge.Named("service"), merge.Named("port"), merge.Named("number")},
	"backend":     {merge.Named("defaultBackend")},
}

// Suggest returns the declared field that was probably meant by the last step of an undeclared path: what
// has taken its place since an earlier version, or one of a near name, or else the path of the nearest one
// of the same name, up to three levels away, in which [*] is any entry of a list; "" where there is none. In
// an object that is hardly more than a map, as a selector or resources, it is a key of that.
func Suggest(t *merge.Type, p merge.Path) string {
	last := len(p) - 1
	if parent, ok := FieldAt(t, p[:max(last, 0)]); ok && last >= 0 && parent.Type != nil && parent.Type.Kind == merge.Object {
		if now := formerly[p[last].Name]; now != nil && parent.Type.At(now) != nil {
			return now.String()
		}
		names := slices.Sorted(maps.Keys(parent.Type.Fields))
		if near := suggest.Name(p[last].Name, names); near != "" {
			return near
		}
		for _, name := range slices.Backward(names) { // requests rather than limits
			if of := parent.Type.Fields[name].Type; of != nil && of.Kind == merge.Map && len(names) <= 3 && last > 0 {
				return p[:last].Child(merge.Named(name)).Child(p[last]).String()
			}
		}
	}
	for far := 1; far <= 3; far++ {
		for up := min(far, last); up >= 0; up-- {
			around := p[:last-up]
			f, _ := FieldAt(t, around)
			if found := declaredBelow(f.Type, p[last].Name, far-up); found != "" {
				return strings.TrimLeft(around.String()+found, ".")
			}
		}
	}
	return ""
}

// declaredBelow returns the rest of the path of a field of that name so many levels below t; "" where there is none.
func declaredBelow(t *merge.Type, name string, levels int) string {
	entry := ""
	if t != nil && isList(t) {
		t, entry = t.Elem, "[*]"
	}
	switch {
	case levels == 0 && declares(t, merge.Named(name)):
		return entry + "." + name
	case levels == 0 || t == nil:
		return ""
	}
	for _, field := range slices.Sorted(maps.Keys(t.Fields)) {
		if found := declaredBelow(t.Fields[field].Type, name, levels-1); found != "" && field != "status" {
			return entry + "." + field + found
		}
	}
	return ""
}

// Nearest returns the path that was probably meant by p, which none of the objects has. It
// looks for a field in what t, their type, declares and what they have, in spec if that is
// left out, and for an entry of a list by its keys. So containers[web], containers[0] and,
// before a field of it, containers lead to containers[name=web]. It is nil where no path is
// near; t may be nil.
func Nearest(t *merge.Type, p merge.Path, objects ...any) merge.Path {
	var out merge.Path
	typed, at := p.String(), objects
	for i := 0; i < len(p); i++ {
		s := p[i]
		if n, err := strconv.ParseUint(s.Name, 10, 31); err == nil && slices.ContainsFunc(at, func(v any) bool { _, list := v.([]any); return list }) {
			s = merge.Step{Kind: merge.IndexStep, Index: int(n)} // containers.0
		}
		next := reached(t, at, s)
		counted := s.Kind == merge.IndexStep && t != nil && (t.Kind == merge.Keyed || t.Kind == merge.Set)
		if counted || len(next) == 0 && !declares(t, s) {
			near, ok := leftOut(t, at, p[i:])
			if ok {
				p = slices.Insert(slices.Clone(p), i, near)
			} else if near, ok = nearStep(t, at, s); !ok {
				return belowSpec(t, p, i, objects)
			}
			s, next = near, reached(t, at, near)
		}
		out, at = append(out, s), next
		t = t.At(merge.Path{s})
	}
	if out.String() == typed {
		return nil
	}
	return out
}

// belowSpec returns the path of a field that was named without what it is below: spec, or a template's spec; nil
// if p, which is wrong from step i on, is not of such a field.
func belowSpec(t *merge.Type, p merge.Path, i int, objects []any) merge.Path {
	spec, template := merge.Named("spec"), merge.Named("template")
	for _, left := range []merge.Path{{spec}, {template, spec}, {spec, template, spec}} {
		below, around := slices.Concat(p[:i], left, p[i:]), i+len(left)
		for _, o := range objects {
			if _, has := merge.Lookup(o, below[:around], t); has {
				if near := leading(t, o, below); near != nil {
					return near
				}
			}
		}
	}
	return nil
}

// leftOut returns the entry of lists of type t that a path probably meant which goes on
// with rest, beginning with a field: containers.image does not state the container. It is
// the first that has all of rest, or else only its first field. Else it is the first entry,
// where the type declares the field, and none has it.
func leftOut(t *merge.Type, lists []any, rest merge.Path) (entry merge.Step, ok bool) {
	if rest[0].Kind != merge.FieldStep {
		return entry, false
	}
	for _, fits := range []func(below *merge.Type, v any) bool{
		func(below *merge.Type, v any) bool { return leading(below, v, rest) != nil },
		func(below *merge.Type, v any) bool { return len(reached(below, []any{v}, rest[0])) > 0 },
		func(below *merge.Type, _ any) bool { return declares(below, rest[0]) },
	} {
		for _, v := range lists {
			list, _ := v.([]any) // what is no list has no entries
			for i, step := range EntrySteps(t, list) {
				if step.Kind == merge.KeyStep && fits(t.At(merge.Path{step}), list[i]) {
					return step, true
				}
			}
		}
	}
	return entry, false
}

// leading returns p, or a path near to it, if v, of type t, has it; else nil.
func leading(t *merge.Type, v any, p merge.Path) merge.Path {
	if near := Nearest(t, p, v); near != nil {
		p = near
	}
	if _, has := merge.Lookup(v, p, t); !has {
		return nil
	}
	return p
}

// reached returns the values that a step leads to from those of type t.
func reached(t *merge.Type, values []any, s merge.Step) (out []any) {
	for _, v := range values {
		if e, ok := merge.Lookup(v, merge.Path{s}, t); ok {
			out = append(out, e)
		}
	}
	return out
}

func declares(t *merge.Type, s merge.Step) bool {
	if t == nil || s.Kind != merge.FieldStep {
		return false
	}
	_, declared := t.Fields[s.Name]
	return declared
}

// nearStep returns the step from the values of type t that was probably meant by s.
func nearStep(t *merge.Type, values []any, s merge.Step) (near merge.Step, ok bool) {
	var names []string
	if t != nil {
		names = slices.Collect(maps.Keys(t.Fields))
	}
	entries := map[string]merge.Step{}
	for _, v := range values {
		switch v := v.(type) {
		case map[string]any:
			names = slices.AppendSeq(names, maps.Keys(v))
		case []any:
			for i, step := range EntrySteps(t, v) {
				if s.Kind == merge.IndexStep && s.Index == i && step.Kind != merge.IndexStep {
					return step, true
				}
				entries[stepText(step)] = step
			}
		}
	}
	if len(entries) == 0 {
		slices.Sort(names)
		name := suggest.Name(s.Name, names)
		return merge.Named(name), name != "" && s.Kind == merge.FieldStep
	}
	near, ok = entries[suggest.Name(stepText(s), slices.Sorted(maps.Keys(entries)))]
	return near, ok && near.Kind != merge.IndexStep
}

// stepText returns what a step states about an entry, in any form: the name, or the values
// of the keys.
func stepText(s merge.Step) string {
	switch s.Kind {
	case merge.FieldStep:
		return s.Name
	case merge.ValueStep:
		return plain(s.Value)
	}
	values := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		values[i] = plain(k.Value)
	}
	return strings.Join(values, ",")
}

// Served lists what a server has.
type Served struct {
	Kinds    []string // of the apiVersion in question
	Versions []string // other apiVersions that may have the kind

	// Has reports whether the server has a kind; nil where no server can be asked.
	Has func(apiVersion, kind string) bool
}

// SuggestKind returns the kind that was probably meant by one that does not exist. It is
// one of those that the server has under the same apiVersion. Else it is the one of the same
// name under another apiVersion, which is one of Versions or of the built-in types'. Both
// results are "" where none is near.
func SuggestKind(apiVersion, kind string, s Served) (nearVersion, near string) {
	if near := suggest.Name(kind, s.Kinds); near != "" {
		return apiVersion, near
	}
	versions := slices.DeleteFunc(slices.Clone(s.Versions), func(v string) bool { return s.Has == nil || !s.Has(v, kind) })
	if len(versions) > 0 {
		near = kind
	}
	for _, k := range builtinKinds() {
		v := strings.TrimPrefix(k.Group+"/"+k.Version, "/")
		if strings.EqualFold(k.Kind, kind) && k.Resource != "" && v != apiVersion && (s.Has == nil || s.Has(v, k.Kind)) {
			near = k.Kind
			versions = append(versions, v)
		}
	}
	if len(versions) == 0 {
		return "", ""
	}
	stable := slices.IndexFunc(versions, func(v string) bool { return !strings.Contains(v, "alpha") && !strings.Contains(v, "beta") })
	return versions[max(stable, 0)], near
}
