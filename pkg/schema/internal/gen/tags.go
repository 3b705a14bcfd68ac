package main

import (
	"bytes"
	"cmp"
	"fmt"
)

const tagsHeader = `# The patch tags of the built-in types, by which kubectl apply merges.
# Generated from k8s.io/api; do not edit: go generate ./pkg/schema
#
# TYPE FIELD STRATEGIES KEY: "-" is none
`

// tags writes the fields that have patch tags.
func (t *table) tags() []byte {
	var b bytes.Buffer
	b.WriteString(tagsHeader + "\n")
	for _, name := range t.names() {
		for _, f := range t.types[name].fields {
			strategies, key := f.tag.Get("patchStrategy"), f.tag.Get("patchMergeKey")
			if strategies != "" || key != "" {
				fmt.Fprintf(&b, "%s %s %s %s\n", fullName(name), f.name, cmp.Or(strategies, "-"), cmp.Or(key, "-"))
			}
		}
	}
	return b.Bytes()
}
