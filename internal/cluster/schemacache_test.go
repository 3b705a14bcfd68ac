package cluster

import (
	"crypto/sha512"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
)

// published is a document as a server's index names it, by its hash.
func published(doc string) (indexURL string, sent []byte) {
	return fmt.Sprintf("/openapi/v3/apis/stories.example.com/v1?hash=%X", sha512.Sum512([]byte(doc))), []byte(doc)
}

func kept(t *testing.T, c *schemaCache) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("files %v, %v; want one", names, err)
	}
	return names[0]
}

func TestSchemaCache(t *testing.T) {
	c := newSchemaCache(t.TempDir(), "one")
	indexURL, sent := published("one, whole")
	otherURL, other := published("two, whole")
	if got := c.get(indexURL); got != nil {
		t.Errorf("an empty cache has %q", got)
	}
	c.put(indexURL, sent, []byte("one"))
	if got := string(c.get(indexURL)); got != "one" {
		t.Errorf("got %q, want what was put", got)
	}
	if got := c.get(otherURL); got != nil {
		t.Errorf("another hash is another document, got %q", got)
	}
	c.put(otherURL, other, []byte("two"))
	if name := kept(t, c); c.get(indexURL) != nil {
		t.Errorf("the edition before is still there beside %s", name)
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
		c := newSchemaCache(t.TempDir(), "one")
		indexURL, sent := published("whole")
		c.put(indexURL, sent, []byte(`{"components":{}}`))
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
		c.put(indexURL, sent, []byte("new"))
		if got := string(c.get(indexURL)); got != "new" {
			t.Errorf("%s: is not replaced by the next put: %q", tt.reason, got)
		}
	}
}

func TestSchemaCacheOffNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	indexURL, sent := published("whole")
	for _, tt := range []struct {
		reason string
		cache  *schemaCache
		url    string
	}{
		{"no folder is known", newSchemaCache("", "one"), indexURL},
		{"the folder cannot be made", newSchemaCache(file, "one"), indexURL},
		{"a server of old tells no hash", newSchemaCache(t.TempDir(), "one"), "/openapi/v3/api/v1"},
		{"a server claims the hash of another document", newSchemaCache(t.TempDir(), "one"), strings.ReplaceAll(indexURL, "A", "B")},
	} {
		tt.cache.put(tt.url, sent, []byte("one"))
		if got := tt.cache.get(tt.url); got != nil {
			t.Errorf("%s: got %q", tt.reason, got)
		}
	}
}

func TestSchemaCacheTogether(t *testing.T) {
	c := newSchemaCache(t.TempDir(), "one")
	var runs sync.WaitGroup
	for i := range 8 {
		runs.Go(func() {
			url, sent := published(fmt.Sprint(i % 2))
			doc := strings.Repeat(fmt.Sprint(i%2), 100_000)
			for range 50 {
				c.put(url, sent, []byte(doc))
				if got := c.get(url); got != nil && string(got) != doc {
					t.Errorf("read %d bytes that were never written", len(got))
				}
			}
		})
	}
	runs.Wait()
	if left, _ := filepath.Glob(filepath.Join(c.dir, ".new-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestIdentity(t *testing.T) {
	one := rest.Config{Host: "https://rancher.example.com/k8s/clusters/c-1"}
	seen := map[string]string{identity(&one): "itself"}
	for _, tt := range []struct {
		reason string
		config rest.Config
	}{
		{"another path: another cluster behind the same host", rest.Config{Host: "https://rancher.example.com/k8s/clusters/c-2"}},
		{"another port", rest.Config{Host: "https://rancher.example.com:6443/k8s/clusters/c-1"}},
		{"another scheme", rest.Config{Host: "http://rancher.example.com/k8s/clusters/c-1"}},
		{"the name that TLS asks for chooses the cluster", rest.Config{Host: one.Host, TLSClientConfig: rest.TLSClientConfig{ServerName: "two"}}},
		{"another authority signs for it", rest.Config{Host: one.Host, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("two")}}},
		{"the user's certificate chooses the cluster", rest.Config{Host: one.Host, TLSClientConfig: rest.TLSClientConfig{CertData: []byte("two")}}},
		{"the server's certificate is not verified", rest.Config{Host: one.Host, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}},
	} {
		name := identity(&tt.config)
		if before, twice := seen[name]; twice {
			t.Errorf("%s: is stored with %s, as %s", tt.reason, before, name)
		}
		if escape.FileName(name) != name {
			t.Errorf("%s: %q is no name of a folder", tt.reason, name)
		}
		seen[name] = tt.reason
	}
}
