package merge

import (
	"encoding/json"
	"fmt"
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

// KeyPart is one key of a keyed list's entry and its value. A nil value stands
// for a missing key.
type KeyPart struct {
	Name    string
	Value   any
	Default bool // Value is the key's default, so that an entry without the key is meant too
}

// Path leads from the top of an object to a value; the empty Path is the
// object itself.
type Path []Step

// Named makes the Step to a field or map key.
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

// Child is the path one step further; p itself is left alone.
func (p Path) Child(s Step) Path { return append(p[:len(p):len(p)], s) }

// String prints the step as it stands inside a path.
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
		b.WriteByte(']')
		return
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

// literal prints a key's value. A string is quoted where it would otherwise read
// as something else; numbers and booleans stand bare, a missing key is empty.
func literal(v any, quoteAlways bool) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if !quoteAlways && plainWord(v, true) && !looksTyped(v) {
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

// quote escapes as JSON does, and control characters besides, so that no path
// carries a terminal escape.
func quote(s string) string { return strconv.QuoteToGraphic(s) }

// looksTyped: a bare word that ParsePath would read as a number or boolean.
func looksTyped(s string) bool {
	return s == "true" || s == "false" || isNumber(s)
}

func isNumber(s string) bool {
	if s == "" || !strings.ContainsAny(s[:1], "-0123456789") {
		return false
	}
	var n json.Number
	return json.Unmarshal([]byte(s), &n) == nil
}

// plainWord: a name that can stand bare. Values may hold dots and slashes too.
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

// ParsePath reads the grammar that Path.String prints; a leading dot is
// accepted, and so are single quotes. Errors name the column.
func ParsePath(text string) (Path, error) {
	p := pathParser{text: text}
	path, err := p.parse()
	if err != nil {
		return nil, fmt.Errorf("path %s: column %d: %w", strconv.QuoteToGraphic(text), p.at+1, err)
	}
	return path, nil
}

type pathParser struct {
	text string
	at   int
}

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
		case c == '.' && p.at+1 < len(p.text) && p.text[p.at+1] == '[' && len(path) == 0:
			p.at++
		case c == '.' || len(path) == 0:
			if c == '.' {
				p.at++
			}
			name := p.word(false)
			if name == "" {
				return nil, fmt.Errorf("a field name is missing")
			}
			path = append(path, Step{Kind: FieldStep, Name: name})
		default:
			return nil, fmt.Errorf("unexpected %q; a name with such a character is written [\"…\"]", c)
		}
	}
	return path, nil
}

func (p *pathParser) word(value bool) string {
	start := p.at
	for p.at < len(p.text) && plainWord(p.text[p.at:p.at+1], value) || p.wild() {
		p.at++
	}
	return p.text[start:p.at]
}

// wild: "*" is no name of the API's, but patterns are written in this grammar.
func (p *pathParser) wild() bool { return p.at < len(p.text) && p.text[p.at] == '*' }

func (p *pathParser) bracket() (Step, error) {
	p.at++ // [
	if p.at >= len(p.text) {
		return Step{}, fmt.Errorf("[ is not closed")
	}
	switch c := p.text[p.at]; {
	case c == '=':
		p.at++
		v, err := p.value()
		if err != nil {
			return Step{}, err
		}
		return p.closed(Step{Kind: ValueStep, Value: v})
	case c >= '0' && c <= '9':
		word := p.word(false)
		if p.at < len(p.text) && p.text[p.at] == '=' {
			return p.keys(word)
		}
		i, err := strconv.Atoi(word)
		if err != nil {
			return Step{}, fmt.Errorf("%q is no index", word)
		}
		return p.closed(Step{Kind: IndexStep, Index: i})
	case c == '"' || c == '\'':
		name, err := p.quoted()
		if err != nil {
			return Step{}, err
		}
		if p.at < len(p.text) && p.text[p.at] == '=' {
			return p.keys(name)
		}
		return p.closed(Step{Kind: FieldStep, Name: name})
	}
	name := p.word(true)
	if name == "" {
		return Step{}, fmt.Errorf("expected a key, an index or a quoted name")
	}
	if p.at < len(p.text) && p.text[p.at] == '=' {
		return p.keys(name)
	}
	return p.closed(Step{Kind: FieldStep, Name: name})
}

func (p *pathParser) keys(first string) (Step, error) {
	s := Step{Kind: KeyStep}
	for name := first; ; {
		p.at++ // =
		v, err := p.value()
		if err != nil {
			return Step{}, err
		}
		s.Keys = append(s.Keys, KeyPart{Name: name, Value: v})
		if p.at >= len(p.text) || p.text[p.at] != ',' {
			return p.closed(s)
		}
		p.at++
		if p.at < len(p.text) && p.text[p.at] == '"' {
			name, err = p.quoted()
			if err != nil {
				return Step{}, err
			}
		} else {
			name = p.word(false)
		}
		if name == "" || p.at >= len(p.text) || p.text[p.at] != '=' {
			return Step{}, fmt.Errorf("expected key=value")
		}
	}
}

// value reads a quoted string, a number, a boolean, a bare word, or nothing (a
// missing key).
func (p *pathParser) value() (any, error) {
	if p.at < len(p.text) && (p.text[p.at] == '"' || p.text[p.at] == '\'') {
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

// closed eats the ] and the ordinal behind it.
func (p *pathParser) closed(s Step) (Step, error) {
	if p.at >= len(p.text) || p.text[p.at] != ']' {
		return Step{}, fmt.Errorf("expected ]")
	}
	p.at++
	if p.at < len(p.text) && p.text[p.at] == '#' && (s.Kind == KeyStep || s.Kind == ValueStep) {
		p.at++
		start := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		n, err := strconv.Atoi(p.text[start:p.at])
		if err != nil || n < 1 {
			return Step{}, fmt.Errorf("expected a number from 1 after #")
		}
		s.Nth = n
	}
	return s, nil
}
