package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// server is the throw-away one.
type server struct {
	Kubeconfig, Kubectl, Version string

	meter *meter
	dir   string
	cmd   *exec.Cmd
	stdin io.Closer // keeps it up
}

// startServer starts the server and puts the custom resource's kind into it.
func startServer(ctx context.Context, dir string, args ...string) (*server, error) {
	s := &server{dir: dir, cmd: exec.Command("go", append([]string{"-C", "test/cluster", "run", "."}, args...)...)}
	s.cmd.Stderr = os.Stderr
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.stdin = stdin
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := json.NewDecoder(out).Decode(s); err != nil {
		s.stop()
		return nil, fmt.Errorf("go -C test/cluster run . did not come up: %w", err)
	}
	if err := s.define(ctx); err != nil {
		s.stop()
		return nil, err
	}
	config, err := s.config(ctx)
	if err == nil {
		s.meter, err = newMeter(ctx, config)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// stop ends the server; there is nothing of it to keep.
func (s *server) stop() {
	_ = s.stdin.Close()
	_ = s.cmd.Wait()
}

// define makes the kind, and waits until the server tells its schema.
func (s *server) define(ctx context.Context) error {
	if _, err := s.kubectl(ctx, definition, "apply", "-f", "-"); err != nil {
		return err
	}
	var err error
	for range 100 {
		if _, err = s.kubectl(ctx, "", "get", "--raw", "/openapi/v3/apis/bench.example.com/v1"); err == nil {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return err
}

func (s *server) makeNamespaces(ctx context.Context, names []string) error {
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n", name)
	}
	_, err := s.kubectl(ctx, text.String(), "create", "-f", "-")
	return err
}

// makeParent makes the parent of a set without members, which kubectl makes only where it
// has a namespace.
func (s *server) makeParent(ctx context.Context, name string) error {
	id := sha256.Sum256([]byte(name + "..Bundle.bench.example.com"))
	_, err := s.kubectl(ctx, fmt.Sprintf(`apiVersion: bench.example.com/v1
kind: Bundle
metadata:
  name: %s
  labels: {applyset.kubernetes.io/id: applyset-%s-v1}
  annotations:
    applyset.kubernetes.io/tooling: kubectl/v1.36.0
    applyset.kubernetes.io/contains-group-kinds: ""
`, name, base64.RawURLEncoding.EncodeToString(id[:])), "create", "-f", "-")
	return err
}

// kubectl runs the server's own kubectl, outside of what is measured.
func (s *server) kubectl(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, s.Kubectl, args...)
	cmd.Env = []string{"HOME=" + s.dir, "KUBECONFIG=" + s.Kubeconfig, "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// build builds a program of this module, as a release is built (.goreleaser.yaml), and gives
// its file.
func build(ctx context.Context, dir, pkg string) (string, error) {
	file := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go build %s: %w", pkg, err)
	}
	return file, nil
}
