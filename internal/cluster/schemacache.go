package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// schemaCache keeps schema documents between runs. A document is found by its path
// and the hash of its content, which the server's index tells, so that what is
// found is never out of date. nil keeps nothing. Whatever goes wrong with it, a
// document is only fetched anew.
type schemaCache struct {
	dir string
}

// cacheFormat is the first word of a kept file; it changes with what a file holds.
const cacheFormat = "kubectl-merge-schema-1"

// newSchemaCache keeps the documents of one server in a folder of its own below
// dir: a hash is as good as the server that tells it.
func newSchemaCache(dir, host string) *schemaCache {
	if dir == "" {
		return nil
	}
	return &schemaCache{dir: filepath.Join(dir, "kubectl-merge", "openapi", plainName(hostOf(host)))}
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

// heading is a file's first line: its format, and the sum of what follows.
func heading(doc []byte) string {
	sum := sha256.Sum256(doc)
	return cacheFormat + " " + hex.EncodeToString(sum[:])
}

// put keeps a document in place of its other editions. A reader at the same time
// sees the whole file or none.
func (c *schemaCache) put(indexURL string, doc []byte) {
	name, others, ok := c.file(indexURL)
	if !ok || os.MkdirAll(c.dir, 0o750) != nil {
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
