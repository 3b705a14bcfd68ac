package undo

import (
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// generated lists values that the server makes for one object alone, from its UID, and refuses in
// another one. Each row is a kind, the field in which users state them instead, and their paths.
var generated = []struct {
	group, kind string
	unless      merge.Path
	paths       []merge.Path
}{
	{"batch", "Job", fields("spec", "manualSelector"), []merge.Path{
		fields("spec", "selector"),
		fields("spec", "template", "metadata", "labels", "controller-uid"),
		fields("spec", "template", "metadata", "labels", "batch.kubernetes.io/controller-uid"),
	}},
}

func fields(names ...string) merge.Path {
	p := make(merge.Path, len(names))
	for i, name := range names {
		p[i] = merge.Named(name)
	}
	return p
}

// anew returns an object as it can be created again: without the values that the server had
// generated for it. The argument is not modified.
func anew(obj map[string]any) map[string]any {
	o := object.Object{Value: obj}
	var out any = obj
	for _, row := range generated {
		stated, _ := merge.Lookup(obj, row.unless, nil)
		if row.group != o.Group() || row.kind != o.Kind() || stated == true {
			continue
		}
		for _, p := range row.paths {
			out, _ = put(out, p, merge.Opt{}, nil)
		}
	}
	return merge.At[map[string]any](out)
}
