package merge

import "slices"

// Kind says how a value is split into parts that are merged separately.
type Kind uint8

// The kinds of a Type. A nil *Type means Unknown too: the value itself decides (a map is
// merged key by key, anything else is one value), which is RFC 7386 applied three ways.
const (
	Unknown Kind = iota
	Scalar       // one value: string, number, boolean
	Object       // declared fields, see Type.Fields
	Map          // free keys, each with a value of Type.Elem
	List         // an atomic list: one value; Type.Elem serves equality only
	Keyed        // a list whose entries are distinguished by Type.Keys
	Set          // a list whose entries are distinguished by their value
)

// Type states for the merge how one value is split, and which spellings of it the server
// takes for the same. A Type is read-only once it is passed to Three. Types may refer to
// themselves (JSONSchemaProps does).
//
// Rules: API conventions on list-type and map-type (KEP-555, KEP-1152) and the
// patchStrategy and patchMergeKey tags of the built-in types.
type Type struct {
	Name string // name in the schema, as io.k8s.api.core.v1.PodSpec; "" for an inline type
	Kind Kind

	// Atomic makes an Object or Map one value (x-kubernetes-map-type: atomic).
	// A List or Scalar always is one, whatever Atomic is.
	Atomic bool

	Fields map[string]Field // Object: the declared fields
	Open   bool             // Object: undeclared fields are legal (x-kubernetes-preserve-unknown-fields)
	Elem   *Type            // Map, List, Keyed, Set: the type of an entry; nil is Unknown
	Keys   []Key            // Keyed: what identifies an entry, in the schema's order; never empty
	OneOf  []OneOf          // Object: groups of fields that exclude each other

	// Unique lists fields, besides the keys, whose values taken together the API refuses
	// twice in a Keyed list; each row separately. They identify an entry whose key was
	// changed in live.
	Unique [][]Key

	// Exclusive lists members of a Set of which the API allows one (Deny and Warn of a
	// policy binding's validationActions).
	Exclusive []string

	// Fixed lists what the API does not let anyone change once the object exists or runs.
	Fixed []Fixed

	// Mirrored lists pairs of fields that the server keeps alike: stating one states both
	// (PodSpec.serviceAccount is the old name of serviceAccountName).
	Mirrored [][2]string

	// Made lists paths, of names from a value of this type, to entries of maps that the
	// server itself creates.
	Made [][]string

	// Defaults lists what the server fills in by rules, in its order.
	Defaults []Default

	// Same reports whether two non-null values are one value to the server though spelled
	// differently (quantities, times). nil means literal equality, numbers by value. It is
	// called only for scalars.
	Same func(a, b any) bool

	// Source names the source of this rule: see the Source constants. "" inherits.
	Source string
}

// Makes reports whether the path leads to an entry of a map that the server itself creates, by Made.
// nil makes none.
func (t *Type) Makes(p Path) bool {
	return t != nil && slices.ContainsFunc(t.Made, func(names []string) bool { return leads(names, p) })
}

// Field returns what is known of a field, or of a key, of a value of this type. For an
// undeclared one, and where t is nil, that is nothing.
func (t *Type) Field(name string) Field {
	switch {
	case t == nil:
		return Field{}
	case t.Kind == Object:
		return t.Fields[name]
	}
	return Field{Type: t.Elem}
}

// EntryType returns the type of an entry of a map or list of this type; nil, as for a nil
// t, is Unknown.
func (t *Type) EntryType() *Type {
	if t == nil {
		return nil
	}
	return t.Elem
}

// At returns the type of the value at a path below; nil, as for a nil t, where nothing is
// known of it.
func (t *Type) At(p Path) *Type {
	for _, s := range p {
		if s.Kind == FieldStep {
			t = t.Field(s.Name).Type
		} else {
			t = t.EntryType()
		}
	}
	return t
}

// The sources that state how a field is split; Type.Source and the explanation carry these words.
const (
	SourceRules    = "rules"
	SourceBuiltin  = "built-in types"
	SourceServer   = "server's schema"
	SourceFile     = "schema file"
	SourceInferred = "inferred"
	SourceComment  = "comment"
)

// Field is one declared field of an Object.
type Field struct {
	Type *Type // nil is Unknown

	// Default is the value that the server fills in where the field is left out, or nil. A
	// missing list-map-key takes it.
	Default any

	// Nullable: the server stores null as a value of its own.
	Nullable bool

	// ZeroIsAbsent: the server stores "", false, 0, [] and {} like the field's
	// absence (a non-pointer field of a compiled-in Go type).
	ZeroIsAbsent bool

	// Allocated: the server fills the field in, and "" or [] written for it means "not set"
	// (a Service's clusterIP).
	Allocated bool

	// Required: an object without the field is refused. Only schemas that were read state
	// it; the compiled-in types do not.
	Required bool
}

// Key is one field of a keyed list's identity.
type Key struct {
	Name    string
	Default any // stands for a missing key; nil: a missing key identifies nothing
	// Same as Type.Same of the key's field; nil: literal.
}

// OneOf is a group of fields of an Object of which only one may be set.
type OneOf struct {
	// Fields exclude each other.
	Fields []string

	// Discriminator names the field that states which of Fields is meant; "" where there is
	// none. Selects maps its values to the field each allows (a value that is missing
	// allows none of Fields). Fallback is the value that the server fills in when the
	// discriminator is left out.
	Discriminator string
	Selects       map[string]string
	Fallback      string

	// Displaces: a field of the group that local states displaces the others (true
	// of every group without a discriminator).
	Displaces bool
}
