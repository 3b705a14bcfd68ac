package source

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	yamltexts "github.com/kubectl-merge/kubectl-merge/test/texts"
)

// reading is the result of a reader for the first document of a text.
type reading struct {
	value   any
	refused error
}

// readings are what this package, the editor of files and kubectl make of a text. Where
// the text has several documents the first is looked at; here it is the first with
// something in it, as is filled.
func readings(text string) (here, filled, editor, kubectl reading) {
	docs, err := Decode([]byte(text))
	if here.refused = err; len(docs) > 0 {
		here.value = plain(docs[0].Value)
	}
	f, err := yamldoc.Parse([]byte(text))
	filled.refused, editor.refused = err, err
	if err == nil {
		editor.value = plain(f.Documents()[0].Value())
		for _, d := range f.Documents() {
			if filled.value == nil {
				filled.value = plain(d.Value())
			}
		}
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(data, &kubectl.value)
	}
	kubectl.refused = err
	return here, filled, editor, kubectl
}

// plain has numbers as float64, which is all that kubectl's reader keeps of them.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v
		}
		return f
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plain(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	}
	return v
}

func (r reading) is(other reading) bool {
	if r.refused != nil || other.refused != nil {
		return r.refused != nil && other.refused != nil
	}
	return reflect.DeepEqual(r.value, other.value)
}

// exactly: a refusal of a number that the API would round, or of a tag that would be left out, which
// the editor of files and kubectl read.
func (r reading) exactly() bool {
	return r.refused != nil && (strings.Contains(r.refused.Error(), "the API rounds it") || strings.Contains(r.refused.Error(), "means nothing to Kubernetes"))
}

// TestAgree: what local objects are read with, what files are edited with and what kubectl
// reads with give one value for each text, or the table names the reason.
func TestAgree(t *testing.T) {
	for _, c := range yamltexts.All {
		here, filled, editor, kubectl := readings(c.YAML)
		if !here.is(filled) && !here.exactly() {
			t.Errorf("%s: %q is %v (%v) in a manifest, %v (%v) in a merge of files", c.Why, c.YAML, here.value, here.refused, filled.value, filled.refused)
		}
		if differs := !editor.is(kubectl); differs != (c.Differs != "") {
			t.Errorf("%s: %q is %v (%v), for kubectl %v (%v); the reason: %q", c.Why, c.YAML, editor.value, editor.refused, kubectl.value, kubectl.refused, c.Differs)
		}
	}
}

// FuzzYAMLReaders compares the three readers on any text. That one refuses what another reads is
// safe, and the table above says where that is so on purpose; that two of them read one
// text as two values never is, and neither is reading what kubectl refuses.
func FuzzYAMLReaders(f *testing.F) {
	for _, c := range yamltexts.All {
		f.Add(c.YAML)
	}
	f.Fuzz(func(t *testing.T, text string) {
		here, filled, editor, kubectl := readings(text)
		nothing := here.refused == nil && here.value == nil && filled.refused != nil // comments need not be read
		utf16 := !utf8.ValidString(text)                                             // which is no text to edit
		start := strings.TrimLeft(text, " \t\r\n\ufeff")
		stream := strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") // of JSON documents, one behind the other
		if !utf16 && !stream && !here.is(filled) && !here.exactly() && !nothing {
			t.Fatalf("%q is %v (%v) in a manifest, %v (%v) in a merge of files", text, here.value, here.refused, filled.value, filled.refused)
		}
		escapes := strings.HasPrefix(start, "{") // JSON's, which kubectl reads there
		if editor.refused == nil && !escapes && !strings.Contains(text, "\n\ufeff") && !editor.is(kubectl) {
			t.Fatalf("%q is %v, for kubectl %v (%v)", text, editor.value, kubectl.value, kubectl.refused)
		}
	})
}
