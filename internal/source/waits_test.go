package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestURLBounded reads URLs whose servers never come to an end. Each ends with its
// bound.
func TestURLBounded(t *testing.T) {
	for _, tt := range []struct {
		why    string
		answer http.HandlerFunc
	}{
		{"nothing is answered", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"the body stalls", func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("kind: "))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}},
		{"the body drips", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte("#")); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}},
	} {
		s := httptest.NewServer(tt.answer)
		_, err := Read(t.Context(), Inputs{Files: []string{s.URL + "/x.yaml"}, Timeout: 300 * time.Millisecond})
		if !errors.As(err, new(*net.OpError)) || !strings.HasSuffix(err.Error(), "has not answered whole within 300ms: try again, or give it longer with --request-timeout") {
			t.Errorf("%s: %v", tt.why, err)
		}
		s.Close()
	}
}

func TestURLAgent(t *testing.T) {
	var agent string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent = r.UserAgent()
		_, _ = w.Write([]byte("{kind: A, apiVersion: v1, metadata: {name: a}}"))
	}))
	defer s.Close()
	if _, err := Read(t.Context(), Inputs{Files: []string{s.URL}, Agent: "kubectl-merge/v1"}); err != nil || agent != "kubectl-merge/v1" {
		t.Errorf("%q, %v", agent, err)
	}
	own := httptest.NewTLSServer(s.Config.Handler) // no authority has signed its certificate
	defer own.Close()
	if _, err := Read(t.Context(), Inputs{Files: []string{own.URL}}); err == nil || !strings.HasSuffix(err.Error(), "have curl trust its authority: curl --cacert FILE URL | kubectl merge -f -") {
		t.Errorf("%v", err)
	}
}

// TestKustomizationBounded builds kustomizations of files that kustomize itself reads
// without a bound.
func TestKustomizationBounded(t *testing.T) {
	bomb := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx:\n- &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += "- &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 9), ", ") + "]\n"
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"kustomization.yaml": "resources: [bomb.yaml]\n", "bomb.yaml": bomb} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(t.Context(), Inputs{Kustomize: dir}); err == nil || !strings.Contains(err.Error(), "is too large: aliases") {
		t.Errorf("aliases of aliases: %v", err)
	}
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hanging.CloseClientConnections()
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: ["+hanging.URL+"/x.yaml]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), Inputs{Kustomize: dir, Timeout: 50 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "is not built after 250ms") {
		t.Errorf("a remote base that hangs: %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		return
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "endless.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: [endless.yaml]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), Inputs{Kustomize: dir}); err == nil {
		t.Error("a device is read to its end")
	}
}

// TestReadNamed: a wait for what never comes ends with the context.
func TestReadNamed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	name := fmt.Sprintf("/proc/self/fd/%d", r.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip("this system has no name for a pipe")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ReadNamed(ctx, name); err == nil || !strings.HasSuffix(err.Error(), "reading it was interrupted") {
		t.Errorf("%v", err)
	}
}

// TestDownloads: an answer without end is read up to the bound, and fails there.
func TestDownloads(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		block := make([]byte, 1<<20)
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	client := http.Client{Transport: Downloads{http.DefaultTransport}}
	resp, err := client.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if n != maxInput+1 || err == nil || !strings.HasSuffix(err.Error(), "is larger than 256 MiB") {
		t.Errorf("%d bytes, then %v", n, err)
	}
}
