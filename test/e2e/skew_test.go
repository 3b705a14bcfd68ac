package e2e

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// builtin are the groups of stories that are about how objects of built-in kinds are
// merged. The other groups are about commands, files and forms, which have nothing
// to do with schemas, or about custom resources, which need one.
var builtin = []string{"atomic-map", "conflict", "container-removed", "idempotent", "identity", "null", "one-of", "order", "table"}

// TestStoriesWithoutSchemas plays them on a server that publishes no OpenAPI v3, as
// those before 1.24 do: what it lacks is compiled in, and the outcome is the same.
// What becomes of custom resources, of which nothing can be known then, and that
// this is reported, is a part of TestSchemasDown.
func TestStoriesWithoutSchemas(t *testing.T) {
	t.Parallel()
	home := t.TempDir() // without the schemas that others have fetched
	for _, file := range storyFiles(t, builtin...) {
		playStory(t, file, testscript.Params{Setup: func(e *testscript.Env) error {
			if err := server.setUp(e, "bare-"+groupOf(file)); err != nil {
				return err
			}
			e.Setenv("HOME", home)
			return e.Values[storyKey{}].(*story).bare(e)
		}})
	}
}

// bare leads the story to a server without OpenAPI v3.
func (s *story) bare(e *testscript.Env) error {
	p, err := newProxy(s.server.config)
	if err != nil {
		return err
	}
	e.Defer(p.http.Close)
	p.fails(fault{hits: about("SCHEMA", "/openapi/v3"), do: refuse(404, "NotFound", "the server could not find the requested resource")})
	s.proxy, s.direct = p, e.Getenv("KUBECONFIG")
	file := filepath.Join(e.WorkDir, ".kubeconfig-bare")
	e.Setenv("KUBECONFIG", file)
	return s.server.kubeconfigFor(file, s.ns, p.cluster)
}
