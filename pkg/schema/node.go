package schema

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// node is the part of a JSON schema, as OpenAPI documents and CRDs have it, that matters
// for merging.
type node struct {
	Ref                  string          `json:"$ref"`
	Type                 jsonType        `json:"type"`
	Format               string          `json:"format"`
	Properties           map[string]node `json:"properties"`
	Required             []string        `json:"required"`
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
	Items                *node           `json:"items"`
	AllOf                []node          `json:"allOf"`
	Default              json.RawMessage `json:"default"`
	Nullable             bool            `json:"nullable"`

	// The constraints on the fields that are present, besides required.
	Not           *constraint  `json:"not"`
	OneOf         []constraint `json:"oneOf"`
	AnyOf         []constraint `json:"anyOf"`
	MaxProperties *int         `json:"maxProperties"`

	ListType      string   `json:"x-kubernetes-list-type"`
	ListMapKeys   []string `json:"x-kubernetes-list-map-keys"`
	MapType       string   `json:"x-kubernetes-map-type"`
	PatchStrategy string   `json:"x-kubernetes-patch-strategy"`
	PatchMergeKey string   `json:"x-kubernetes-patch-merge-key"`
	Preserve      bool     `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded      bool     `json:"x-kubernetes-embedded-resource"`
	IntOrString   bool     `json:"x-kubernetes-int-or-string"`
	Unions        []union  `json:"x-kubernetes-unions"`
	Validations   []struct {
		Rule string `json:"rule"`
	} `json:"x-kubernetes-validations"`
}

// The rule in CEL that no two entries of a list have the same values in some fields:
// self.all(a, self.exists_one(b, a.port == b.port)). Where a field may be missing, the rule
// first checks both entries with has (the listeners of a Gateway).
var (
	existsOne = regexp.MustCompile(`^\s*self\s*\.\s*all\(\s*(\w+)\s*,\s*self\s*\.\s*exists_one\(\s*(\w+)\s*,(.*)\)\s*\)\s*$`)
	alikeIn   = regexp.MustCompile(`(\w+)\.(\w+)\s*==\s*(\w+)\.(\w+)`)
	around    = regexp.MustCompile(`!?has\(\w+\.\w+\)|&&|[?:()\s]`)
)

// unique returns the fields whose values together are unique in a list, by its rules.
func (n *node) unique() (rows [][]merge.Key) {
	for _, v := range n.Validations {
		m := existsOne.FindStringSubmatch(strings.ReplaceAll(v.Rule, "\n", " "))
		if m == nil || around.ReplaceAllString(alikeIn.ReplaceAllString(m[3], ""), "") != "" {
			continue
		}
		var row []merge.Key
		for _, same := range alikeIn.FindAllStringSubmatch(m[3], -1) {
			if same[1] == same[3] || same[2] != same[4] || same[1] != m[1] && same[1] != m[2] || same[3] != m[1] && same[3] != m[2] {
				row = nil
				break
			}
			row = append(row, merge.Key{Name: same[2]})
		}
		if row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

// oneOf lists the groups of fields that exclude each other by the constraints of the schema
// on an object, or of the schemas that it is composed of.
func (n *node) oneOf(declared map[string]merge.Field) []merge.OneOf {
	if n.MaxProperties != nil && *n.MaxProperties == 1 && len(n.Properties) > 1 {
		return []merge.OneOf{{Fields: slices.Sorted(maps.Keys(n.Properties)), Displaces: true}}
	}
	own := constraint{required: n.Required, not: n.Not, oneOf: n.OneOf, anyOf: n.AnyOf}
	groups := own.exclusive(declared)
	for i := range n.AllOf {
		groups = append(groups, n.AllOf[i].oneOf(declared)...)
	}
	return groups
}

type union struct {
	Fields map[string]string `json:"fields-to-discriminateBy"`
}

// jsonType is a type's name; OpenAPI 3.1 may list several, and then it states none.
type jsonType string

// UnmarshalJSON reads "string" and ["string"] alike.
func (t *jsonType) UnmarshalJSON(data []byte) error {
	var many []string
	if json.Unmarshal(data, &many) == nil {
		many = slices.DeleteFunc(many, func(s string) bool { return s == "null" })
		if len(many) == 1 {
			*t = jsonType(many[0])
		}
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}
