package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// catalogCache is kubectl's cache of what a server serves, which both read and write: a
// folder for each server, in it servergroups.json, and a serverresources.json for each group
// and version. A nil cache stores nothing, and so does one without a folder; its errors only
// mean that the server is asked again.
type catalogCache struct {
	dir string

	mu       sync.Mutex
	own      map[string]bool // files that this process has written
	ownOnly  bool            // files of others may be outdated
	outdated bool            // a file of others was used, and may be outdated
}

// catalogLife is how long a stored answer counts, as in kubectl.
const catalogLife = 6 * time.Hour

const groupsFile = "servergroups.json"

func resourcesFile(gv string) string {
	return filepath.Join(filepath.FromSlash(gv), "serverresources.json")
}

// newCatalogCache is the cache of a server below kubectl's cache folder; "" is none.
func newCatalogCache(dir, host string) *catalogCache {
	if dir == "" {
		return nil
	}
	host = strings.Replace(strings.Replace(host, "https://", "", 1), "http://", "", 1)
	host = strings.Map(func(r rune) rune { // kubectl's rule; it names the folder
		if r == '(' || r == ')' || r == '/' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, host)
	return &catalogCache{dir: filepath.Join(dir, "discovery", host), own: map[string]bool{}}
}

// get reads a stored answer of a kind, and reports whether there is one that counts. A group
// and version that would lead out of the cache has none.
func (c *catalogCache) get(file, kind string, into runtime.Object) bool {
	if c == nil || !filepath.IsLocal(file) {
		return false
	}
	c.mu.Lock()
	own, ownOnly := c.own[file], c.ownOnly
	c.mu.Unlock()
	if ownOnly && !own {
		return false
	}
	name := filepath.Join(c.dir, file)
	info, err := os.Stat(name)
	if err != nil || time.Since(info.ModTime()) > catalogLife {
		return false
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	if json.Unmarshal(data, into) != nil || into.GetObjectKind().GroupVersionKind().Kind != kind {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outdated = c.outdated || !own
	return true
}

// put stores an answer. Concurrent readers see the whole file or none.
func (c *catalogCache) put(file string, answer runtime.Object) {
	if c == nil || !filepath.IsLocal(file) {
		return
	}
	data, err := json.Marshal(answer)
	name := filepath.Join(c.dir, file)
	if err != nil || os.MkdirAll(filepath.Dir(name), 0o750) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".")
	if err != nil {
		return
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	_, err = f.Write(append(data, '\n'))
	if f.Close() != nil || err != nil || os.Chmod(f.Name(), 0o660) != nil || os.Rename(f.Name(), name) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own[file] = true
}

func (c *catalogCache) fresh() bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.outdated
}

// invalidate makes only what is stored from now on count.
func (c *catalogCache) invalidate() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own, c.ownOnly, c.outdated = map[string]bool{}, true, false
}
