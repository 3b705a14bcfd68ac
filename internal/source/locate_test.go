package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestAt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	const text = `# first
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  one: "1"
  two: 2
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: b
spec:
  template:
    spec:
      containers:
      - name: web
        image: a
      - name: side
        image: b
        ports:
        - containerPort: 80
        - containerPort: 80
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: c}
  data:
    x: true
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := Parse(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		object int
		path   string
		want   string
	}{
		{0, "data.two", ": line 7"},
		{1, "spec.template.spec.containers[name=side].image", ": line 20"},
		{1, "spec.template.spec.containers[1]", ": line 19"},
		{1, "spec.template.spec.containers[name=side].ports[containerPort=80,protocol=TCP]#2", ": line 23"},
		{2, "data.x", ": line 32"},
		{0, "data.none", ": line 5"},
	} {
		p, err := merge.ParsePath(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := At(objects[tt.object], p); got != file+tt.want {
			t.Errorf("%s: got %s, want %s", tt.path, strings.TrimPrefix(got, file), tt.want)
		}
	}
	var piped object.Object
	piped.Origin = object.Origin{File: "standard input", Line: 3}
	if got := At(piped, merge.Path{merge.Named("data")}); got != "standard input: line 3" {
		t.Errorf("got %s", got)
	}
}
