package merge

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// WriteJSON writes a JSON value as encoding/json's Encoder does, byte for byte: compact,
// keys in order, numbers digit for digit, a newline at the end. With html, <, > and & are
// escaped. v may hold whatever the Encoder takes; a value from ReadJSON takes half the
// Encoder's time. The error is the Encoder's, for what JSON cannot hold.
func WriteJSON(v any, html bool) ([]byte, error) {
	w := jsonWriters.Get().(*jsonWriter)
	defer func() {
		clear(w.keys[:cap(w.keys)]) // they are parts of the texts that were read
		jsonWriters.Put(w)
	}()
	w.out, w.keys, w.html = w.out[:0], w.keys[:0], html
	if w.writeValue(v) {
		return bytes.Clone(append(w.out, '\n')), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	err := e.Encode(v)
	return b.Bytes(), err
}

// jsonWriters holds writers for reuse: their memory has grown to the size of an object.
var jsonWriters = sync.Pool{New: func() any { return new(jsonWriter) }}

// jsonWriter writes maps, lists and scalars as ReadJSON gives them; the library writes
// anything else.
type jsonWriter struct {
	out  []byte
	keys []string // of the objects that are not closed yet
	html bool
}

// writeValue appends v; it returns false where the library has to write it.
func (w *jsonWriter) writeValue(v any) bool {
	switch v := v.(type) {
	case string:
		w.writeText(v)
	case map[string]any:
		return w.writeObject(v)
	case []any:
		return w.list(v)
	case json.Number:
		p := jsonParser{scanner: scanner{text: string(v)}}
		if _, ok := p.number(); !ok || p.at < len(v) {
			return false
		}
		w.out = append(w.out, v...)
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	case nil:
		w.out = append(w.out, "null"...)
	default:
		return false
	}
	return true
}

func (w *jsonWriter) writeObject(m map[string]any) bool {
	if m == nil {
		w.out = append(w.out, "null"...)
		return true
	}
	start := len(w.keys)
	for k := range m {
		w.keys = append(w.keys, k)
	}
	slices.Sort(w.keys[start:])
	w.out = append(w.out, '{')
	for i := range len(m) {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		k := w.keys[start+i]
		w.writeText(k)
		w.out = append(w.out, ':')
		if !w.writeValue(m[k]) {
			return false
		}
	}
	w.keys = w.keys[:start]
	w.out = append(w.out, '}')
	return true
}

func (w *jsonWriter) list(l []any) bool {
	if l == nil {
		w.out = append(w.out, "null"...)
		return true
	}
	w.out = append(w.out, '[')
	for i, e := range l {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if !w.writeValue(e) {
			return false
		}
	}
	w.out = append(w.out, ']')
	return true
}

// writeText appends a string. Pieces that need no escape are copied whole.
func (w *jsonWriter) writeText(s string) {
	w.out = append(w.out, '"')
	done := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && !(w.html && (c == '<' || c == '>' || c == '&')) {
				i++
				continue
			}
			w.out = append(w.out, s[done:i]...)
			w.escape(c)
			i++
			done = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if escaped := jsonRune(r, size); escaped != "" {
			w.out = append(append(w.out, s[done:i]...), escaped...)
			done = i + size
		}
		i += size
	}
	w.out = append(append(w.out, s[done:]...), '"')
}

// jsonRune returns the escape of a character beyond ASCII, "" for none. It escapes a byte
// that is not UTF-8, and the two line breaks that JavaScript does not accept in a string.
func jsonRune(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return `\ufffd`
	case r == '\u2028':
		return `\u2028`
	case r == '\u2029':
		return `\u2029`
	}
	return ""
}

const hexDigits = "0123456789abcdef"

func (w *jsonWriter) escape(c byte) {
	if i := strings.IndexByte("\"\\\b\f\n\r\t", c); i >= 0 {
		w.out = append(w.out, '\\', `"\bfnrt`[i])
		return
	}
	w.out = append(w.out, `\u00`...)
	w.out = append(w.out, hexDigits[c>>4], hexDigits[c&0xf])
}
