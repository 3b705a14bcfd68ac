package diff_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

var update = flag.Bool("update", false, "write the goldens anew")

// golden compares got with testdata/name, control characters spelled out.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "\x1b", "<ESC>")
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-update accepts it):\n%s", path, d)
	}
}

const web = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"prod","generation":3,"resourceVersion":"9","uid":"u",
"creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"},"managedFields":[{"manager":"kubectl"}]},
"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"web","image":"web:1"},{"name":"proxy","image":"proxy:1"}]}}},"status":{"replicas":3}}`

const webMerged = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"prod","generation":4,"resourceVersion":"9","uid":"u",
"creationTimestamp":"2026-01-01T00:00:00Z","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"a\":1}"},"managedFields":[{"manager":"other"}]},
"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"},{"name":"proxy","image":"proxy:1"}]}}},"status":{"replicas":3}}`

func TestUnified(t *testing.T) {
	secret := func(v string) string {
		return `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"prod"},"data":{"same":"eA==","password":"` + v + `"}}`
	}
	for _, c := range []struct {
		reason, golden, live, result string
		o                            diff.Options
	}{
		{"a change, a removal, and no book-keeping", "change.diff", web, webMerged, diff.Options{}},
		{"in colour", "colour.diff", web, webMerged, diff.Options{Color: true, Context: 1}},
		{"no context", "context0.diff", web, webMerged, diff.Options{Context: -1}},
		{"book-keeping where asked", "managed.diff", web, webMerged, diff.Options{ShowManagedFields: true}},
		{"an object that will be created", "create.diff", "null", web, diff.Options{}},
		{"one that will be deleted", "delete.diff", web, "null", diff.Options{}},
		{"a Secret", "secret.diff", secret("aHVudGVyMg=="), secret("aHVudGVyMw=="), diff.Options{}},
		{"a Secret that may be seen", "secret-shown.diff", secret("aHVudGVyMg=="), secret("aHVudGVyMw=="), diff.Options{ShowSecrets: true}},
		{"only the annotation differs", "annotation.diff", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}}`, `{"metadata":{}}`, diff.Options{}},
		{"a status that is configuration", "status.diff", `{"kind":"X","status":{"a":1}}`, `{"kind":"X","status":{"a":2}}`, diff.Options{}},
		{
			"what drives a terminal is spelled out", "escapes.diff", "null",
			`{"kind":"X\u001b[2J","data":{"k\u009b":"\u001b]0;own\u0007","bidi":"\u202egnp.exe","block":"one\n\u202etwo\n\ttab\n","cr":"a\rb"}}`, diff.Options{Color: true},
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var b bytes.Buffer
			d := diff.Doc{Live: read(t, c.live), Result: read(t, c.result)}
			d.Name = diff.DocName(d.Result)
			if d.Result == nil {
				d.Name = diff.DocName(d.Live)
			}
			changed, err := diff.Unified(&b, d, c.o)
			if err != nil || changed != (b.Len() > 0) {
				t.Errorf("changed %v, %v", changed, err)
			}
			golden(t, c.golden, b.String())
		})
	}
}

func BenchmarkUnified(b *testing.B) {
	d := diff.Doc{Name: "x", Live: read(b, web), Result: read(b, webMerged)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := diff.Unified(&bytes.Buffer{}, d, diff.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
