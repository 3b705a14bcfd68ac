package redact

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Blanked stands in a value's place in text that others wrote.
const Blanked = "***"

const (
	// shortest is how long a value has to be to be found in a text about its own Secret, in bytes.
	shortest = 4
	// wordy is how long it has to be to be found in any text: shorter ones are words of
	// many messages. It is blanked where it is a word, so that "database" leaves
	// "database-operator" alone.
	wordy = 8
	// partly is from where on it is blanked within words, too, and how much of its
	// beginning is blanked, where a quotation is cut off.
	partly = 16
)

// common are values that give nothing away, and are words of every message.
var common = []string{"true", "false", "null", "none", "admin", "root", "default", "localhost", "Opaque"}

// Values are the values of the Secrets of a run, to be blanked in text of any
// origin: a server's refusal, kustomize's error. The zero value and nil hold none. It
// may be used by several goroutines.
type Values struct {
	mu    sync.RWMutex
	raw   bool // every text is about a Secret
	known map[string]bool
	open  map[string]bool             // what stands in the open anyway: names of objects, keys and types of Secrets
	index map[[shortest]byte][]string // values by how they begin
}

// ValuesOf are the values of the Secrets in some objects.
func ValuesOf(objects ...any) *Values {
	vs := &Values{}
	for _, o := range objects {
		vs.Add(o)
	}
	return vs
}

// Add notes the values of every Secret in v, an object, a List or anything else
// decoded from YAML or JSON, in its copies in annotations, and of generators of Secrets in a
// kustomization; and the names of objects, which are no secrets even where a value of a
// Secret, for example a user's name, is the same word. v is not modified.
func (vs *Values) Add(v any) {
	if vs == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		vs.AddOpen(merge.At[any](v, "metadata", "name"))
		vs.AddOpen(merge.At[any](v, "metadata", "namespace"))
		if IsSecret(v) {
			vs.addSecret(v)
			return
		}
		for name, e := range v {
			if name == "secretGenerator" {
				vs.addGenerators(e)
				continue
			}
			vs.Add(e)
		}
	case []any:
		for _, e := range v {
			vs.Add(e)
		}
	}
}

func (vs *Values) addSecret(obj map[string]any) {
	vs.AddOpen(obj["type"])
	for name, text := range merge.At[map[string]any](obj, "metadata", "annotations") {
		text, ok := text.(string)
		if copied, err := merge.ReadJSON([]byte(text)); ok && Copies(name) && err == nil {
			vs.Add(copied)
		}
	}
	for name, v := range obj {
		if !Open(name, v) {
			vs.addField(name, v)
		}
	}
}

// addField notes a field of a Secret: what is in data is encoded, and known decoded
// too.
func (vs *Values) addField(name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			vs.AddOpen(key)
			vs.addField(name, e)
		}
	case []any:
		for _, e := range v {
			vs.addField(name, e)
		}
	case string:
		vs.AddText(v)
		if plain, err := base64.StdEncoding.DecodeString(v); err == nil && name == "data" {
			vs.AddText(string(plain))
		}
	case json.Number:
		vs.AddText(v.String())
	}
}

// AddFields notes the values of the sensitive fields of v, an object; nil fields are
// none. v is not modified.
func (vs *Values) AddFields(v any, fields Fields) {
	if vs == nil || fields == nil {
		return
	}
	add := func(s merge.Step, e any) {
		whole, below := fields(s)
		if whole {
			vs.addField("", e)
			return
		}
		vs.AddFields(e, below)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			add(merge.Named(name), e)
		}
	case []any:
		for _, e := range v {
			add(EntryStep(e), e)
		}
	}
}

// addGenerators notes the literals of a kustomization's secretGenerator; one that is
// not KEY=VALUE is a value as a whole.
func (vs *Values) addGenerators(v any) {
	for _, g := range merge.At[[]any](v) {
		for _, text := range merge.AllAt[string](g, "literals") {
			if _, value, ok := strings.Cut(text, "="); ok {
				text = strings.Trim(value, `"'`)
			}
			vs.AddText(text)
		}
	}
}

// AddOpen notes a text that is no secret, such as a file's name; what is not a text is left out.
func (vs *Values) AddOpen(v any) {
	if text, ok := v.(string); ok && vs != nil {
		vs.mu.Lock()
		defer vs.mu.Unlock()
		if vs.open == nil {
			vs.open = map[string]bool{}
		}
		if !vs.open[text] {
			vs.open[strings.Clone(text)] = true // without the document that it is a part of
		}
	}
}

// mostLines is how many lines of one value are known by themselves.
const mostLines = 10000

// AddText notes one value, as it is and as it stands in base64, in JSON and in
// quotes; of several lines also each line.
func (vs *Values) AddText(value string) {
	if vs == nil {
		return
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	vs.spelled(value)
	vs.spelled(strings.TrimSpace(value))
	vs.add(base64.StdEncoding.EncodeToString([]byte(value)))
	lines := 0
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= wordy && len(line) < len(value) && !strings.HasPrefix(line, "-----") && lines < mostLines {
			vs.spelled(line)
			lines++
		}
	}
}

// AddLines notes the values of a text that cannot be read as what it is meant to be,
// such as broken YAML with a Secret in it: what stands behind the first colon or equals
// sign of each line, word by word too, and lines that have neither.
func (vs *Values) AddLines(text string) {
	vs.Quoted()
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "- ")
		key, value, ok := strings.Cut(line, ":")
		if k, v, equals := strings.Cut(line, "="); equals && (!ok || len(k) < len(key)) {
			key, value, ok = k, v, true
		}
		switch key = strings.Trim(key, `"' `); {
		case !ok:
			value = line
		case slices.Contains(openFields, key), key == "name", key == "namespace":
			continue
		}
		for _, text := range append(strings.Fields(value), strings.TrimSpace(value)) {
			vs.AddText(text)
			vs.AddText(strings.Trim(text, marks))
		}
	}
}

// marks stand around a word in YAML and in messages, and are not a part of it.
const marks = "\"'`|>+-, !*&{}[].:;()#"

// Quoted is called where texts may quote a Secret's file: from here on each is about a Secret.
func (vs *Values) Quoted() {
	if vs != nil {
		vs.mu.Lock()
		defer vs.mu.Unlock()
		vs.raw = true
	}
}

// spelled notes a text as it is and as it is quoted; the lock is held.
func (vs *Values) spelled(text string) {
	vs.add(text)
	for _, quoted := range []string{strconv.Quote(text), strconv.QuoteToGraphic(text)} {
		vs.add(quoted[1 : len(quoted)-1])
	}
	if encoded, err := json.Marshal(text); err == nil {
		vs.add(string(encoded[1 : len(encoded)-1]))
	}
}

func (vs *Values) add(text string) {
	if len(text) < shortest || vs.known[text] || slices.Contains(common, text) {
		return
	}
	if vs.known == nil {
		vs.known, vs.index = map[string]bool{}, map[[shortest]byte][]string{}
	}
	vs.known[text] = true
	begin := [shortest]byte([]byte(text[:shortest]))
	vs.index[begin] = append(vs.index[begin], text)
}
