package object

import (
	"encoding/json"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Encode returns a JSON value as compact JSON, keys in order, numbers digit for digit,
// without HTML escapes. Encoded JSON (json.RawMessage) is returned as it is. It is an error
// if v holds a value that JSON cannot express.
func Encode(v any) ([]byte, error) {
	if text, ok := v.(json.RawMessage); ok {
		return text, nil
	}
	return merge.WriteJSON(v, false)
}
