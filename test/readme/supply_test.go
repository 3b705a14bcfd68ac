package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestWorkflows: every action is pinned by its commit, no checkout leaves credentials
// behind, and a job that may sign runs no command.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal("no workflows", err)
	}
	pinned := regexp.MustCompile(`(?m)uses: [^\s@]+@[0-9a-f]{40} # v[0-9.]+$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if all, good := strings.Count(string(text), "uses: "), len(pinned.FindAllString(string(text), -1)); all != good {
			t.Errorf("%s: %d of %d actions are pinned", file, good, all)
		}
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Steps       []struct {
					Uses, Run string
					With      map[string]any
				}
			}
		}
		if err := yaml.Unmarshal(text, &workflow); err != nil {
			t.Fatal(file, err)
		}
		if len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
			t.Errorf("%s: jobs may more than read unless they say so: %v", file, workflow.Permissions)
		}
		for name, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: %s: the checkout leaves credentials in the clone", file, name)
				}
				if job.Permissions["id-token"] != "" && step.Run != "" {
					t.Errorf("%s: %s may sign, and runs %s", file, name, step.Run)
				}
			}
		}
	}
}

// TestToolchain: a release is built by a Go with its fixes, and not by the first one
// of its minor version.
func TestToolchain(t *testing.T) {
	for _, file := range []string{"go.mod", "test/cluster/go.mod", "tools/go.mod"} {
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^toolchain go1\.\d+\.[1-9]\d*$`).Match(text) {
			t.Errorf("%s names no patched toolchain", file)
		}
	}
}
