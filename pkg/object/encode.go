package object

import (
	"encoding/json"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Encode is a JSON value as compact JSON, keys in order, numbers digit for digit, without
// HTML escapes. What is encoded already (json.RawMessage) is returned as it is. It is an
// error if v holds what JSON cannot.
func Encode(v any) ([]byte, error) {
	if text, ok := v.(json.RawMessage); ok {
		return text, nil
	}
	return merge.WriteJSON(v, false)
}
