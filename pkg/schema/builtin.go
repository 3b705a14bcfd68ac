// Package schema may change with a minor version until 1.0.0. It describes how the values of an
// object are split into parts that are merged separately. It states which fields a type has,
// which of its lists are keyed, sets or atomic, and when two spellings are one value to the
// server. It refuses to fetch anything: schemas come in as bytes and values, or are compiled in.
//
// The order of sources: the user's rules, the compiled-in built-in types, the server's
// OpenAPI v3, a schema file, and, on request, keys inferred from the values. A value
// without a source is atomic.
package schema

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema/internal/typename"
)

//go:embed builtin.table
var builtinText string

// builtins is the compiled-in table; its parts are read on first use.
var builtins = &table{text: builtinText}

// Kind is one kind of the built-in API.
type Kind struct {
	Group, Version, Kind string

	// Resource is the plural name in URLs, "" where the kind has no resource (Scale,
	// Eviction).
	Resource string

	// Namespaced: objects of the kind are in a namespace; false too where Resource is "".
	Namespaced bool

	// HasStatus: the resource has a status subresource, so that a write to the object does
	// not change status.
	HasStatus bool

	root string
}

// Builtin returns the compiled-in type of a kind, and whether there is one. It
// is safe for concurrent use; the type is shared and must not be modified.
//
// Rules: the structured-merge-diff schema and the Go types that client-go
// carries.
func Builtin(group, version, kind string) (*merge.Type, bool) {
	return builtins.kind(group, version, kind)
}

// BuiltinKind returns what the compiled-in table knows about a kind as a whole.
func BuiltinKind(group, version, kind string) (Kind, bool) {
	prefix := "\nkind " + group + "/" + version + " " + kind + " "
	at := strings.Index(builtinText, prefix)
	if at < 0 {
		return Kind{}, false
	}
	line, _, _ := strings.Cut(builtinText[at+1:], "\n")
	return readKind(line)
}

// BuiltinKinds lists every kind of the compiled-in table in order of group,
// version and kind.
func BuiltinKinds() []Kind { return slices.Clone(builtinKinds()) }

var builtinKinds = sync.OnceValue(func() []Kind {
	var kinds []Kind
	for line := range strings.Lines(builtinText) {
		if k, ok := readKind(strings.TrimSuffix(line, "\n")); ok {
			kinds = append(kinds, k)
		}
	}
	return kinds
})

// ControlPlane reports whether a field manager of that name is part of the control plane.
func ControlPlane(manager string) bool {
	return slices.ContainsFunc(controlPlane(), func(prefix string) bool { return strings.HasPrefix(manager, prefix) })
}

var controlPlane = sync.OnceValue(func() []string {
	var prefixes []string
	rest := builtinText
	for {
		_, after, ok := strings.Cut(rest, "\ncontrol-plane ")
		if !ok {
			return prefixes
		}
		prefix, _, _ := strings.Cut(after, "\n")
		prefixes, rest = append(prefixes, prefix), after
	}
})

// BuiltinType returns a compiled-in type by its OpenAPI name
// (io.k8s.api.core.v1.PodSpec), and whether there is one.
func BuiltinType(name string) (*merge.Type, bool) {
	return builtins.named(typename.Short(name))
}

var objectMeta = sync.OnceValue(func() *merge.Type {
	t, _ := builtins.named("meta.v1.ObjectMeta")
	return t
})

// readKind reads a kind line of the table; ok is false for any other line.
func readKind(line string) (Kind, bool) {
	w := strings.Fields(line)
	if len(w) != 7 || w[0] != "kind" {
		return Kind{}, false
	}
	group, version, _ := strings.Cut(w[1], "/")
	k := Kind{
		Group: group, Version: version, Kind: w[2],
		Namespaced: w[4] == "namespaced", HasStatus: w[5] == "status", root: w[6],
	}
	if w[3] != "-" {
		k.Resource = w[3]
	}
	return k, true
}

//go:generate go run ./internal/gen -o builtin.table

// table reads types from a text in the notation that internal/gen writes (the head of the
// text explains it). A type is parsed once, on first use: parsing all of it at start-up
// would cost more than the merge of one object.
type table struct {
	text   string
	once   sync.Once
	starts []int32  // of the types' names in text
	kinds  sync.Map // "group/version kind" to *merge.Type

	mu    sync.Mutex
	types map[string]*merge.Type // by shape, as the table writes it
}

// kind returns the type of a kind, complete with all that it reaches.
func (t *table) kind(group, version, kind string) (*merge.Type, bool) {
	id := group + "/" + version + " " + kind
	if known, ok := t.kinds.Load(id); ok {
		return known.(*merge.Type), true
	}
	k, ok := BuiltinKind(group, version, kind)
	if !ok {
		return nil, false
	}
	typ, ok := t.named(k.root)
	if ok {
		t.kinds.Store(id, typ)
	}
	return typ, ok
}

// named returns the type of that short name.
func (t *table) named(name string) (*merge.Type, bool) {
	if _, ok := t.find(name); !ok {
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.types == nil {
		t.types = map[string]*merge.Type{}
	}
	return t.shape(name), true
}

// find returns the lines of the type of that name and of its fields.
func (t *table) find(name string) (string, bool) {
	t.once.Do(t.index)
	i, ok := slices.BinarySearchFunc(t.starts, name, func(at int32, name string) int {
		text := t.text[at:]
		return strings.Compare(text[:strings.IndexAny(text, " \n")], name)
	})
	if !ok {
		return "", false
	}
	end := len(t.text)
	if i+1 < len(t.starts) {
		end = int(t.starts[i+1]) - len(typeMark)
	}
	return t.text[t.starts[i]:end], true
}

// typeMark stands before the name of every type.
const typeMark = "\n\ntype "

// index records where the types begin; the table has them sorted.
func (t *table) index() {
	t.starts = make([]int32, 0, len(t.text)/128)
	for at := 0; ; {
		next := strings.Index(t.text[at:], typeMark)
		if next < 0 {
			return
		}
		at += next + len(typeMark)
		t.starts = append(t.starts, int32(at))
	}
}

// shape returns the type that a shape stands for. The caller holds the lock, so that no
// other goroutine sees a type before it and all that it reaches are complete.
func (t *table) shape(text string) *merge.Type {
	if leaf, ok := leaves[text]; ok {
		return leaf
	}
	if known, ok := t.types[text]; ok {
		return known
	}
	typ := &merge.Type{Source: merge.SourceBuiltin}
	t.types[text] = typ
	switch {
	case strings.HasPrefix(text, "{!}"):
		typ.Kind, typ.Atomic, typ.Elem = merge.Map, true, t.shape(text[3:])
	case strings.HasPrefix(text, "{}"):
		typ.Kind, typ.Elem = merge.Map, t.shape(text[2:])
	case strings.HasPrefix(text, "["):
		t.list(typ, text)
	case strings.HasPrefix(text, "!"), strings.HasPrefix(text, "~"):
		t.addObject(typ, text[1:])
		typ.Atomic = text[0] == '!'
	default:
		t.addObject(typ, text)
	}
	return typ
}

func (t *table) list(typ *merge.Type, text string) {
	keys, elem, _ := strings.Cut(text[1:], "]")
	typ.Elem = t.shape(elem)
	switch keys {
	case "":
		typ.Kind = merge.List
	case "=":
		typ.Kind = merge.Set
	default:
		if members, isSet := strings.CutPrefix(keys, "="); isSet {
			typ.Kind, typ.Exclusive = merge.Set, strings.Split(members, "|")
			return
		}
		keys, unique, _ := strings.Cut(keys, ";")
		typ.Kind, typ.Keys = merge.Keyed, readKeys(keys)
		for _, k := range readKeys(unique) {
			typ.Unique = append(typ.Unique, []merge.Key{k})
		}
	}
}

// readKeys reads keys with their defaults; "" is none.
func readKeys(text string) (keys []merge.Key) {
	if text == "" {
		return nil
	}
	for key := range strings.SplitSeq(text, ",") {
		name, text, _ := strings.Cut(key, "=")
		keys = append(keys, merge.Key{Name: name, Default: readDefault(text)})
	}
	return keys
}

func (t *table) addObject(typ *merge.Type, name string) {
	block, _ := t.find(name)
	head, rows, _ := strings.Cut(block, "\n")
	typ.Name, typ.Kind = typename.Full(name), merge.Object
	typ.Atomic = strings.HasSuffix(head, " atomic")
	typ.Fields = make(map[string]merge.Field, strings.Count(rows, "\n")+1)
	for row := range strings.SplitSeq(rows, "\n") {
		switch name, rest, _ := strings.Cut(strings.TrimPrefix(row, "\t"), " "); name {
		case "":
		case "|":
			typ.OneOf = append(typ.OneOf, readOneOf(rest))
		case ">":
			typ.Defaults = append(typ.Defaults, readRule(rest))
		case "=":
			one, other, _ := strings.Cut(rest, " ")
			typ.Mirrored = append(typ.Mirrored, [2]string{one, other})
		case "!":
			typ.Made = append(typ.Made, strings.Split(rest, "/"))
		case "#":
			typ.Fixed = append(typ.Fixed, readFixed(rest))
		default:
			shape, marks, _ := strings.Cut(rest, " ")
			bare := strings.TrimPrefix(shape, "*")
			// JSON of any form is kept as it is: {} and false are not its absence.
			f := merge.Field{Type: t.shape(bare), ZeroIsAbsent: bare == shape && bare != "any"}
			if rest, ok := strings.CutSuffix(marks, "allocated"); ok {
				f.Allocated, marks = true, strings.TrimSuffix(rest, " ")
			}
			if text, ok := strings.CutPrefix(marks, "="); ok {
				f.Default = readDefault(text)
			}
			typ.Fields[name] = f
		}
	}
}

// readOneOf reads a group: "value valueFrom", or one with a discriminator,
// "type:RollingUpdate RollingUpdate=rollingUpdate displaces".
func readOneOf(text string) merge.OneOf {
	words := strings.Fields(text)
	by, fallback, ok := strings.Cut(words[0], ":")
	if !ok {
		return merge.OneOf{Fields: words, Displaces: true}
	}
	o := merge.OneOf{Discriminator: by, Fallback: fallback, Selects: map[string]string{}}
	for _, w := range words[1:] {
		value, field, ok := strings.Cut(w, "=")
		if !ok {
			o.Displaces = w == "displaces"
			continue
		}
		o.Selects[value] = field
		o.Fields = append(o.Fields, field)
	}
	return o
}

// readDefault reads a default's JSON; "" is none.
func readDefault(text string) any {
	v, _ := merge.ReadJSON([]byte(text)) // nil for what is no JSON
	return v
}
