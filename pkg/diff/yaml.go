package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// YAML prints a value as kubectl -o yaml does: keys in alphabetical order, lists
// not indented, integers of any size and fractions of any length as they stand in
// the JSON. It does not mask: see Mask.
func YAML(v any) ([]byte, error) {
	n := &numbers{}
	v = n.replace(v)
	for _, t := range n.texts {
		if !json.Valid([]byte(t)) {
			return nil, unprintable()
		}
	}
	if len(n.texts) == 0 {
		return marshal(v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, unprintable()
	}
	n.choose(string(data))
	out, err := marshal(n.fill(v))
	if err != nil {
		return nil, err
	}
	return []byte(n.restore(string(out))), nil
}

func marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, unprintable()
	}
	out, err := yaml.JSONToYAML(spellControls(data))
	if err != nil {
		return nil, unprintable()
	}
	return out, nil
}

// spellControls escapes what is legal in JSON text and not in YAML text. Unlike
// kubectl: it cannot print an object with such a character at all.
func spellControls(data []byte) []byte {
	illegal := func(r rune) bool { return r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff }
	if bytes.IndexFunc(data, illegal) < 0 {
		return data
	}
	var b bytes.Buffer
	for _, r := range string(data) {
		if illegal(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// unprintable hides the cause, which would quote the value.
func unprintable() error {
	return fmt.Errorf("not a JSON value: it cannot be printed as YAML; read it with merge.ReadJSON")
}

// numbers carries those numbers past the YAML library that it would round or
// respell: it knows int64 and float64 only.
type numbers struct {
	texts  []string
	prefix string
}

// number stands for texts[i] until a prefix is known.
type number int

// MarshalJSON makes the value legal while it is searched for the prefix.
func (number) MarshalJSON() ([]byte, error) { return []byte("0"), nil }

func (n *numbers) replace(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil && strconv.FormatInt(i, 10) == string(v) {
			return v
		}
		n.texts = append(n.texts, string(v))
		return number(len(n.texts) - 1)
	case map[string]any:
		return eachValue(v, n.replace)
	case []any:
		return eachEntry(v, n.replace)
	}
	return v
}

// choose finds a word that does not occur in the text.
func (n *numbers) choose(text string) {
	for i := 0; ; i++ {
		n.prefix = "number" + strconv.Itoa(i) + "x"
		if !strings.Contains(text, n.prefix) {
			return
		}
	}
}

func (n *numbers) fill(v any) any {
	switch v := v.(type) {
	case number:
		return n.prefix + strconv.Itoa(int(v)) + "x"
	case map[string]any:
		return eachValue(v, n.fill)
	case []any:
		return eachEntry(v, n.fill)
	}
	return v
}

func (n *numbers) restore(text string) string {
	pairs := make([]string, 0, 2*len(n.texts))
	for i, t := range n.texts {
		pairs = append(pairs, n.prefix+strconv.Itoa(i)+"x", t)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// eachValue and eachEntry copy only where f gives another value.
func eachValue(m map[string]any, f func(any) any) map[string]any {
	out, copied := m, false
	for k, v := range m {
		now := f(v)
		if same(v, now) {
			continue
		}
		if !copied {
			out, copied = maps.Clone(m), true
		}
		out[k] = now
	}
	return out
}

func eachEntry(l []any, f func(any) any) []any {
	out, copied := l, false
	for i, v := range l {
		now := f(v)
		if same(v, now) {
			continue
		}
		if !copied {
			out, copied = slices.Clone(l), true
		}
		out[i] = now
	}
	return out
}

// same says whether f returned what it was given: maps and lists by identity,
// since they are copied only for a reason.
func same(old, now any) bool {
	switch old := old.(type) {
	case map[string]any:
		m, ok := now.(map[string]any)
		return ok && reflect.ValueOf(old).Pointer() == reflect.ValueOf(m).Pointer()
	case []any:
		l, ok := now.([]any)
		return ok && (len(old) == 0 || &old[0] == &l[0])
	}
	return old == now
}
