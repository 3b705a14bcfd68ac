package corpus

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	objects "github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// TestNotesCanBeRead: no line of a note of any case is longer than 400 characters, with what is printed before it.
func TestNotesCanBeRead(t *testing.T) {
	for _, c := range load(t) {
		if out, err := strategy.Plan(c.Input); err == nil { // else TestCases has the error
			readable(t, c.Name, diff.Report{Local: c.Input.Triple.Local, Live: c.Input.Triple.Live, Plan: out.Plan, Type: c.Type})
		}
	}
}

// readable looks at what is printed of a merge: notes, conflicts, and what can be done about them.
func readable(t *testing.T, name string, r diff.Report) {
	t.Helper()
	for _, preview := range []bool{false, true} {
		r.Object, r.Voice = name, diff.Voice{Preview: preview}
		notes := append(diff.Notes(r), diff.Conflicts(r)...)
		for _, n := range append(notes, diff.Brief(notes, 3, preview)...) {
			for line := range strings.Lines("warning: " + n.String()) {
				if length := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); length > 400 {
					t.Errorf("%s: a line of %d characters: %.120s…", name, length, line)
				}
			}
		}
	}
}

// manifests are folders with manifests as people write them.
var manifests = []string{"../../examples", "../e2e/testdata/kinds", "../e2e/testdata/pictures", "../../internal/files/testdata/replay"}

// edits make a side of a document that differs from it in every value, and has much of all.
var edits = map[string]func(any) any{
	"texts of many lines": everywhere(func(v any) any { return strings.Repeat(fmt.Sprintf("%v, and more\n", v), 20) }, nil, nil),
	"long words":          everywhere(func(v any) any { return strings.Repeat(fmt.Sprint(v), 300) }, nil, nil),
	"many entries": everywhere(nil, func(list []any) []any {
		for i := range 12 {
			list = append(list, map[string]any{"name": fmt.Sprintf("entry-%d", i), "value": strings.Repeat("v", i)}, fmt.Sprint(i))
		}
		return list
	}, nil),
	"no entries": everywhere(nil, func([]any) []any { return []any{} }, nil),
	"many fields": everywhere(nil, nil, func(m map[string]any) {
		for i := range 12 {
			m[fmt.Sprintf("%s-%d", strings.Repeat("long", 50), i)] = "x"
		}
	}),
}

// everywhere changes the scalars, lists and maps in a value.
func everywhere(scalar func(any) any, list func([]any) []any, fields func(map[string]any)) func(any) any {
	var change func(any) any
	change = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for k, e := range v {
				out[k] = change(e)
			}
			if fields != nil {
				fields(out)
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = change(e)
			}
			if list != nil {
				out = list(out)
			}
			return out
		}
		if scalar != nil {
			return scalar(v)
		}
		return v
	}
	return change
}

// edited is an object with everything changed but what identifies it.
func edited(obj map[string]any, edit func(any) any) map[string]any {
	out, _ := edit(obj).(map[string]any)
	meta, _ := out["metadata"].(map[string]any)
	was, _ := obj["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	for _, name := range []string{"name", "namespace"} {
		if meta[name] = was[name]; was[name] == nil {
			delete(meta, name)
		}
	}
	out["apiVersion"], out["kind"], out["metadata"] = obj["apiVersion"], obj["kind"], meta
	return out
}

// TestNotesOfManifestsCanBeRead is the same for real documents in which others have changed everything.
func TestNotesOfManifestsCanBeRead(t *testing.T) {
	seen := 0
	for _, obj := range documents(t) {
		o := objects.Object{Value: obj}
		typ, _ := schema.Builtin(o.Group(), o.Version(), o.Kind())
		for name, edit := range edits {
			other := edited(obj, edit)
			for _, sides := range []merge.Triple{{Original: obj, Local: obj, Live: other}, {Local: other, Live: obj}} {
				for _, policy := range merge.Policies[:2] {
					out, err := strategy.Plan(strategy.Input{Triple: sides, Group: o.Group(), Version: o.Version(), Kind: o.Kind(), Schema: typ, Policy: policy})
					if err != nil {
						continue // such a value is no value of its field
					}
					seen++
					readable(t, o.Kind()+" with "+name, diff.Report{Local: sides.Local, Live: sides.Live, Plan: out.Plan, Type: typ})
				}
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d merges were looked at", seen)
	}
	t.Logf("%d merges", seen)
}

// documents are the objects of all manifests.
func documents(t *testing.T) (all []map[string]any) {
	t.Helper()
	for _, folder := range manifests {
		err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			docs, _ := source.Decode(text) // some are broken on purpose
			for _, doc := range docs {
				if obj, _ := doc.Value.(map[string]any); obj["kind"] != nil && obj["metadata"] != nil {
					all = append(all, obj)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
