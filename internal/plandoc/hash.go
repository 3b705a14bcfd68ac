package plandoc

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// hashKey marks a map that stands for a secret value. No value of an object looks like this: one
// that does is hashed itself.
const hashKey = "$sha256"

// IsHash reports whether a value of a document stands for a secret one.
func IsHash(v any) bool {
	m, ok := v.(map[string]any)
	_, marked := m[hashKey]
	return ok && marked && len(m) == 1
}

// Hashes reports whether a value of a document is, or contains, a hash.
func Hashes(v any) bool { return merge.Any(v, IsHash) }

// Hash returns the replacement of a secret value of an object: a salted SHA-256 of the object's
// identity, the names of the fields that lead to the value, and the value. Equal values of two
// objects have different hashes. Values that can be guessed can be found by trying.
func (s Spelling) Hash(id Identity, fields string, v any) any {
	text, err := object.Encode(v)
	if err != nil {
		text = nil // not JSON, and so in no object
	}
	sum := hmac.New(sha256.New, s.Salt)
	for _, part := range []string{id.Kind, id.Namespace, id.Name, fields, string(text)} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	return map[string]any{hashKey: hex.EncodeToString(sum.Sum(nil)[:16])}
}

// hider replaces the secret parts of one object's values by hashes, and these by what they stand for.
type hider struct {
	Spelling
	id Identity
}

// hide returns v with hashes in place of all parts in which its masked form differs.
func (h hider) hide(fields string, v, masked any) any {
	if _, isMap := v.(map[string]any); !isMap && merge.Identical(v, masked) {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		if m, ok := masked.(map[string]any); ok && !IsHash(v) {
			return h.hideMap(fields, v, m)
		}
	case []any:
		if m, ok := masked.([]any); ok && len(m) == len(v) {
			out := make([]any, len(v))
			for i := range v {
				out[i] = h.hide(fields, v[i], m[i])
			}
			return out
		}
	}
	return h.Hash(h.id, fields, v)
}

func (h hider) hideMap(fields string, v, masked map[string]any) any {
	out := maps.Clone(v)
	for k, e := range v {
		if m, ok := masked[k]; ok {
			out[k] = h.hide(fields+"/"+k, e, m)
		} else {
			out[k] = h.Hash(h.id, fields+"/"+k, e)
		}
	}
	return out
}

// fieldsOf returns the names of the fields on a path, without the entries of lists, whose keys and
// places may change.
func fieldsOf(p merge.Path) string {
	text := ""
	for _, s := range p {
		if s.Kind == merge.FieldStep {
			text += "/" + s.Name
		}
	}
	return text
}
