package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// upgrades is how often each program upgrades its definitions.
const upgrades = 3

// definitions measures the upgrade of n CustomResourceDefinitions, of which each gets a field,
// beside kubectl apply; each program has its own.
func (s *single) definitions(ctx context.Context) error {
	type program struct {
		name, file string
		args       []string
		outcome    string
	}
	all := []program{
		{"kubectl merge", s.merge, []string{"-f"}, " configured"},
		{"kubectl merge --preflight=false", s.merge, []string{"--preflight=false", "-f"}, " configured"},
		{"kubectl merge --server-side", s.merge, []string{"--server-side", "-f"}, " serverside-applied"},
		{"kubectl merge --server-side --preflight=false", s.merge, []string{"--server-side", "--preflight=false", "-f"}, " serverside-applied"},
		{"kubectl apply --server-side", s.server.Kubectl, []string{"apply", "--server-side", "-f"}, " serverside-applied"},
		{"kubectl apply", s.server.Kubectl, []string{"apply", "-f"}, " configured"},
	}
	file := func(i, version int) string { return filepath.Join(s.dir, fmt.Sprintf("crds-%d-%d.yaml", i, version)) }
	for i := range all {
		for version := range upgrades + 1 {
			if err := writeDefinitions(file(i, version), fmt.Sprintf("d%d.bench.example.com", i), s.n, version); err != nil {
				return err
			}
		}
		if err := s.do(ctx, try{"", all[i].file, append(all[i].args, file(i, 0)), 0, nil, 0}); err != nil {
			return err
		}
	}
	for version := 1; version <= upgrades; version++ {
		for i, p := range all {
			label := fmt.Sprintf("CRDs upgraded by %s, round %d", p.name, version)
			if err := s.do(ctx, try{label, p.file, append(p.args, file(i, version)), 0, map[string]int{p.outcome: s.n}, 0}); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeDefinitions writes n definitions of realistic size: of every five, four have 40 KB of
// schema and one has 200 KB. Each later version has a field more.
func writeDefinitions(file, group string, n, version int) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for i := range n {
		sections := 10
		if i%5 == 0 {
			sections = 50
		}
		schema, err := json.Marshal(schemaOf(sections, version))
		if err != nil {
			return err
		}
		kind := fmt.Sprintf("Thing%d", i)
		plural := strings.ToLower(kind) + "s"
		if _, err := fmt.Fprintf(f, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {plural: %[1]s, singular: %[3]s, kind: %[4]s, listKind: %[4]sList}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: %[5]s}}]
`, plural, group, strings.ToLower(kind), kind, schema); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf is a schema of so many sections of 4 KB, and a field for each version.
func schemaOf(sections, version int) map[string]any {
	spec := map[string]any{}
	for i := range sections {
		spec[fmt.Sprintf("section%d", i)] = section(i)
	}
	for v := range version {
		spec[fmt.Sprintf("added%d", v)] = property("string", "what this version has more")
	}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	return object(map[string]any{"spec": object(spec), "status": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}})
}

// section is an object with fields and a keyed list, each with a description as generators
// write it.
func section(i int) map[string]any {
	const about = "describes the desired state of the part of the object that it names, as it is documented by those who have written the controller, with all of the cases that have to be kept in mind; "
	properties := map[string]any{}
	for j := range 12 {
		properties[fmt.Sprintf("field%d", j)] = property([]string{"string", "integer", "boolean"}[j%3], fmt.Sprintf("Field %d of section %d %s", j, i, about))
	}
	properties["items"] = map[string]any{
		"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []string{"name"}, "description": "The items: each " + about,
		"items": map[string]any{"type": "object", "required": []string{"name"}, "properties": map[string]any{"name": property("string", about), "value": property("string", about)}},
	}
	return map[string]any{"type": "object", "description": about, "properties": properties}
}

func property(kind, about string) map[string]any {
	return map[string]any{"type": kind, "description": about}
}
