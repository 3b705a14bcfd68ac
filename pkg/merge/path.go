package merge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// StepKind says how a Step leads one level down.
type StepKind uint8

// The kinds of a Step.
const (
	FieldStep StepKind = iota // .name or ["name"]: a field of an object or a key of a map
	KeyStep                   // [a=1,b=x]: the entry of a keyed list with those keys
	ValueStep                 // [="v"]: the entry of a set
	IndexStep                 // [0]: an entry of an atomic list
)

// Step leads one level down.
type Step struct {
	Kind  StepKind
	Name  string    // FieldStep
	Keys  []KeyPart // KeyStep, in the order of the list's keys, defaults filled in
	Value any       // ValueStep
	Index int       // IndexStep, from 0
	Nth   int       // KeyStep, ValueStep: 2 for the second entry with this identity, and so on; 0 and 1 both mean the first
}

// KeyPart is one key of a keyed list's entry and its value. A nil value stands for a
// missing key.
type KeyPart struct {
	Name    string
	Value   any
	Default bool // Value is the key's default, so that an entry without the key is meant too
}

// Path leads from the top of an object to a value; the empty Path is the
// object itself.
type Path []Step

// Named returns the Step to a field or map key.
func Named(name string) Step { return Step{Kind: FieldStep, Name: name} }

// String prints the path in the one grammar that ParsePath reads:
// spec.containers[name=web].ports[containerPort=53,protocol=UDP].hostPort,
// metadata.labels["a.b/c"], [0], [="v"], [name=A]#2. The empty path is ".".
func (p Path) String() string {
	if len(p) == 0 {
		return "."
	}
	var b strings.Builder
	for i, s := range p {
		s.write(&b, i == 0)
	}
	return b.String()
}

// Leads reports whether the value at q is the one at the path, or a part of it.
func (p Path) Leads(q Path) bool { return len(p) <= len(q) && p.String() == q[:len(p)].String() }

// Child returns the path extended by one step; p is not modified.
func (p Path) Child(s Step) Path { return append(p[:len(p):len(p)], s) }

// String prints the step as it appears inside a path.
func (s Step) String() string { return Path{s}.String() }

func (s Step) write(b *strings.Builder, first bool) {
	switch s.Kind {
	case FieldStep:
		switch {
		case !plainWord(s.Name, false):
			b.WriteByte('[')
			b.WriteString(quote(s.Name))
			b.WriteByte(']')
			return
		case !first:
			b.WriteByte('.')
		}
		b.WriteString(s.Name)
		return
	case IndexStep:
		b.WriteByte('[')
		b.WriteString(strconv.Itoa(s.Index))
	case ValueStep:
		b.WriteString("[=")
		b.WriteString(literal(s.Value, true))
	case KeyStep:
		b.WriteByte('[')
		for i, k := range s.Keys {
			if i > 0 {
				b.WriteByte(',')
			}
			if plainWord(k.Name, false) {
				b.WriteString(k.Name)
			} else {
				b.WriteString(quote(k.Name))
			}
			b.WriteByte('=')
			b.WriteString(literal(k.Value, false))
		}
	}
	b.WriteByte(']')
	if s.Nth > 1 {
		b.WriteByte('#')
		b.WriteString(strconv.Itoa(s.Nth))
	}
}

// literal prints a key's value. A string is quoted where it would otherwise read as
// something else. Numbers and booleans are not quoted, a missing key is empty.
func literal(v any, quoteAlways bool) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if !quoteAlways && plainWord(v, true) && v != "true" && v != "false" && !isNumber(v) { // ParsePath reads it as a string
			return v
		}
		return quote(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return quote(fmt.Sprint(v))
	}
	return quote(string(text))
}

// quote escapes as JSON does, and control characters too, so that no path carries a
// terminal escape.
func quote(s string) string { return strconv.QuoteToGraphic(s) }

func isNumber(s string) bool {
	if s == "" || !strings.ContainsAny(s[:1], "-0123456789") {
		return false
	}
	var n json.Number
	return json.Unmarshal([]byte(s), &n) == nil
}

// plainWord reports whether a name needs no quotes. Values may hold dots and slashes too.
func plainWord(s string, value bool) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '$':
		case value && (c == '.' || c == '/' || c == ':' || c == '@' || c == '+'):
		default:
			return false
		}
	}
	return true
}

// Detached copies a value so that its texts have memory of their own. The texts that
// ReadJSON returns are parts of the whole text that was read, and each keeps that in
// memory. v is not modified; a value that is not JSON is returned as it is.
func Detached(v any) any {
	text, err := WriteJSON(v, false)
	if err != nil {
		return v
	}
	own, err := ReadJSON(text)
	if err != nil {
		return v
	}
	return own
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
