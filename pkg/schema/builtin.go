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
