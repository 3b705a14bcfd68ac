package e2e

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// rowsOf reads a YAML file with a list, or the list in one of its fields.
func rowsOf(t *testing.T, file, field string) (rows []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if field != "" {
		v = v.(map[string]any)[field]
	}
	for _, row := range v.([]any) {
		rows = append(rows, row.(map[string]any))
	}
	return rows
}

// TestFixed holds the facts about what can no longer be changed to the server: what a row has added
// in live stays there, which is right only where the server refuses to have it taken away.
func TestFixed(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	api, u := newObjects(t, s), s.user(t, "fixed")
	tried := map[string]bool{} // by kind and path
	for i, row := range rowsOf(t, "testdata/fixed.yaml", "") {
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
		if !api.of(o).Namespaced { // a PersistentVolume
			u.file(name, spelled(o))
			u.removesAfterwards(name)
		}
		tried[fmt.Sprint(o["kind"], " ", at)] = true
		lessened(live, strings.Split(at, "/"))
		if _, allowed := api.put(t, live, "fixed"); allowed {
			t.Errorf("%s: the server lets an entry of %s be removed", o["kind"], at)
		}
	}
	for _, fact := range rowsOf(t, "../../pkg/schema/internal/gen/facts.yaml", "fixed") {
		kind := strings.TrimPrefix(path.Ext(fact["type"].(string)), ".")
		for _, p := range fact["paths"].([]any) {
			found := kind == "CertificateSigningRequest" // of which the server ignores the spec of an update
			for key := range tried {
				found = found || strings.HasPrefix(key+"/", fmt.Sprint(kind, " ", p, "/"))
			}
			if !found {
				t.Errorf("%s %s: no row of testdata/fixed.yaml", kind, p)
			}
		}
	}
	t.Logf("%d removals are refused", len(tried))
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
