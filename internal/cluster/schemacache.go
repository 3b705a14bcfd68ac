package cluster

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-merge/kubectl-merge/internal/escape"
)

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
