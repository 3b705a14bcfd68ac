// Package lastapplied may change with a minor version until 1.0.0. It reads, writes, shortens and
// replaces the annotation kubectl.kubernetes.io/last-applied-configuration. It prepares objects
// around it: server-owned metadata is stripped, a Secret's stringData read as data, and an
// original read from managedFields. It refuses to edit its inputs, to merge, to compare and to
// contact an API server. Every function returns a new object that may share memory with the old
// one.
//
// Values are JSON values as merge.ReadJSON gives them.
package lastapplied

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Annotation is the key under which kubectl apply, and this program, keep what was applied
// last (k8s.io/api/core/v1.LastAppliedConfigAnnotation).
const Annotation = "kubectl.kubernetes.io/last-applied-configuration"

// AnnotationPath is the path of Annotation in an object. It must not be modified.
var AnnotationPath = merge.Path{merge.Named("metadata"), merge.Named("annotations"), merge.Named(Annotation)}

// Marker is the annotation inside the kept configuration of one that was
// blanked; its value is the Blanking.
const Marker = "merge.kubectl/blanked"

// Blanking says which values of a kept configuration are not the applied ones. It is the
// value of Marker, so that word alone distinguishes the kinds.
type Blanking string

// The kinds of blanking, from the least to the most.
const (
	BlankNothing Blanking = ""       // no marker: every value is what was applied
	BlankSecret  Blanking = "secret" // the values of data and stringData are ""; their keys, and all else, are true
	BlankLeaves  Blanking = "values" // every leaf and atomic list is ""; fields, map keys, merge keys and set members are true
	BlankAll     Blanking = "all"    // only apiVersion, kind, name and namespace are left
)

// State says what Read found.
type State uint8

// The states of an annotation.
const (
	None    State = iota // there is no annotation, or an empty one
	OK                   // Value is what was applied
	Blanked              // Value has keys but not all of its values: see Original.Blanking
	Garbage              // not the JSON of an object
	Foreign              // of an object of another kind, name or namespace
)

// Original is the annotation's record of the last apply.
type Original struct {
	// Value is the configuration without Marker, nil unless State is OK or
	// Blanked.
	Value any
	State State

	// Blanking is BlankNothing unless State is Blanked. With BlankAll, Value states nothing
	// about fields: read managedFields instead.
	Blanking Blanking

	// Problem explains, for Garbage and Foreign, the fault to the user in one sentence. It
	// never quotes the annotation, which may hold a Secret's values.
	Problem string

	// Text is the unchanged annotation, "" where there is none.
	Text string
}

// Read finds and decodes the last-applied annotation of live. A nil live, and one without
// annotations, have State None. Group and version do not count when the annotation is
// compared with the object: configuration kept under another apiVersion is still this
// object's.
func Read(live any) Original {
	raw, ok := annotations(live)[Annotation]
	if !ok {
		return Original{}
	}
	text, ok := raw.(string)
	if !ok {
		return garbage("", "it is not a string")
	}
	if text == "" {
		return Original{}
	}
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		return garbage(text, where(err, len(text)))
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return garbage(text, "it is JSON, but not of an object")
	}
	if merge.At[string](obj, "kind") == "" || merge.At[string](meta(obj), "name") == "" && merge.At[string](meta(obj), "generateName") == "" {
		return garbage(text, "it has no kind or no name")
	}
	if what := differs(obj, live); what != "" {
		return Original{State: Foreign, Text: text, Problem: "last-applied: " + Annotation +
			" belongs to an object of another " + what + after}
	}
	return marked(obj, text)
}

// after ends every Problem: what happens to the annotation, and the remedy.
const after = ": it is treated as absent (nothing is removed) and written afresh;" +
	" to keep removing fields, first put back what was applied: kubectl merge set-last-applied -f FILE"

// Flaw returns Problem without what happens to the annotation, for callers that do not
// treat it as absent; "" where Problem is.
func (o Original) Flaw() string { return strings.TrimSuffix(o.Problem, after) }

func garbage(text, cause string) Original {
	return Original{State: Garbage, Text: text, Problem: "last-applied: " + Annotation +
		" does not hold a configuration: " + cause + after}
}

// where reports how far decoding came. The decoder's own message quotes the text at its
// error, so it is not passed on.
func where(err error, size int) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("not valid JSON after byte %d of %d", syntax.Offset, size)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("its JSON is cut off after byte %d", size)
	}
	return fmt.Sprintf("not valid JSON (%d bytes)", size)
}

// differs names the part of the identity in which two objects differ, "" for none. A
// namespace counts only where both state one, and a name that is left to the server
// (generateName) never differs.
func differs(kept map[string]any, live any) string {
	if merge.At[string](kept, "kind") != merge.At[string](live, "kind") {
		return "kind"
	}
	a, b := meta(kept), meta(live)
	if name := merge.At[string](a, "name"); name != "" && name != merge.At[string](b, "name") {
		return "name"
	}
	if x, y := merge.At[string](a, "namespace"), merge.At[string](b, "namespace"); x != "" && y != "" && x != y {
		return "namespace"
	}
	return ""
}

// marked removes Marker from a configuration and returns its meaning.
func marked(obj map[string]any, text string) Original {
	raw, ok := annotations(obj)[Marker]
	if !ok {
		return Original{Value: obj, State: OK, Text: text}
	}
	kind := BlankAll // a word of a later version: trust nothing
	if s, _ := raw.(string); Blanking(s) == BlankSecret || Blanking(s) == BlankLeaves {
		kind = Blanking(s)
	}
	return Original{Value: without(obj, "annotations", Marker), State: Blanked, Blanking: kind, Text: text}
}

// Remove returns original without the value at p: the applier no longer owns the field, and
// live keeps its value. Entries of keyed lists and sets are found by their keys, typ being
// the type of original. Objects, maps and lists that are then empty are removed, too, since
// their absence from local would otherwise remove what others put there.
//
// It is an error if p has no value (the message suggests near names), or leads into an atomic
// value, which is owned as a whole. So is a p that is part of what names the object or a list's
// entry.
func Remove(original any, p merge.Path, typ *merge.Type) (any, error) {
	if slices.Contains([]string{".", "apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace"}, p.String()) {
		return nil, fmt.Errorf("%s: it names the object, and cannot be given up", p)
	}
	v, exact, gone := original, make(merge.Path, len(p)), 0
	for n, s := range p {
		known := typ != nil && n > 0
		byKeys := known && (typ.Kind == merge.Keyed || typ.Kind == merge.Set)
		if known && (typ.Atomic || typ.Kind == merge.List) || s.Kind == merge.IndexStep && !byKeys {
			return nil, fmt.Errorf("%s: %s is one value: give it up as a whole: %s", p[:n+1], p[:n], p[:n])
		}
		in := holder{at: p[:n], typ: typ}
		if s.Kind == merge.FieldStep {
			in.fields, _ = v.(map[string]any)
		} else {
			in.list, _ = v.([]any)
		}
		var err error
		if v, exact[n], err = in.find(p[n:]); err != nil {
			return nil, err
		}
		if n == 0 || len(in.fields)+len(in.list) > 1 { // otherwise it would be empty, and is removed, too
			gone = n + 1
		}
		typ = typ.At(merge.Path{s})
	}
	return merge.Replay(original, []merge.Change{{Op: merge.OpRemove, Path: exact[:gone]}})
}

// holder is an object, map or list on the way to what is removed.
type holder struct {
	at     merge.Path
	typ    *merge.Type
	fields map[string]any
	list   []any
}

// find returns what the first of the steps leads to, with the step to its place.
func (h holder) find(rest merge.Path) (v any, to merge.Step, err error) {
	if rest[0].Kind != merge.FieldStep {
		return h.entry(rest)
	}
	if v, ok := h.fields[rest[0].Name]; ok {
		return v, rest[0], nil
	}
	near := suggestFields(h.at, h.fields, rest[0].Name)
	switch {
	case h.typ == nil || h.typ.Kind != merge.Object:
	case h.typ.Fields[rest[0].Name].Type != nil: // the field exists in the type
		return nil, to, fmt.Errorf(notThere+": it has been given up, or was never applied", h.at.Child(rest[0]))
	case len(near) == 0 && !h.typ.Open:
		return nil, to, fmt.Errorf(notThere+": the kind has no such field", h.at.Child(rest[0]))
	}
	return nil, to, missing(h.at, rest[0], near)
}

func (h holder) entry(rest merge.Path) (v any, to merge.Step, err error) {
	i := merge.EntryAt(h.list, rest[0], h.typ)
	if i < 0 || rest[0].Kind == merge.IndexStep {
		return nil, to, missing(h.at, rest[0], suggestEntries(h.at, h.list, h.typ))
	}
	if len(rest) == 2 && h.typ != nil && slices.ContainsFunc(h.typ.Keys, func(k merge.Key) bool { return k.Name == rest[1].Name }) {
		return nil, to, fmt.Errorf("%s: it identifies the entries of the list: give up the whole entry: %s",
			h.at.Child(rest[0]).Child(rest[1]), h.at.Child(rest[0]))
	}
	return h.list[i], merge.Step{Kind: merge.IndexStep, Index: i}, nil
}

const notThere = "%s: not in last-applied, so it is not yours to give up"

// missing returns the error of a missing name, with those that may be meant instead.
func missing(at merge.Path, step merge.Step, near []string) error {
	switch {
	case len(near) == 0:
		return fmt.Errorf(notThere+": see kubectl merge view-last-applied", at.Child(step))
	case len(near) == 1:
		return fmt.Errorf(notThere+": did you mean %s?", at.Child(step), near[0])
	}
	return fmt.Errorf(notThere+": did you mean one of %s?", at.Child(step), strings.Join(near, ", "))
}

// suggestions is the maximum number of names in an error.
const suggestions = 5

// suggestFields lists the fields that are spelled most like name.
func suggestFields(at merge.Path, m map[string]any, name string) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if suggest.Edits(k, name) <= suggest.Most(name) {
			out = append(out, at.Child(merge.Named(k)).String())
		}
	}
	return out[:min(len(out), suggestions)]
}

// suggestEntries lists entries by their keys. It returns nothing for lists without keys,
// since the members of a set are values.
func suggestEntries(at merge.Path, list []any, typ *merge.Type) (out []string) {
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok || typ == nil || len(out) == suggestions {
			break
		}
		s := merge.Step{Kind: merge.KeyStep}
		for _, k := range typ.Keys {
			if v, ok := m[k.Name]; ok {
				s.Keys = append(s.Keys, merge.KeyPart{Name: k.Name, Value: v})
			}
		}
		if len(s.Keys) > 0 {
			out = append(out, at.Child(s).String())
		}
	}
	return out
}
