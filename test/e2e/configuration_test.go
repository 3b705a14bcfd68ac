package e2e

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// typeOf is how an object of a template's kind is split.
func typeOf(t *testing.T, template map[string]any) *merge.Type {
	t.Helper()
	group, kind := kindOf(template)
	apiVersion, _ := template["apiVersion"].(string)
	version := strings.TrimPrefix(apiVersion, group+"/")
	if typ, ok := schema.Builtin(group, version, kind); ok {
		return typ
	}
	for _, file := range definitions {
		text, err := os.ReadFile(file.name)
		if err != nil {
			t.Fatal(err)
		}
		crd, err := decode(text)
		if err != nil {
			t.Fatal(err)
		}
		defs, err := schema.FromCRD(crd, merge.SourceFile)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range defs {
			if d.Group == group && d.Version == version && d.Kind.Kind == kind {
				return d.Type
			}
		}
	}
	t.Fatalf("no type of %s %s", apiVersion, kind)
	return nil
}

// configuration returns the fields of an object that users state: without its status,
// the fields that the server owns, and the annotation.
func configuration(v any, ns string) any {
	o, _ := v.(map[string]any)
	if o == nil {
		return nil
	}
	o = maps.Clone(o)
	delete(o, "status")
	meta := map[string]any{}
	was, _ := o["metadata"].(map[string]any)
	for _, name := range []string{"name", "labels", "annotations", "finalizers", "ownerReferences"} {
		if was[name] != nil {
			meta[name] = was[name]
		}
	}
	if notes, _ := meta["annotations"].(map[string]any); notes != nil {
		notes = maps.Clone(notes)
		delete(notes, lastAppliedKey)
		delete(notes, "deprecated.daemonset.template.generation") // which the server counts
		if meta["annotations"] = notes; len(notes) == 0 {
			delete(meta, "annotations")
		}
	}
	o["metadata"] = meta
	if plain, _ := o["stringData"].(map[string]any); plain != nil && o["kind"] == "Secret" {
		data, _ := o["data"].(map[string]any)
		if data = maps.Clone(data); data == nil {
			data = map[string]any{}
		}
		for k, v := range plain {
			if s, isText := v.(string); isText {
				v = base64.StdEncoding.EncodeToString([]byte(s))
			}
			data[k] = v
		}
		o["data"] = data
		delete(o, "stringData")
	}
	uid, _ := was["uid"].(string)
	return renamed(renamed(o, ns, "$NS"), uid, "$UID")
}

// stated is the configuration of a manifest, without what it leaves to the server
// to allocate.
func stated(typ *merge.Type, v any, ns string) any {
	return marked(mirrored(configuration(v, ns)), merge.Field{Type: typ}, func(v any) any {
		if v == json.Number("0") || v == "" {
			return nil
		}
		return v
	})
}

// mirrored states a service account by its old name too, as the server does.
func mirrored(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = mirrored(e)
		}
		if name, stated := v["serviceAccountName"]; stated {
			out["serviceAccount"] = name
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = mirrored(e)
		}
		return out
	}
	return v
}

// clusterOnly is a Service as the server takes away what goes with node ports, where
// it is to have none any more.
func clusterOnly(before, after any) any {
	o, _ := after.(map[string]any)
	if spec, _ := o["spec"].(map[string]any); o["kind"] != "Service" || spec["type"] != "ClusterIP" {
		return before
	}
	before = deepCopy(before)
	if spec, ok := at(before, []any{"spec"}).(map[string]any); ok {
		delete(spec, "externalTrafficPolicy")
	}
	ports, _ := at(before, []any{"spec", "ports"}).([]any)
	for _, port := range ports {
		if m, ok := port.(map[string]any); ok {
			delete(m, "nodePort")
		}
	}
	return before
}

// lastApplied is the text of an object's annotation.
func lastApplied(v any) string {
	text, _ := at(v, []any{"metadata", "annotations", lastAppliedKey}).(string)
	return text
}

// renamed has one word in place of another one, wherever it is; "" is none.
func renamed(v any, old, word string) any {
	if old == "" {
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	out, err := decodeJSON([]byte(strings.ReplaceAll(string(text), old, word)))
	if err != nil {
		return err.Error()
	}
	return out
}

// marked is a value with something else in place of each value that the server
// allocates.
func marked(v any, f merge.Field, mark func(any) any) any {
	if f.Allocated {
		return mark(v)
	}
	t := f.Type
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			var field merge.Field
			switch {
			case t != nil && t.Kind == merge.Object:
				field = t.Fields[name]
			case t != nil:
				field.Type = t.Elem
			}
			if is := marked(e, field, mark); is != nil || e == nil {
				out[name] = is
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var field merge.Field
			if t != nil {
				field.Type = t.Elem
			}
			out[i] = marked(e, field, mark)
		}
		return out
	}
	return v
}

// dropField is a value without the field that a path leads to; the value itself
// where the path leads elsewhere.
func dropField(v any, p merge.Path) any {
	if len(p) == 0 {
		return v
	}
	last := p[len(p)-1]
	out := deepCopy(v)
	parent, _ := merge.Lookup(out, p[:len(p)-1], nil)
	if m, ok := parent.(map[string]any); ok && last.Kind == merge.FieldStep {
		delete(m, last.Name)
	}
	return out
}

// has says whether all of some value is in another, where it was.
func has(in, all any) bool {
	switch all := all.(type) {
	case nil:
		return true
	case map[string]any:
		m, ok := in.(map[string]any)
		for k, v := range all {
			ok = ok && has(m[k], v)
		}
		return ok
	case []any:
		list, ok := in.([]any)
		return ok && slices.EqualFunc(list, all, has)
	}
	return sameScalar(in, all)
}

// spelled is a value, whole.
func spelled(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
