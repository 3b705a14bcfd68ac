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

// ParsePath reads the grammar that Path.String prints. It also accepts a leading dot and
// single quotes. Errors name the column.
func ParsePath(text string) (Path, error) {
	p := pathParser{scanner{text: text}}
	path, err := p.parse()
	if err != nil {
		return nil, fmt.Errorf("path %s: column %d: %w", strconv.QuoteToGraphic(text), p.at+1, err)
	}
	return path, nil
}

type pathParser struct{ scanner }

func (p *pathParser) parse() (Path, error) {
	var path Path
	if p.text == "" {
		return nil, fmt.Errorf("is empty; a path looks like spec.containers[name=web].image")
	}
	if p.text == "." {
		return Path{}, nil
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '[':
			s, err := p.bracket()
			if err != nil {
				return nil, err
			}
			path = append(path, s)
		case len(path) == 0 && strings.HasPrefix(p.text[p.at:], ".["):
			p.at++
		case c == '.' || len(path) == 0:
			if c == '.' {
				p.at++
			}
			name := p.word(false)
			if name == "" {
				return nil, fmt.Errorf("a field name is missing; a path looks like spec.containers[name=web].image")
			}
			path = append(path, Step{Kind: FieldStep, Name: name})
		default:
			for _, in := range []string{"labels.", "annotations."} {
				if before, key, ok := strings.Cut(p.text, in); ok {
					return nil, fmt.Errorf("unexpected %q; did you mean %s[%q]?", c, before+strings.TrimSuffix(in, "."), key)
				}
			}
			if c == ',' || c == ' ' {
				return nil, fmt.Errorf("unexpected %q; several fields are arguments of their own, with spaces between them", c)
			}
			return nil, fmt.Errorf("unexpected %q; a name with such a character is written [\"…\"]", c)
		}
	}
	return path, nil
}

// word reads a name or a value without quotes. "*" is not a name of the API, but patterns are written in this grammar.
func (p *pathParser) word(value bool) string {
	start := p.at
	for p.at < len(p.text) && plainWord(p.text[p.at:p.at+1], value) || p.next() == '*' {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *pathParser) bracket() (Step, error) {
	p.at++ // [
	if p.at >= len(p.text) {
		return Step{}, fmt.Errorf("[ is not closed")
	}
	var err error
	var s Step
	switch c := p.next(); {
	case c == '=':
		p.at++
		s.Kind = ValueStep
		if s.Value, err = p.parseValue(); err != nil {
			return Step{}, err
		}
		return p.closed(s)
	case c >= '0' && c <= '9':
		s.Kind, s.Name = IndexStep, p.word(false)
	case c == '"' || c == '\'':
		if s.Name, err = p.quoted(); err != nil {
			return Step{}, err
		}
	default:
		if s.Name = p.word(true); s.Name == "" {
			return Step{}, fmt.Errorf("expected a key, an index or a quoted name")
		}
	}
	switch {
	case p.next() == '=':
		return p.keys(s.Name)
	case s.Kind == IndexStep:
		i, err := strconv.Atoi(s.Name)
		if err != nil {
			return Step{}, fmt.Errorf("%q is no index", s.Name)
		}
		s = Step{Kind: IndexStep, Index: i}
	}
	return p.closed(s)
}

func (p *pathParser) keys(first string) (Step, error) {
	s := Step{Kind: KeyStep}
	for name := first; ; {
		p.at++ // =
		v, err := p.parseValue()
		if err != nil {
			return Step{}, err
		}
		s.Keys = append(s.Keys, KeyPart{Name: name, Value: v})
		if p.next() != ',' {
			return p.closed(s)
		}
		p.at++
		if p.next() != '"' {
			name = p.word(false)
		} else if name, err = p.quoted(); err != nil {
			return Step{}, err
		}
		if name == "" || p.next() != '=' {
			return Step{}, fmt.Errorf("expected key=value")
		}
	}
}

// parseValue reads a quoted string, a number, a boolean, a bare word, or nothing (a
// missing key).
func (p *pathParser) parseValue() (any, error) {
	if c := p.next(); c == '"' || c == '\'' {
		return p.quoted()
	}
	switch w := p.word(true); {
	case w == "":
		return nil, nil
	case w == "true", w == "false":
		return w == "true", nil
	case isNumber(w):
		return json.Number(w), nil
	default:
		return w, nil
	}
}

func (p *pathParser) quoted() (string, error) {
	q := p.text[p.at]
	for i := p.at + 1; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case q:
			raw := p.text[p.at : i+1]
			if q == '\'' {
				p.at = i + 1
				return raw[1 : len(raw)-1], nil
			}
			s, err := strconv.Unquote(raw)
			if err != nil {
				return "", fmt.Errorf("%s is not a quoted string", raw)
			}
			p.at = i + 1
			return s, nil
		}
	}
	return "", fmt.Errorf("the quote is not closed")
}

// closed reads the ] and the ordinal after it.
func (p *pathParser) closed(s Step) (Step, error) {
	if p.next() != ']' {
		return Step{}, fmt.Errorf("expected ]")
	}
	p.at++
	if p.next() == '#' && (s.Kind == KeyStep || s.Kind == ValueStep) {
		p.at++
		start := p.at
		p.digits()
		n, err := strconv.Atoi(p.text[start:p.at])
		if err != nil || n < 1 {
			return Step{}, fmt.Errorf("expected a number from 1 after #")
		}
		s.Nth = n
	}
	return s, nil
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
