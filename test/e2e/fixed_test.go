package e2e

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// read reads a YAML file.
func read(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFixed holds the facts about what can no longer be changed to the server: it refuses the change of
// each row, and the program says so before; what it allows, the program does not call refused. What a row has
// more in live stays there, which is right only where the server refuses to have it taken away.
func TestFixed(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	api, u := newObjects(t, s), s.user(t, "fixed")
	tried := map[string]bool{} // by kind and path
	for i, one := range read(t, "testdata/fixed.yaml").([]any) {
		row := one.(map[string]any)
		o, at := row["in"].(map[string]any), row["at"].(string)
		name := fmt.Sprint(u.ns, "-", i)
		meta := map[string]any{"name": name}
		if o["metadata"] = meta; api.of(o).Namespaced {
			meta["namespace"] = u.ns
		}
		live, _ := api.create(t, o).(map[string]any)
		if live == nil {
			t.Errorf("%s %s: cannot be created", o["kind"], at)
			continue
		}
		if !api.of(o).Namespaced {
			u.file(name, spelled(live))
			u.removesAfterwards(name)
		}
		tried[fmt.Sprint(o["kind"], " ", at)] = true
		was, err := decodeJSON([]byte(spelled(live)))
		if err != nil {
			t.Fatal(err)
		}
		putAt(live, strings.Split(at, "/"), row)
		var foreseen []string
		group, version, _ := strings.Cut(o["apiVersion"].(string), "/")
		if version == "" {
			group, version = "", group
		}
		typ, _ := schema.Builtin(group, version, o["kind"].(string))
		for _, f := range typ.Fixed {
			if f.Forbids(typ, was.(map[string]any), live) {
				foreseen = append(foreseen, f.String())
			}
		}
		_, allowed := api.put(t, live, "fixed")
		if want := row["allowed"] == true; allowed != want || (foreseen == nil) != want {
			t.Errorf("%s %s: the server allows the change: %t, want %t; %q are called fixed", o["kind"], at, allowed, want, foreseen)
		}
	}
	facts := read(t, "../../pkg/schema/internal/gen/facts.yaml").(map[string]any)["fixed"].(map[string]any)
	if len(facts) == 0 {
		t.Error("facts.yaml has no fixed paths")
	}
	for name, paths := range facts {
		kind := strings.TrimPrefix(path.Ext(name), ".")
		for _, p := range paths.([]any) {
			found := slices.Contains(elsewhere, kind)
			p, _, _ := strings.Cut(p.(string), " ")
			for key := range tried {
				found = found || strings.HasPrefix(key+"/", fmt.Sprint(kind, " ", p, "/"))
			}
			if !found {
				t.Errorf("%s %s: no row of testdata/fixed.yaml", kind, p)
			}
		}
	}
	t.Logf("%d changes are refused", len(tried))
}

// elsewhere are kinds of which nothing is tried here: the spec of an update is ignored; it is not served; its
// name is an address; its status is written at once. The last two are in the story recreate/set-only-once.
var elsewhere = []string{"CertificateSigningRequest", "ClusterTrustBundle", "IPAddress", "CustomResourceDefinition"}

// putAt sets the value at a place to the row's, or without one takes the first entry out of the
// list there, or one key out of the map.
func putAt(v any, at []string, row map[string]any) {
	to, set := row["to"]
	if !set {
		lessened(v, at)
		return
	}
	for _, name := range at[:len(at)-1] {
		if i, err := strconv.Atoi(name); err == nil {
			v = v.([]any)[i]
			continue
		}
		in := v.(map[string]any)
		if in[name] == nil {
			in[name] = map[string]any{}
		}
		v = in[name]
	}
	last := at[len(at)-1]
	if i, err := strconv.Atoi(last); err == nil {
		v.([]any)[i] = to
	} else if to == nil {
		delete(v.(map[string]any), last)
	} else {
		v.(map[string]any)[last] = to
	}
}

// lessened takes the first entry out of the list, or one key out of the map, at a place.
func lessened(v any, at []string) {
	for _, name := range at[:len(at)-1] {
		if i, err := strconv.Atoi(name); err == nil {
			v = v.([]any)[i]
		} else {
			v = v.(map[string]any)[name]
		}
	}
	in, last := v.(map[string]any), at[len(at)-1]
	switch held := in[last].(type) {
	case []any:
		in[last] = held[1:]
	case map[string]any:
		delete(held, "c")
	}
}
