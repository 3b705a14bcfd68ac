// Package schemas holds the JSON schemas of what the program prints for programs. The files here are the
// published ones, and the program prints these.
package schemas

import (
	"embed"
	"encoding/json"
	"strings"
)

//go:embed *.json
var files embed.FS

// Schema is one JSON schema.
type Schema struct {
	Name  string // outcome
	Title string
	Text  []byte
}

// All returns the schemas by name.
func All() []Schema {
	entries, _ := files.ReadDir(".") // it is embedded
	all := make([]Schema, 0, len(entries))
	for _, e := range entries {
		text, _ := files.ReadFile(e.Name())
		var head struct{ Title string }
		_ = json.Unmarshal(text, &head) // a test reads each
		name, _, _ := strings.Cut(e.Name(), ".")
		all = append(all, Schema{Name: name, Title: head.Title, Text: text})
	}
	return all
}
