package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDownloadBounded: what kustomize and -f fetch from a server that never comes to an
// end is read up to a bound.
func TestDownloadBounded(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		block := []byte(strings.Repeat("#", 1<<20))
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	u := &user{t: t, server: &server, dir: t.TempDir(), home: t.TempDir()}
	u.file("kustomization.yaml", "resources: ['"+s.URL+"/x.yaml']\n")
	u.file("live.yaml", faultyNew)
	for _, args := range [][]string{{"-k", "."}, {"-f", s.URL + "/x.yaml"}} {
		if got := u.tries("kubectl-merge", append(args, "--live=live.yaml")...); got.code != 1 || !strings.Contains(got.stderr, "is larger than 256 MiB") {
			t.Error(got)
		}
	}
}
