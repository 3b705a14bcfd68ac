package merge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Default is one value that the server fills in by a rule of its own. A fixed default of
// the field (Field.Default) cannot state it: the value depends on other fields, or on what
// contains the field.
//
// Source: the SetDefaults functions of k8s.io/kubernetes/pkg/apis, and what admission
// plugins and API strategies add when an object is written.
type Default struct {
	// Path leads to the field that is filled in, from a value of the type that has the
	// rule. "*" stands for every entry of a list. A name that ends in "?" is not created
	// where it is missing.
	Path []string

	// Value is filled in where the field is unset. From names another field whose value is
	// used instead: a path from what holds the field, or from the value of the type where
	// it begins with "". If Value is a text too, it is appended to From's text.
	Value any
	From  []string

	// Each fills in the keys of From that a map lacks. Lower makes From lower case. Remove
	// removes the field. Append puts Value at the end of a list. Always sets the field even
	// if it has a value. Stays fills in nothing, but an update that leaves the field out
	// keeps it; see Refilled. Moot fills in nothing, but an update after which the
	// conditions hold makes the field obsolete; Refused says that the server does not take it out itself.
	// At the end of both paths of such a rule, "*" is a key that two maps have.
	Each, Lower, Remove, Append, Always, Stays, Moot, Refused bool

	// If holds the conditions that must all be met.
	If []Condition

	// Admission marks a rule that is not part of the defaulting functions.
	Admission bool
}

// ConditionKind says what a Condition checks.
type ConditionKind uint8

// The kinds of a Condition.
const (
	IfIs     ConditionKind = iota + 1 // the field is Text, after what was filled in so far
	IfSet                             // the field has a value, after what was filled in so far
	IfUnset                           // the field had no value at first
	IfNot                             // the field is not Text, after what was filled in so far
	IfLatest                          // the field is the name of an image that means the tag "latest"
	IfAlone                           // no field but this one is set
	IfNone                            // no entry of the list tolerates the taint Text
)

// Condition is one condition of a Default.
type Condition struct {
	Kind ConditionKind
	Path []string // from a value of the type that has the rule
	Text string
}

// holds reports whether a value of the type meets the condition. stated is that value
// before anything was filled in, now is the value as filled in so far.
func (c Condition) holds(t *Type, stated, now map[string]any) bool {
	switch c.Kind {
	case IfIs, IfNot:
		is := At[any](now, c.Path...)
		text, isText := is.(string)
		if is != nil && !isText { // a number, or true
			text = fmt.Sprint(is)
		}
		return (is != nil && text == c.Text) == (c.Kind == IfIs)
	case IfSet:
		return !c.unset(t, now)
	case IfUnset:
		return c.unset(t, stated)
	case IfLatest:
		return meansLatest(At[string](now, c.Path...))
	case IfAlone:
		return isZero(Without(now, c.Path[0]), t)
	case IfNone:
		return !slices.ContainsFunc(At[[]any](now, c.Path...), func(e any) bool { return tolerates(e, c.Text) })
	}
	return false
}

// unset reports whether the value of the type has nothing at the condition's path.
func (c Condition) unset(t *Type, v map[string]any) bool {
	last := len(c.Path) - 1
	for _, name := range c.Path[:last] {
		t = t.Field(name).Type
	}
	return t.Field(c.Path[last]).unset(At[any](v, c.Path...))
}

// tolerates reports whether the toleration covers the taint of that key and effect
// NoExecute (plugin/pkg/admission/defaulttolerationseconds).
func tolerates(toleration any, taint string) bool {
	key, effect := At[string](toleration, "key"), At[string](toleration, "effect")
	return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
}

// imageName matches a reference to an image, as the distribution project defines it. It is
// compiled only where a field depends on one, as that takes long.
var imageName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((?:[a-zA-Z0-9.-]+|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*(?::([\w][\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`)
})

// meansLatest reports whether the image's tag is "latest", or it has neither tag nor digest
// (k8s.io/kubernetes/pkg/util/parsers). A name that cannot be read means no tag.
func meansLatest(image string) bool {
	part := imageName().FindStringSubmatch(image)
	return part != nil && (part[2] == "latest" || part[2] == "" && part[3] == "")
}

// put fills the rule's value in and returns what holds it, or v itself where there is
// nothing to do. v is the value at depth steps of the path, t its type.
func (d *Default) put(root map[string]any, v any, t *Type, path []string) any {
	if path[0] == "*" {
		list, _ := v.([]any)
		if list == nil {
			return v
		}
		return Rebuilt(list, func(e any) any { return d.put(root, e, t.EntryType(), path[1:]) })
	}
	m, isMap := v.(map[string]any)
	if !isMap && v != nil {
		return v
	}
	name, keep := strings.CutSuffix(path[0], "?")
	f := t.Field(name)
	if len(path) == 1 {
		return d.fill(root, m, name, f)
	}
	next := m[name]
	if keep && next == nil {
		return v
	}
	if next == nil && path[1] != "*" {
		next = map[string]any{}
	}
	n := d.put(root, next, f.Type, path[1:])
	if n == nil || m[name] != nil && shared(n, m[name]) || m[name] == nil && isZero(n, nil) {
		return v
	}
	return With(m, n, name)
}

// fill sets the field of m that the rule is about.
func (d *Default) fill(root, m map[string]any, name string, f Field) any {
	value := d.defaultValue(root, m)
	switch {
	case d.Remove:
		return Without(m, name)
	case value == nil:
		return m
	case d.Append:
		list, _ := m[name].([]any)
		return With(m, append(list[:len(list):len(list)], value), name)
	case d.Each:
		return d.each(m, name, value)
	case !d.Always && !f.unset(m[name]):
		return m
	}
	return With(m, value, name)
}

// each adds the keys of from that the map m[name] lacks.
func (d *Default) each(m map[string]any, name string, from any) any {
	now, _ := m[name].(map[string]any)
	out := edited{fields: now}
	for k, v := range At[map[string]any](from) {
		if now[k] == nil && v != nil {
			out.put(k, Some(v))
		}
	}
	if len(out.fields) == len(now) {
		return m
	}
	return With(m, out.fields, name)
}

// defaultValue returns the value that the rule fills in; nil for nothing.
func (d *Default) defaultValue(root, m map[string]any) any {
	if d.From == nil {
		return d.Value
	}
	v := At[any](m, d.From...)
	if d.From[0] == "" {
		v = At[any](root, d.From[1:]...)
	}
	if isZero(v, nil) {
		return nil
	}
	text, isText := v.(string)
	if isText && d.Lower {
		return strings.ToLower(text)
	}
	if suffix, ok := d.Value.(string); ok && isText {
		return text + suffix
	}
	return v
}

// unset reports whether the server takes the value v of the field for unset.
func (f Field) unset(v any) bool {
	return v == nil && !f.Nullable || f.ZeroIsAbsent && isZero(v, f.Type)
}
