package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// saved is a Reader of the YAML text.
func saved(t *testing.T, text string) *Files {
	t.Helper()
	name := filepath.Join(t.TempDir(), "live.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := source.ReadSaved(t.Context(), source.Inputs{Files: []string{name}, Flag: "--live"})
	if err != nil {
		t.Fatal(err)
	}
	return &Files{Saved: s, Kind: func(_, _, kind string) (schema.Kind, bool) {
		return schema.Kind{Kind: kind, Resource: "widgets", Namespaced: true, HasStatus: true}, kind == "Widget"
	}}
}

func parsed(t *testing.T, text string) []object.Object {
	t.Helper()
	all, err := source.Parse("local.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const liveObjects = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}, data: {a: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: many, namespace: shop}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: many, namespace: test}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: nowhere}}
---
{apiVersion: v1, kind: Node, metadata: {name: node1}}
---
{apiVersion: example.com/v1, kind: Gadget, metadata: {name: g}}
`

// TestFiles: an object is where its saved form is, and where there is none, where the
// cluster would put it.
func TestFiles(t *testing.T) {
	for _, tt := range []struct {
		reason, local string
		ns            Namespacing
		namespace     string
		found         bool
		err           string
	}{
		{"in its own namespace", `{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}}`, Namespacing{}, "shop", true, ""},
		{"in the one where its saved form is", `{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}`, Namespacing{}, "shop", true, ""},
		{"in the one that the user names", `{apiVersion: v1, kind: ConfigMap, metadata: {name: many}}`, Namespacing{Default: "test", Enforce: true}, "test", true, ""},
		{"which is to be named where it is saved in several", `{apiVersion: v1, kind: ConfigMap, metadata: {name: many}}`, Namespacing{}, "", false, "is saved in several namespaces ([shop test]): name one with -n"},
		{"nothing is saved", `{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}`, Namespacing{}, "default", false, ""},
		{"saved without a namespace", `{apiVersion: v1, kind: ConfigMap, metadata: {name: nowhere}}`, Namespacing{}, "default", true, ""},
		{"of a cluster-scoped kind", `{apiVersion: v1, kind: Node, metadata: {name: node1, namespace: shop}}`, Namespacing{Default: "test", Enforce: true}, "", true, ""},
		{"of an unknown kind that is saved without one", `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: g}}`, Namespacing{}, "", true, ""},
		{"of a kind that a definition describes", `{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}`, Namespacing{}, "default", false, ""},
		{"against the namespace that the user names", `{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}}`, Namespacing{Default: "test", Enforce: true}, "", false, "does not match the namespace"},
		{"of a kind that does not exist", `{apiVersion: apps/v1, kind: Deploymnt, metadata: {name: d}}`, Namespacing{}, "", false, "(did you mean Deployment?)"},
	} {
		f := saved(t, liveObjects)
		f.Namespaces = tt.ns
		located, err := f.Resolve(t.Context(), parsed(t, tt.local))
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %s", tt.reason, err, tt.err)
		}
		if err != nil {
			continue
		}
		l := located[0]
		if l.Target.Namespace != tt.namespace || l.Object.Namespace() != tt.namespace || l.Target.Namespaced != (tt.namespace != "") {
			t.Errorf("%s: in %q, want %q", tt.reason, l.Target.Namespace, tt.namespace)
		}
		got, err := f.Get(t.Context(), l.Target)
		if err != nil || (got != nil) != tt.found {
			t.Errorf("%s: %v, %v", tt.reason, got, err)
		}
	}
}

// TestResolveAll: what is wrong with one object does not hide what is wrong with others,
// nor the objects that are in order.
func TestResolveAll(t *testing.T) {
	f := saved(t, liveObjects)
	located, err := f.Resolve(t.Context(), parsed(t, `
{apiVersion: apps/v1, kind: Deploymnt, metadata: {name: d}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: many}}`))
	if len(located) != 1 || err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("%v, %v", located, err)
	}
	twice := `{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}, data: {a: "1"}}`
	if _, err := f.Resolve(t.Context(), parsed(t, twice)); err == nil || !strings.Contains(err.Error(), "is the same object as at") {
		t.Errorf("one object, found twice only once its namespace is known: %v", err)
	}
}
