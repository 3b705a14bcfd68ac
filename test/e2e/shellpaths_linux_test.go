package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// arguments prints what a command line hands over: one argument a line, within brackets.
const arguments = "#!/bin/sh\nfor a; do printf '<%s>\\n' \"$a\"; done\necho arguments-end\n"

// completedFile has keys with every sign that a path gives a meaning to, or a shell.
const completedFile = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, example.com/team.name: shop}
  annotations: {"k=v:w": z, plain: z}
spec:
  template:
    spec:
      containers:
      - {name: web, image: nginx, env: [{name: A.B, value: "1"}, {name: C, value: "2"}], ports: [{containerPort: 80, protocol: TCP}, {containerPort: 53, protocol: UDP}]}
      - {name: mesh, image: envoy}
      initContainers:
      - {name: only, image: x}
`

// typedPaths are command lines with tabs in them, and what the last argument has to be then.
// zsh wants brackets quoted or escaped, as the command itself does there; it takes [.
var typedPaths = []struct{ typed, want string }{
	{"-f web.yaml spec.template.spec.con\t[name=w\t.im\t", "spec.template.spec.containers[name=web].image"},
	{"-f web.yaml spec.template.spec.containers[name=web].im\t", "spec.template.spec.containers[name=web].image"},
	{"-f web.yaml spec.template.spec.containers[name=web].env[name=A\t.v\t", "spec.template.spec.containers[name=web].env[name=A.B].value"},
	{"-f web.yaml spec.template.spec.containers[name=web].ports[containerPort=8\t", "spec.template.spec.containers[name=web].ports[containerPort=80,protocol=TCP]"},
	{"-f web.yaml spec.template.spec.in\t.im\t", "spec.template.spec.initContainers[name=only].image"},
	{"-f web.yaml metadata.labels[ex\t", "metadata.labels[example.com/team.name]"},
	{"-f web.yaml 'spec.template.spec.containers[name=w\t.im\t", "spec.template.spec.containers[name=web].image"},
	{"-f web.yaml \"spec.template.spec.containers[name=w\t.im\t", "spec.template.spec.containers[name=web].image"},
	{"-f web.yaml 'metadata.labels[\t", "metadata.labels[example.com/team.name]"},
	{"-f web.yaml 'metadata.labels[\"ex\t", `metadata.labels["example.com/team.name"]`},
	{"-f web.yaml 'metadata.annotations[\"k\t", `metadata.annotations["k=v:w"]`},
	{"-f 'with sp\t da\t[m\t", "data[my.conf]"},
	{"-f with\\ sp\t da\t[m\t", "data[my.conf]"},
	{"--policy=st\t", "--policy=strict"},
}

// TestCompletedPaths has each shell complete paths, through kubectl and by the program's own
// name, and looks at what the command would be given. It fails without bash, and logs the
// shells that are not installed; .ci/run installs them.
func TestCompletedPaths(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	for _, shell := range completingShells {
		if strings.Contains(shell.name, ",") {
			continue
		}
		path, err := exec.LookPath(shell.name)
		switch {
		case err != nil && shell.name == "bash":
			t.Fatal(err)
		case err != nil:
			t.Logf("%s is not installed, and was not played", shell.name)
			continue
		}
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			u := s.user(t, "paths-"+shell.name)
			u.home = t.TempDir()
			u.file("stand-in", bashStandIn)
			u.file("web.yaml", completedFile)
			u.file("with space.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {my.conf: a, x: b}}")
			u.file("arguments", arguments)
			if err := os.Chmod(filepath.Join(u.dir, "arguments"), 0o700); err != nil {
				t.Fatal(err)
			}
			k := shell.begins(t, u, path)
			for _, program := range []string{"kubectl-merge", "kubectl merge"} {
				for _, p := range typedPaths {
					k.completes(shell.name, program+" explain "+p.typed, p.want)
				}
			}
		})
	}
}

// completes types a line and holds the last argument that a command would get by it.
func (k *keyboard) completes(shell, line, want string) {
	k.t.Helper()
	if last := line[strings.LastIndex(line, " ")+1:]; shell == "zsh" && !strings.ContainsAny(last[:1], `'"`) {
		line = strings.NewReplacer("[", `\[`, "]", `\]`).Replace(line)
	}
	k.types(line + "\x01./arguments \x05\r")
	from := k.from
	k.shows("\narguments-end")
	if shown := k.screen.text()[from:k.from]; !strings.Contains(shown, fmt.Sprintf("<%s>\r\narguments-end", want)) {
		k.t.Errorf("%s: %q: want %s:\n%q", shell, line, want, shown)
	}
	k.settles()
}
