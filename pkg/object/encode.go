package object

import (
	"bytes"
	"encoding/json"
)

// Encode is a JSON value as compact JSON, keys in order, numbers digit for digit, without
// HTML escapes. What is encoded already (json.RawMessage) is returned as it is. It is an
// error if v holds what JSON cannot.
func Encode(v any) ([]byte, error) {
	if text, ok := v.(json.RawMessage); ok {
		return text, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
