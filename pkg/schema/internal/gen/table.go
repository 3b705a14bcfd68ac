package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// table is the whole file in memory.
type table struct {
	kinds []kindRow
	types map[string]*typeRow

	controlPlane []string // prefixes of its managers' names
}

type typeRow struct {
	name     string // as the table writes it, see typename
	atomic   bool
	noSchema bool // no server-side-apply schema has it
	fields   []fieldCol
	unions   []smd.Union
	lines    []string // of texts, with their marks
}

type fieldCol struct {
	name         string
	shape        string
	pointer      bool
	allocated    bool
	defaultValue any

	serverDefault string // the default of the server's functions, as JSON; "" for none
	tag           reflect.StructTag
}

const header = `# The built-in types, as far as a merge needs to know them.
# Generated from the Kubernetes modules and facts.yaml; do not edit: go generate ./pkg/schema
#
# kind GROUP/VERSION KIND RESOURCE SCOPE STATUS TYPE
#
# control-plane PREFIX        managers whose names begin so are the server's
#
# type NAME ["atomic"]        io.k8s.api. is left out, and io.k8s.apimachinery.pkg.apis. before meta
#	FIELD SHAPE ["="DEFAULT] ["allocated"]
#	| FIELD FIELD…               of which one may be set
#	| BY:FALLBACK VALUE=FIELD…   of which the field BY allows one ["displaces"]
#	> PATH VALUE ["if" CONDITION…] what the server fills in by a rule, see facts.yaml
#	= FIELD FIELD                the server keeps the two alike
#	! PATH                       an entry of a map that the server itself makes
#	# PATH ["grows"|"shrinks"] ["except" PATH…] ["was" CONDITION…] ["if" CONDITION…]
#                            what can no longer be changed, see facts.yaml
#
# SHAPE: a leaf, a type, "*" before it where the server tells a zero from absence,
# []x atomic list, [=]x set, [=a|b]x one of which a and b exclude each other, [key,key="default"]x keyed list, [key;other]x one in which
# other may not repeat either, {}x map,
# {!}x atomic map, !x the type as one value, ~x the atomic type field by field
`

// tableText writes the table: kinds, then types, each sorted, so that a reader can use binary
// search.
func (t *table) tableText() []byte {
	var b bytes.Buffer
	b.WriteString(header)
	b.WriteByte('\n')
	for _, k := range t.kinds {
		status := "-"
		if k.hasStatus {
			status = "status"
		}
		fmt.Fprintf(&b, "kind %s/%s %s %s %s %s %s\n", k.Group, k.Version, k.Kind, k.resource, k.scope, status, modelName(k.root))
	}
	for _, prefix := range t.controlPlane {
		b.WriteString("control-plane " + prefix + "\n")
	}
	for _, name := range t.names() {
		b.WriteByte('\n')
		t.types[name].write(&b)
	}
	return b.Bytes()
}

func (t *table) names() []string { return slices.Sorted(maps.Keys(t.types)) }

func (r *typeRow) write(b *bytes.Buffer) {
	b.WriteString("type " + r.name)
	if r.atomic {
		b.WriteString(" atomic")
	}
	b.WriteByte('\n')
	for _, f := range r.fields {
		b.WriteString("\t" + f.name + " ")
		if f.pointer {
			b.WriteByte('*')
		}
		b.WriteString(f.shape)
		if text := f.defaultText(); text != "" {
			b.WriteString(" =" + text)
		}
		if f.allocated {
			b.WriteString(" allocated")
		}
		b.WriteByte('\n')
	}
	for _, mark := range "|=!#>" {
		for _, line := range r.lines {
			if strings.HasPrefix(line, string(mark)) {
				b.WriteString("\t" + line + "\n")
			}
		}
	}
}

// defaultText returns the default as JSON without blanks, or "".
func (f fieldCol) defaultText() string {
	if f.serverDefault != "" {
		return f.serverDefault
	}
	m, isMap := f.defaultValue.(map[string]any)
	if f.defaultValue == nil || !f.pointer && isNoise(f.defaultValue) || isMap && len(m) == 0 {
		return ""
	}
	text, _ := json.Marshal(f.defaultValue) // read from JSON
	return string(text)
}
