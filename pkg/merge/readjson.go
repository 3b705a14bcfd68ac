package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ReadJSON decodes one JSON value and keeps its numbers as text (json.Number). Anything but
// white space after the value is an error. The value's texts share one copy of data.
func ReadJSON(data []byte) (any, error) {
	p := jsonParser{scanner: scanner{text: string(data)}}
	p.blank()
	v, ok := p.parseValue(0)
	if p.blank(); ok && p.at == len(p.text) {
		return v, nil
	}
	return readJSONSlowly(data)
}

// readJSONSlowly reads any JSON with the standard library, whose errors explain what is not JSON.
func readJSONSlowly(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return v, nil
}

// jsonParser reads JSON as servers write it, in a third of the time of the standard
// library. The library checks all of the text before it reads any, and copies each string.
// Unusual input, errors included, is left to the library.
type jsonParser struct {
	scanner

	// keys and values of the objects and lists that are still open.
	keys   []string
	values []any
}

// parserDepth is the nesting depth from which a text is left to the library.
const parserDepth = 500

func (p *jsonParser) blank() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\n', '\t', '\r':
			p.at++
		default:
			return
		}
	}
}

// scanner is a text that is read from its beginning, and how far.
type scanner struct {
	text string
	at   int
}

// next returns the next byte, 0 at the end.
func (p *scanner) next() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// eat steps over white space and c, if c comes next.
func (p *jsonParser) eat(c byte) bool {
	p.blank()
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

func (p *jsonParser) parseValue(depth int) (any, bool) {
	switch c := p.next(); {
	case depth > parserDepth:
		return nil, false
	case c == '"':
		return p.str()
	case c == '{':
		return p.parseObject(depth)
	case c == '[':
		return p.list(depth)
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, w := range jsonWords {
		if strings.HasPrefix(p.text[p.at:], w.text) {
			p.at += len(w.text)
			return w.value, true
		}
	}
	return nil, false
}

var jsonWords = []struct {
	text  string
	value any
}{{"null", nil}, {"true", true}, {"false", false}}

func (p *jsonParser) parseObject(depth int) (any, bool) {
	keys, values := len(p.keys), len(p.values)
	read := p.members(func(key string) (more, ok bool) {
		v, ok := p.parseValue(depth + 1)
		p.keys, p.values = append(p.keys, key), append(p.values, v)
		return true, ok
	})
	if !read {
		return nil, false
	}
	m := make(map[string]any, len(p.keys)-keys)
	for i, key := range p.keys[keys:] {
		m[key] = p.values[values+i]
	}
	p.keys, p.values = p.keys[:keys], p.values[:values]
	return m, true
}

func (p *jsonParser) list(depth int) (any, bool) {
	values := len(p.values)
	read := p.entries(func() bool {
		v, ok := p.parseValue(depth + 1)
		p.values = append(p.values, v)
		return ok
	})
	if !read {
		return nil, false
	}
	list := append([]any{}, p.values[values:]...)
	p.values = p.values[:values]
	return list, true
}

// number reads a number's text. A letter or digit that does not belong to it is found by
// the caller, which expects a comma.
func (p *jsonParser) number() (json.Number, bool) {
	start := p.at
	if p.next() == '-' {
		p.at++
	}
	if p.next() == '0' {
		p.at++
	} else if !p.digits() {
		return "", false
	}
	if p.next() == '.' {
		p.at++
		if !p.digits() {
			return "", false
		}
	}
	if c := p.next(); c == 'e' || c == 'E' {
		p.at++
		if c := p.next(); c == '+' || c == '-' {
			p.at++
		}
		if !p.digits() {
			return "", false
		}
	}
	return json.Number(p.text[start:p.at]), true
}

// digits steps over digits, and reports whether there are any.
func (p *scanner) digits() bool {
	start := p.at
	for c := p.next(); c >= '0' && c <= '9'; c = p.next() {
		p.at++
	}
	return p.at > start
}

// str reads the string that begins here: a part of the text, if nothing in it is escaped.
func (p *jsonParser) str() (string, bool) {
	p.at++
	for i := p.at; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			s := p.text[p.at:i]
			p.at = i + 1
			return s, utf8.ValidString(s)
		case c == '\\':
			return p.escaped(i)
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped reads the string that begins here and has its first escape at i.
func (p *jsonParser) escaped(i int) (string, bool) {
	end := i
	for end < len(p.text) && p.text[end] != '"' {
		if p.text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(p.text) {
		return "", false
	}
	b := make([]byte, 0, end-p.at)
	for at := p.at; at < end; {
		switch c := p.text[at]; {
		case c < ' ':
			return "", false
		case c != '\\':
			b = append(b, c)
			at++
		case p.text[at+1] == 'u':
			r, ok := codeUnit(p.text[at+2 : end])
			if !ok {
				return "", false
			}
			b = utf8.AppendRune(b, r)
			at += 6
		default:
			plain := strings.IndexByte(`"\/bfnrt`, p.text[at+1])
			if plain < 0 {
				return "", false
			}
			b = append(b, "\"\\/\b\f\n\r\t"[plain])
			at += 2
		}
	}
	p.at = end + 1
	return string(b), utf8.Valid(b)
}

// codeUnit reads the four digits behind \u. One half of a surrogate pair is left to the
// library.
func codeUnit(text string) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:4], 16, 32)
	if err != nil || n >= 0xd800 && n < 0xe000 {
		return 0, false
	}
	return rune(n), true
}
