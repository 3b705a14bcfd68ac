package e2e

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestCompletionReadsNoValues completes the names of Secrets and looks at what the
// server sends for it: names, and neither values nor annotations, in which kubectl
// apply keeps the values too.
func TestCompletionReadsNoValues(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	u := s.user(t, "complete-secrets")
	p := &planter{Rand: rand.New(rand.NewPCG(1, 2))}
	u.file("secrets.yaml", p.secrets(t))
	u.does("kubectl", "apply", "-f", "secrets.yaml")
	between, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer between.http.Close()
	var (
		mu   sync.Mutex
		sent strings.Builder
	)
	between.passed = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		defer mu.Unlock()
		sent.Write(body)
		return err
	}
	v := u.proxied(between)
	for _, args := range [][]string{{"view-last-applied", "secret/"}, {"edit-last-applied", "secrets/"}, {"disown", "secret/"}, {"view-last-applied", "secret", ""}} {
		got := v.merges(append([]string{"__complete"}, args...)...)
		if !strings.Contains(got.stdout, "one\n") || !strings.Contains(got.stdout, "four\n") {
			t.Errorf("no names are offered: %s", got)
		}
	}
	if found := p.find(sent.String()); found != "" {
		t.Errorf("a value was sent: …%q…", found)
	}
}
