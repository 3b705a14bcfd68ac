package plandoc

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// fieldsAt is the codec that reads a mapping at a place of a document. Fields that were read are
// removed, so the fields left at the end are unknown ones. The first error is in the decoder.
type fieldsAt struct {
	*decoder
	doc   *yamldoc.Document
	path  merge.Path
	left  map[string]any
	known map[string]bool // if set, collects the names of the fields that it can have
}

// read passes v, which must be a mapping, to fields, and finds fields that these do not know.
func (f fieldsAt) read(v any, fields func(codec)) {
	m, ok := v.(map[string]any)
	if !ok {
		f.bad("", "must be a mapping")
		return
	}
	f.left = maps.Clone(m)
	fields(f)
	if len(f.left) > 0 {
		unknown := slices.Sorted(maps.Keys(f.left))[0]
		err := f.err
		f.known = map[string]bool{}
		fields(f)
		f.err = err // the fields were read already, and are missing now
		f.bad(unknown, "is no field of a plan"+suggest.Hint(unknown, slices.Sorted(maps.Keys(f.known))))
	}
}

// at returns the place one step further.
func (f fieldsAt) at(s merge.Step) fieldsAt {
	f.path, f.left, f.known = f.path.Child(s), nil, nil
	return f
}

// bad keeps the first error: name, line, path, problem.
func (f fieldsAt) bad(name, problem string) {
	p := f.path
	if name != "" {
		p = p.Child(merge.Named(name))
	}
	line := f.doc.LineOf(p)
	if len(p) > 0 && p[0].Kind == merge.IndexStep { // of an entry that was read separately
		p = p[1:]
	}
	where := ""
	if len(p) > 0 {
		where = p.String() + ": "
	}
	if f.err == nil {
		f.err = fmt.Errorf("%s: line %d: %s%s", f.name, line, where, problem)
	}
}

func (f fieldsAt) take(name string) (any, bool) {
	if f.known != nil {
		f.known[name] = true
	}
	v, ok := f.left[name]
	delete(f.left, name)
	return v, ok
}

func (f fieldsAt) field(name string, _ merge.Opt, read func(merge.Opt) string) {
	v, given := f.take(name)
	if problem := read(merge.Opt{Value: v, Set: given}); problem != "" {
		f.bad(name, problem)
	}
}

func (f fieldsAt) mapping(name string, _ bool, fields func(codec)) {
	if v, given := f.take(name); given {
		f.at(merge.Named(name)).read(v, fields)
	}
}

func (f fieldsAt) list(name string, _ int, entry func(int, codec)) {
	v, _ := f.take(name)
	list, ok := v.([]any)
	if v != nil && !ok {
		f.bad(name, "must be a list")
	}
	for i, e := range list {
		f.at(merge.Named(name)).at(merge.Step{Kind: merge.IndexStep, Index: i}).read(e, func(c codec) { entry(i, c) })
	}
}

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

// Reveal returns the actual value for a value of the document, given the current value at the same
// place: hidden parts are taken from there, if they are the same. It is false if a hidden value
// differs, or is missing, which stays hidden.
func (s Spelling) Reveal(id Identity, p merge.Path, v any, now merge.Opt) (any, bool) {
	out := hider{s, id}.reveal(fieldsOf(p), v, now)
	return out, !Hashes(out)
}

// reveal returns v with the parts of now in place of the hashes that are theirs.
func (h hider) reveal(fields string, v any, now merge.Opt) any {
	if IsHash(v) {
		if now.Set && merge.Identical(h.Hash(h.id, fields, now.Value), v) {
			return now.Value
		}
		return v
	}
	if !Hashes(v) {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		m := merge.At[map[string]any](now.Value)
		out := make(map[string]any, len(v))
		for k, e := range v {
			is, there := m[k]
			out[k] = h.reveal(fields+"/"+k, e, merge.Opt{Value: is, Set: there})
		}
		return out
	case []any:
		return h.revealList(fields, v, merge.At[[]any](now.Value))
	}
	return v
}

// revealList reveals the entries of a list, each from the entry of now that has its values. That entry
// may be at another place: first the one with the same shift as the entry before it, otherwise any.
func (h hider) revealList(fields string, v, now []any) []any {
	out := make([]any, len(v))
	shift := 0
	for i, e := range v {
		out[i] = e
		if !Hashes(e) {
			continue
		}
		for j := range now {
			at := (i + shift + j + len(now)) % len(now)
			if known := h.reveal(fields, e, merge.Some(now[at])); !Hashes(known) {
				out[i], shift = known, at-i
				break
			}
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
