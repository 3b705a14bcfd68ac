package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// member is one key of a JSON object and the text of its value.
type member struct {
	key string
	raw []byte
}

// members splits a JSON object without decoding its values: most of an OpenAPI document is
// paths and descriptions, and little of it is used. Skipped text is only checked for
// balance.
func members(data []byte) ([]member, error) {
	var out []member
	i := blank(data, 0)
	if i >= len(data) || data[i] != '{' {
		return nil, fmt.Errorf("expected a JSON object")
	}
	for i = blank(data, i+1); i < len(data) && data[i] != '}'; {
		end, err := skipString(data, i)
		if err != nil {
			return nil, err
		}
		m := member{key: string(data[i+1 : end-1])}
		if bytes.IndexByte(data[i:end], '\\') >= 0 {
			if err := json.Unmarshal(data[i:end], &m.key); err != nil {
				return nil, err
			}
		}
		if i = blank(data, end); i >= len(data) || data[i] != ':' {
			return nil, fmt.Errorf("byte %d: expected a colon", i)
		}
		i = blank(data, i+1)
		if end, err = skipValue(data, i); err != nil {
			return nil, err
		}
		m.raw = data[i:end]
		out = append(out, m)
		if i = blank(data, end); i < len(data) && data[i] == ',' {
			i = blank(data, i+1)
		} else if i < len(data) && data[i] != '}' {
			return nil, fmt.Errorf("byte %d: expected a comma", i)
		}
	}
	if i >= len(data) {
		return nil, fmt.Errorf("the JSON text ends early")
	}
	return out, nil
}

func blank(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skipString returns where the string that begins at i ends.
func skipString(data []byte, i int) (int, error) {
	if i >= len(data) || data[i] != '"' {
		return 0, fmt.Errorf("byte %d: expected a string", i)
	}
	for i++; i < len(data); i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			break
		}
		if esc := bytes.IndexByte(data[i:i+n], '\\'); esc >= 0 {
			i += esc + 1 // past the escaped character
			continue
		}
		return i + n + 1, nil
	}
	return 0, fmt.Errorf("a string is not closed")
}

// skipValue returns where the value that begins at i ends.
func skipValue(data []byte, i int) (int, error) {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			end, err := skipString(data, i)
			if err != nil || depth == 0 {
				return end, err
			}
			i = end
			continue
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 { // a bare number or word ends here
				return i, nil
			}
			if data[i] == ',' {
				break
			}
			if depth--; depth == 0 {
				return i + 1, nil
			}
		}
		i++
	}
	return 0, fmt.Errorf("the JSON text ends early")
}
