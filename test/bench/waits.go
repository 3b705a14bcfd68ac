package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// waits measures waiting for n Deployments beside kubectl rollout status: while each gets
// a new image, and when all have been ready for long. The controllers, and a kubelet that
// only pretends to run containers, are on the same machine.
func (s *single) waits(ctx context.Context) error {
	for _, p := range []struct {
		name, file string
		wait       []string
		words      map[string]int
	}{
		{"kubectl merge wait", s.merge, []string{"wait", "-f"}, map[string]int{" ready": s.n}},
		{"kubectl rollout status", s.server.Kubectl, []string{"rollout", "status", "-f"}, map[string]int{" successfully rolled out": s.n}},
	} {
		ns := strings.ReplaceAll(p.name, " ", "-")
		before, after := filepath.Join(s.dir, ns+"-1.yaml"), filepath.Join(s.dir, ns+"-2.yaml")
		if err := writeDeployments(before, ns, s.n, "1"); err != nil {
			return err
		}
		if err := writeDeployments(after, ns, s.n, "2"); err != nil {
			return err
		}
		if err := s.server.makeNamespaces(ctx, []string{ns}); err != nil {
			return err
		}
		if err := s.do(ctx,
			try{"", s.merge, []string{"-f", before, "--wait", "--timeout=20m"}, 0, map[string]int{" created": s.n}, 0},
			try{"", s.merge, []string{"-f", after, "--preflight=false"}, 0, map[string]int{" configured": s.n}, 0},
			try{p.name + ", new images", p.file, append(p.wait, after), 0, p.words, 0},
			try{p.name + ", ready already", p.file, append(p.wait, after), 0, p.words, 0},
		); err != nil {
			return err
		}
	}
	return nil
}

// writeDeployments writes n Deployments of one pod each.
func writeDeployments(file, ns string, n int, tag string) error {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\n"+`{apiVersion: apps/v1, kind: Deployment, metadata: {name: app-%[1]d, namespace: %[2]s}, spec: {selector: {matchLabels: {app: app-%[1]d}},
  template: {metadata: {labels: {app: app-%[1]d}}, spec: {containers: [{name: app, image: "registry.example.com/shop/app:%[3]s"}]}}}}`+"\n", i, ns, tag)
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
