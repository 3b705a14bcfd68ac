package merge

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

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
