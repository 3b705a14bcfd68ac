package undo

import (
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/object"
)

// generated are values that the server makes for one object alone, from its UID, and refuses in
// another one. Each row is a kind, the field that says that they were stated instead, and their
// paths.
var generated = []struct {
	group, kind string
	unless      string
	paths       []string
}{
	{"batch", "Job", "spec.manualSelector", []string{
		"spec.selector", `spec.template.metadata.labels["controller-uid"]`, `spec.template.metadata.labels["batch.kubernetes.io/controller-uid"]`,
	}},
}

// anew is an object as it can be created again: without what the server had generated for it.
// The argument is not modified.
func anew(obj map[string]any) map[string]any {
	o := object.Object{Value: obj}
	var out any = obj
	for _, row := range generated {
		if row.group != o.Group() || row.kind != o.Kind() || lookup(obj, row.unless) == true {
			continue
		}
		for _, path := range row.paths {
			if p, err := merge.ParsePath(path); err == nil {
				out, _ = put(out, p, merge.Opt{}, nil)
			}
		}
	}
	made, _ := out.(map[string]any)
	return made
}

func lookup(obj map[string]any, path string) any {
	p, err := merge.ParsePath(path)
	if err != nil {
		return nil
	}
	v, _ := merge.Lookup(obj, p, nil)
	return v
}
