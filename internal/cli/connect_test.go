package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestUnknownNames: who misspells a context, cluster or user reads which there are.
func TestUnknownNames(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	text := `apiVersion: v1
kind: Config
current-context: dev
contexts:
- {name: dev, context: {cluster: near, user: me}}
- {name: prod, context: {cluster: far, user: me}}
clusters:
- {name: near, cluster: {server: "http://127.0.0.1:1"}}
- {name: far, cluster: {server: "http://127.0.0.1:1"}}
users:
- {name: me, user: {}}
`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", config)
	local, _ := files(t)
	for flag, want := range map[string]string{
		"--context=prdo": `"prdo" does not exist: --context must be one of: dev, prod`,
		"--cluster=x":    `"x" does not exist: --cluster must be one of: far, near`,
		"--user=x":       `"x" does not exist: --user must be one of: me`,
	} {
		var out, errs bytes.Buffer
		code := Main(t.Context(), "kubectl-merge", []string{"-f", local, flag}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
		if code != failed || strings.Count(errs.String(), want) != 1 {
			t.Errorf("%s: code %d, stderr %s", flag, code, errs.String())
		}
	}
}
