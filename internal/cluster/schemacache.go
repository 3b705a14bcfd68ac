package cluster

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// schemaCache stores schema documents between runs. A document is found by its path
// and the hash of its content, which the server's index gives, so that what is
// found is never out of date. What is stored was seen to have that hash: it is the
// SHA-512 of the document (k8s.io/kube-openapi, handler3), and any server may claim
// another's. nil stores nothing. Whatever goes wrong with it, a document is only
// fetched anew.
type schemaCache struct {
	dir string
}

// cacheFormat is the first word of a kept file; it changes with what a file holds.
const cacheFormat = "kubectl-merge-schema-2"

// newSchemaCache stores the documents of one server in a folder of its own below dir.
func newSchemaCache(dir, server string) *schemaCache {
	if dir == "" {
		return nil
	}
	return &schemaCache{dir: filepath.Join(dir, "kubectl-merge", "openapi", server)}
}

// identity is a name for the server that a configuration leads to, which every file
// system takes: its host and port to read, and a sum of all that distinguishes it.
// Several clusters may be behind one host and port: by the path of the URL, by the
// name that TLS asks for, by who signs for it, or by the user's certificate.
func identity(config *rest.Config) string {
	tls := rest.CopyConfig(config)
	_ = rest.LoadTLSFiles(tls) // a file that cannot be read ends the first request
	sum := sha256.New()
	for _, part := range [][]byte{[]byte(tls.Host), []byte(tls.APIPath), []byte(tls.ServerName), tls.CAData, tls.CertData, []byte(strconv.FormatBool(tls.Insecure))} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return plainName(hostOf(config.Host)) + "-" + hex.EncodeToString(sum.Sum(nil)[:8])
}

// plainName is a name that every file system takes.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, s)
}

// file is where the document at a URL of the index is kept, and the pattern of the
// names that its other editions have; ok is false where the URL carries no hash.
func (c *schemaCache) file(indexURL string) (name, others string, ok bool) {
	u, err := url.Parse(indexURL)
	if c == nil || err != nil || u.Query().Get("hash") == "" {
		return "", "", false
	}
	base := plainName(strings.Trim(u.Path, "/"))
	sum := sha256.Sum256([]byte(indexURL))
	return filepath.Join(c.dir, base+"="+hex.EncodeToString(sum[:16])), filepath.Join(c.dir, base+"=*"), true
}

// get is the document at a URL of the index, nil where it is not kept or the file
// is not what was written.
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

// claimed: a document has the hash that a URL of the index gives.
func claimed(indexURL string, sent []byte) bool {
	u, err := url.Parse(indexURL)
	sum := sha512.Sum512(sent)
	return err == nil && strings.EqualFold(u.Query().Get("hash"), hex.EncodeToString(sum[:]))
}

// heading is a file's first line: its format, and the sum of what follows.
func heading(doc []byte) string {
	sum := sha256.Sum256(doc)
	return cacheFormat + " " + hex.EncodeToString(sum[:])
}

// put stores what is needed of a document in place of its other editions, unless the
// document, as it was sent, has not the hash that the URL claims. A reader at the same
// time sees the whole file or none.
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
		_ = os.Remove(f.Name()) // there is nothing more to be done about it
		return
	}
	old, _ := filepath.Glob(others)
	for _, o := range old {
		if o != name {
			_ = os.Remove(o) // somebody else may have been faster
		}
	}
}
