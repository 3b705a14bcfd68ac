package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
	types "github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// schemas caches the index during a run, and documents between runs.
type schemas struct {
	mu    sync.Mutex
	asked bool
	paths map[string]string // URL of the document of "apis/GROUP/VERSION" or "api/VERSION"
	err   error

	cache *schemaCache // nil: no cache
}

// CacheSchemas caches OpenAPI documents below dir, which is kubectl's cache directory; "" disables
// the cache. It must be called before OpenAPI.
func (c *Cluster) CacheSchemas(dir string) { c.schemas.cache = newSchemaCache(dir, c.identity) }

// OpenAPI returns the OpenAPI v3 document of a group and version as JSON, reduced to the parts that
// merging needs. nil without an error means that the server has none: it is older than 1.27 and
// publishes no OpenAPI v3, or has nothing for this group. The index is fetched once; the caller
// caches the documents.
func (c *Cluster) OpenAPI(ctx context.Context, group, version string) ([]byte, error) {
	paths, err := c.schemaIndex(ctx)
	if err != nil {
		return nil, fmt.Errorf("schema index %s: %w", indexPath, err)
	}
	path := apiPath(group, version)
	at, ok := paths[path]
	if !ok {
		return nil, nil
	}
	if doc := c.schemas.cache.get(at); doc != nil {
		return doc, nil
	}
	data, err := c.answer(ctx, Target{}, "get", c.document(at))
	if err != nil {
		return nil, fmt.Errorf("schema %s/%s: %w", indexPath, path, err)
	}
	doc, err := types.Distil(data)
	if err != nil {
		return nil, fmt.Errorf("schema %s/%s: %w", indexPath, path, err)
	}
	c.schemas.cache.put(at, data, doc)
	return doc, nil
}

// Definition returns the CustomResourceDefinition of a kind; nil without an error means that it has
// none, as the kinds of an aggregated API, or that the user may not read it.
func (c *Cluster) Definition(ctx context.Context, group, kind string) (map[string]any, error) {
	r, err := c.FindKind(ctx, group, kind)
	if errors.As(err, new(*UnknownKindError)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	crd, err := c.Get(ctx, Target{Resource: definitions, Name: r.Plural + "." + group})
	if IsNotFound(err) || IsForbidden(err) {
		return nil, nil
	}
	return crd, err
}

// indexPath is the path of the index of schemas.
const indexPath = "/openapi/v3"

// document returns the request for the document at a URL of the index. A URL below indexPath is
// relative to the server's address, which may have a path.
func (c *Cluster) document(at string) *rest.Request {
	req := c.client.Get().SetHeader("Accept", "application/json")
	u, err := url.Parse(at)
	if err != nil || !strings.HasPrefix(u.Path, indexPath) {
		return req.RequestURI(at)
	}
	req.AbsPath(u.Path)
	for name, values := range u.Query() {
		for _, value := range values {
			req.Param(name, value)
		}
	}
	return req
}

func (c *Cluster) schemaIndex(ctx context.Context) (map[string]string, error) {
	s := &c.schemas
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.asked {
		s.asked = true
		s.paths, s.err = c.readIndex(ctx)
		if IsNotFound(s.err) {
			s.err = c.withoutIndex(ctx, s.err)
		}
	}
	return s.paths, s.err
}

func (c *Cluster) readIndex(ctx context.Context) (map[string]string, error) {
	data, err := again(ctx, func() ([]byte, error) {
		return c.answer(ctx, Target{}, "get", c.client.Get().AbsPath(indexPath).SetHeader("Accept", "application/json"))
	})
	if err != nil {
		return nil, err
	}
	var index struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if json.Unmarshal(data, &index) != nil {
		return nil, c.garbled("is no index of schemas")
	}
	paths := make(map[string]string, len(index.Paths))
	for path, at := range index.Paths {
		paths[path] = at.URL
	}
	return paths, nil
}

// withoutIndex decides what a 404 of the index means. Every API server since 1.27 publishes
// its schemas, so there a proxy must be the cause; without schemas, lists would be merged
// as single values.
func (c *Cluster) withoutIndex(ctx context.Context, notFound error) error {
	data, err := c.answer(ctx, Target{}, "get", c.client.Get().AbsPath("version").SetHeader("Accept", "application/json"))
	if err != nil {
		return err
	}
	var v struct{ Major, Minor, GitVersion string }
	if json.Unmarshal(data, &v) != nil {
		return c.garbled("is no version")
	}
	minor, err := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	if v.Major == "1" && err == nil && minor < 27 {
		return nil
	}
	return fmt.Errorf("%w, though the server is Kubernetes %s, and every one since 1.27 has it: try again, look at what stands between you and the server, or give the schema with --schema", notFound, shorten(v.GitVersion, maxValue))
}

// invalidate makes the next request for a schema fetch the index again.
func (s *schemas) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.paths, s.err = false, nil, nil
}

// schemaCache stores schema documents between runs. The key is the path of a document and
// its hash from the server's index, so entries are never outdated. The hash, the SHA-512 of
// the document (k8s.io/kube-openapi, handler3), is verified before a document is stored,
// since a server could claim any. A nil cache stores nothing. An error of the cache only
// means that a document is fetched again.
type schemaCache struct {
	dir string
}

// cacheFormat begins every cached file; it changes with the format of the content.
const cacheFormat = "kubectl-merge-schema-2"

// newSchemaCache stores the documents of one server in its own directory below dir.
func newSchemaCache(dir, server string) *schemaCache {
	if dir == "" {
		return nil
	}
	return &schemaCache{dir: filepath.Join(dir, "kubectl-merge", "openapi", server)}
}

// identity returns a name for the server of a configuration, valid in every file system: host and
// port, and a hash of everything that distinguishes it. Several clusters may be behind one host and
// port, distinguished by URL path, TLS server name, CA, or client certificate.
func identity(config *rest.Config) string {
	sum := serverHash(config, func(tls *rest.Config) [][]byte {
		return [][]byte{tls.CertData, []byte(strconv.FormatBool(tls.Insecure))}
	})
	return escape.FileName(hostOf(config.Host)) + "-" + hex.EncodeToString(sum[:8])
}

// file returns the name of the cached document for a URL of the index, and the pattern of its other
// versions; ok is false if the URL has no hash.
func (c *schemaCache) file(indexURL string) (name, others string, ok bool) {
	u, err := url.Parse(indexURL)
	if c == nil || err != nil || u.Query().Get("hash") == "" {
		return "", "", false
	}
	base := escape.FileName(strings.Trim(u.Path, "/"))
	sum := sha256.Sum256([]byte(indexURL))
	return filepath.Join(c.dir, base+"="+hex.EncodeToString(sum[:16])), filepath.Join(c.dir, base+"=*"), true
}

// get returns the document for a URL of the index, nil if it is not cached or the file is
// damaged.
func (c *schemaCache) get(indexURL string) []byte {
	name, _, ok := c.file(indexURL)
	if !ok {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	head, doc, found := bytes.Cut(data, []byte("\n"))
	if !found || string(head) != heading(doc) {
		return nil
	}
	return doc
}

// claimed reports whether a document has the hash in a URL of the index.
func claimed(indexURL string, sent []byte) bool {
	u, err := url.Parse(indexURL)
	sum := sha512.Sum512(sent)
	return err == nil && strings.EqualFold(u.Query().Get("hash"), hex.EncodeToString(sum[:]))
}

// heading returns the first line of a file: its format and the checksum of the rest.
func heading(doc []byte) string {
	sum := sha256.Sum256(doc)
	return cacheFormat + " " + hex.EncodeToString(sum[:])
}

// put stores doc, the reduced document, in place of its other versions, unless the document as sent
// does not have the hash in the URL. Concurrent readers see the whole file or none.
func (c *schemaCache) put(indexURL string, sent, doc []byte) {
	name, others, ok := c.file(indexURL)
	if !ok || !claimed(indexURL, sent) || os.MkdirAll(c.dir, 0o750) != nil {
		return
	}
	f, err := os.CreateTemp(c.dir, ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(append([]byte(heading(doc)+"\n"), doc...))
	if f.Close() != nil || err != nil || os.Rename(f.Name(), name) != nil {
		_ = os.Remove(f.Name()) // best effort
		return
	}
	old, _ := filepath.Glob(others)
	for _, o := range old {
		if o != name {
			_ = os.Remove(o) // another process may have removed it
		}
	}
}

// Struct returns a new value of the Go type of a kind, nil if client-go does not have it.
func Struct(group, version, kind string) any {
	obj, err := scheme.Scheme.New(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	if err != nil {
		return nil
	}
	return obj
}
