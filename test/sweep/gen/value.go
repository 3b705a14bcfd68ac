package gen

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Maker makes random values; the same seed and number make the same ones.
type Maker struct{ r *rand.Rand }

// New gives the maker of the nth series of a seed.
func New(seed, n uint64) Maker { return Maker{rand.New(rand.NewPCG(seed, n))} }

func (m Maker) one(in int) bool { return m.r.IntN(in) == 0 }

// Object makes an object of a kind: its identity, and some of its fields.
func (m Maker) Object(k schema.Kind, t *merge.Type) map[string]any {
	o, _ := m.Value(t, 7).(map[string]any)
	if o == nil {
		o = map[string]any{}
	}
	meta, _ := o["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	version := k.Version
	if k.Group != "" {
		version = k.Group + "/" + k.Version
	}
	meta["name"] = "made"
	o["apiVersion"], o["kind"], o["metadata"] = version, k.Kind, meta
	return o
}

// Value makes a value of a type, with objects at most depth deep in it.
func (m Maker) Value(t *merge.Type, depth int) any {
	if t == nil || t.Kind == merge.Unknown {
		return m.free(min(depth, 2))
	}
	switch t.Kind {
	case merge.Object:
		return m.object(t, depth)
	case merge.Map:
		out := map[string]any{}
		for range m.r.IntN(4) {
			out[m.word()] = m.Value(t.Elem, depth-1)
		}
		return out
	case merge.List, merge.Keyed, merge.Set:
		return m.list(t, depth)
	}
	return m.scalar(t)
}

// object states a few fields, rather those that have something in them.
func (m Maker) object(t *merge.Type, depth int) map[string]any {
	out := map[string]any{}
	names := sortedFields(t)
	if depth <= 0 || len(names) == 0 {
		return out
	}
	for range 1 + m.r.IntN(5) {
		name := names[m.r.IntN(len(names))]
		if isLeaf(t.Fields[name].Type) { // once more: there are many of them
			name = names[m.r.IntN(len(names))]
		}
		if n := preferred(t, names); len(n) > 0 && !m.one(3) {
			name = n[m.r.IntN(len(n))]
		}
		out[name] = m.Value(t.Fields[name].Type, depth-1)
	}
	if t.Open && m.one(2) {
		out["free-"+m.word()] = m.free(2)
	}
	return out
}

// preferred are the fields that most of an object is in; of an object's metadata
// those that people write.
func preferred(t *merge.Type, names []string) []string {
	var out []string
	for _, n := range names {
		switch n {
		case "metadata", "managedFields":
		case "spec", "template", "jobTemplate", "labels", "annotations", "finalizers":
			out = append(out, n)
		case "containers", "ports", "env", "data", "volumes":
			out = append(out, n, n)
		default:
			if f := t.Fields[n].Type; f != nil && f.Kind == merge.Keyed {
				out = append(out, n)
			}
		}
	}
	return out
}

func (m Maker) list(t *merge.Type, depth int) []any {
	out := []any{}
	for range m.r.IntN(4) {
		out = append(out, m.Entry(t, depth))
	}
	return out
}

// Entry makes one entry of a list; of a keyed one mostly with all of its keys.
func (m Maker) Entry(t *merge.Type, depth int) any {
	e := m.Value(t.Elem, depth-1)
	fields, isMap := e.(map[string]any)
	if t.Kind != merge.Keyed || !isMap || m.one(24) {
		return e
	}
	for _, k := range t.Keys {
		if k.Default != nil && m.one(2) {
			delete(fields, k.Name)
			continue
		}
		if v := fields[k.Name]; k.Default != nil || v == nil || v == "" {
			fields[k.Name] = m.key(t.Elem, k)
		}
	}
	return fields
}

// key makes a key: of few, so that entries meet.
func (m Maker) key(elem *merge.Type, k merge.Key) any {
	if text, ok := k.Default.(string); ok && m.one(2) {
		return text
	}
	if elem != nil && kindOf(elem.Fields[k.Name].Type) == number {
		return json.Number(strconv.Itoa(1 + m.r.IntN(6)))
	}
	return words[m.r.IntN(6)]
}

var words = []string{"a", "b", "c", "d", "e", "f"}

func (m Maker) word() string { return words[m.r.IntN(4)] }

// free makes a value that no type speaks of.
func (m Maker) free(depth int) any {
	switch n := m.r.IntN(8); {
	case n < 2 && depth > 0:
		out := map[string]any{}
		for range m.r.IntN(3) {
			out[m.word()] = m.free(depth - 1)
		}
		return out
	case n == 2 && depth > 0:
		out := []any{}
		for range m.r.IntN(3) {
			out = append(out, m.free(depth-1))
		}
		return out
	case n == 3:
		return m.one(2)
	case n == 4:
		return json.Number(strconv.Itoa(m.r.IntN(3)))
	}
	return m.word()
}

// spellings are values of each form; neighbours in pairs are the same to the
// server, where there are two spellings at all.
var spellings = map[form][]any{
	text:     {"a", "b", "c", "d", ""},
	number:   {json.Number("0"), json.Number("1"), json.Number("2"), json.Number("9007199254740993")},
	boolean:  {true, false},
	quantity: {"1", "1000m", "0.5", "500m", "1Gi", "1024Mi", json.Number("1"), "1", "0"},
	instant:  {"2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00", "2025-01-01T00:00:00Z"},
	duration: {"60s", "1m0s", "5s"},
	bytes:    {"YQ==", "Y\nQ==", "Yg=="},
}

func (m Maker) scalar(t *merge.Type) any {
	all := spellings[kindOf(t)]
	return all[m.r.IntN(len(all))]
}

func sortedFields(t *merge.Type) []string {
	names := make([]string, 0, len(t.Fields))
	for name := range t.Fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func isLeaf(t *merge.Type) bool {
	return t != nil && (t.Kind == merge.Scalar || t.Kind == merge.List && isLeaf(t.Elem))
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
