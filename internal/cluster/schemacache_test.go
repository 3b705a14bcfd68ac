package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const indexURL = "/openapi/v3/apis/stories.example.com/v1?hash=0A1B"

func kept(t *testing.T, c *schemaCache) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("files %v, %v; want one", names, err)
	}
	return names[0]
}

func TestSchemaCache(t *testing.T) {
	c := newSchemaCache(t.TempDir(), "https://10.0.0.1:6443/prefix")
	if got := c.get(indexURL); got != nil {
		t.Errorf("an empty cache has %q", got)
	}
	c.put(indexURL, []byte("one"))
	if got := string(c.get(indexURL)); got != "one" {
		t.Errorf("got %q, want what was put", got)
	}
	if got := c.get(strings.Replace(indexURL, "0A1B", "0A1C", 1)); got != nil {
		t.Errorf("another hash is another document, got %q", got)
	}
	c.put(strings.Replace(indexURL, "0A1B", "0A1C", 1), []byte("two"))
	if name := kept(t, c); c.get(indexURL) != nil {
		t.Errorf("the edition before is still there beside %s", name)
	}
	if other := newSchemaCache(filepath.Dir(c.dir), "https://10.0.0.2:6443"); other.get(indexURL) != nil {
		t.Error("another server's hash is not to be trusted")
	}
}

func TestSchemaCacheDistrustsFiles(t *testing.T) {
	for _, tt := range []struct {
		reason string
		spoil  func(string) string
	}{
		{"cut short", func(s string) string { return s[:len(s)-1] }},
		{"grown", func(s string) string { return s + "x" }},
		{"one byte another", func(s string) string { return strings.Replace(s, "\n{", "\n[", 1) }},
		{"of another format", func(s string) string { return strings.Replace(s, cacheFormat, "kubectl-merge-schema-0", 1) }},
		{"empty", func(string) string { return "" }},
		{"the first line alone", func(s string) string { return strings.SplitN(s, "\n", 2)[0] }},
	} {
		c := newSchemaCache(t.TempDir(), "https://10.0.0.1:6443")
		c.put(indexURL, []byte(`{"components":{}}`))
		name := kept(t, c)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(tt.spoil(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := c.get(indexURL); got != nil {
			t.Errorf("%s: came back as %q", tt.reason, got)
		}
		c.put(indexURL, []byte("new"))
		if got := string(c.get(indexURL)); got != "new" {
			t.Errorf("%s: is not mended by the next put: %q", tt.reason, got)
		}
	}
}

func TestSchemaCacheOffNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reason string
		cache  *schemaCache
		url    string
	}{
		{"no folder is known", newSchemaCache("", "https://10.0.0.1:6443"), indexURL},
		{"the folder cannot be made", newSchemaCache(file, "https://10.0.0.1:6443"), indexURL},
		{"a server of old tells no hash", newSchemaCache(t.TempDir(), "https://10.0.0.1:6443"), "/openapi/v3/api/v1"},
	} {
		tt.cache.put(tt.url, []byte("one"))
		if got := tt.cache.get(tt.url); got != nil {
			t.Errorf("%s: got %q", tt.reason, got)
		}
	}
}

func TestSchemaCacheTogether(t *testing.T) {
	c := newSchemaCache(t.TempDir(), "https://10.0.0.1:6443")
	var runs sync.WaitGroup
	for i := range 8 {
		runs.Go(func() {
			url := strings.Replace(indexURL, "0A1B", fmt.Sprint(i%2), 1)
			doc := strings.Repeat(fmt.Sprint(i%2), 100_000)
			for range 50 {
				c.put(url, []byte(doc))
				if got := c.get(url); got != nil && string(got) != doc {
					t.Errorf("read %d bytes that nobody wrote", len(got))
				}
			}
		})
	}
	runs.Wait()
	if left, _ := filepath.Glob(filepath.Join(c.dir, ".new-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}
