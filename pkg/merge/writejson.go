package merge

import (
	"bytes"
	"encoding/json"
)

// WriteJSON writes a JSON value: compact, keys in order, numbers digit for digit, a newline at the end.
// With html, <, > and & are escaped. The error is that of encoding/json's Encoder, for what JSON cannot hold.
func WriteJSON(v any, html bool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	err := e.Encode(v)
	return b.Bytes(), err
}
