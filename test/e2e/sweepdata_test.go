package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// sweepData is testdata/sweep. used are the names of all in it that the server had a
// use for.
type sweepData struct {
	bases     map[string]any // by kind
	fixed     map[string]any // by kind and path
	leftKinds map[string]any // the reasons
	leftLists map[string]any // the reasons
	entries   map[string]any
	used      map[string]bool
}

func readSweepData(t *testing.T) *sweepData {
	t.Helper()
	read := func(name string) map[string]any {
		text, err := os.ReadFile(filepath.Join("testdata/sweep", name))
		if err != nil {
			t.Fatal(err)
		}
		v, err := decode(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v.(map[string]any)
	}
	kinds := read("kinds.yaml")
	out := kinds["out"].(map[string]any)
	d := &sweepData{
		bases: map[string]any{}, fixed: kinds["fixed"].(map[string]any),
		leftKinds: out["kinds"].(map[string]any), leftLists: out["lists"].(map[string]any),
		entries: read("lists.yaml"), used: map[string]bool{},
	}
	for _, base := range kinds["kinds"].([]any) {
		base := base.(map[string]any)
		group, kind := kindOf(base)
		apiVersion := base["apiVersion"].(string)
		d.bases[group+"/"+apiVersion[strings.LastIndex(apiVersion, "/")+1:]+" "+kind] = base
	}
	return d
}

// stale finds data that nothing asks for any more.
func (d *sweepData) stale(t *testing.T) {
	t.Helper()
	for _, all := range []map[string]any{d.bases, d.fixed, d.leftKinds, d.leftLists, d.entries} {
		for name := range all {
			if !d.used[name] {
				t.Errorf("testdata/sweep knows %s, and the server has no use for it", name)
			}
		}
	}
}

// object is a named part of the data, nil where there is none.
func (d *sweepData) object(in map[string]any, name string) map[string]any {
	v, ok := in[name].(map[string]any)
	if ok {
		d.used[name] = true
	}
	return v
}

// leaves says whether something is left out.
func (d *sweepData) leaves(in map[string]any, name string) bool {
	_, out := in[name]
	if out {
		d.used[name] = true
	}
	return out
}

// entriesAt counts the entries of a manifest's list; false where what the list is in
// is not there.
func entriesAt(v any, names []string) (n int, reached bool) {
	for i, name := range names {
		switch at := v.(type) {
		case []any:
			if name != "*" || len(at) == 0 {
				return 0, false
			}
			v = at[0]
		case map[string]any:
			v = at[name]
		default:
			return 0, !slices.Contains(names[i:], "*")
		}
	}
	list, _ := v.([]any)
	return len(list), true
}

// situations are the edits of a list, made with legal entries.
func situations(e map[string]any, p gen.Place) []gen.Sides {
	value := func(name string) any {
		v := e[name]
		if v == nil && len(name) == 1 {
			v = e["each"]
		}
		return replaced(v, strings.NewReplacer("$LIST", strings.ToLower(p.Names[len(p.Names)-1]), "$N", name))
	}
	if p.Field.Type.Kind == merge.Set {
		return gen.SetSides(value("a"), value("b"), value("c"), value("x"))
	}
	entry := func(name string) map[string]any { m, _ := value(name).(map[string]any); return m }
	k := gen.KeyedSides{Type: p.Field.Type, A: entry("a"), B: entry("b"), C: entry("c"), X: entry("x"), Twin: entry("twin")}
	for name, v := range entry("own") {
		k.Own, k.Changed = name, v
	}
	for name, v := range entry("theirs") {
		k.Theirs, k.Set = name, v
	}
	return k.All()
}

// replaced is a copy of v with words replaced in it.
func replaced(v any, words *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return words.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = replaced(e, words)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = replaced(e, words)
		}
		return out
	}
	return v
}
