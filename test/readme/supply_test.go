package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestWorkflows: every action is pinned by its commit, no checkout leaves credentials
// behind, a job that may sign runs no command, and one that builds or tests may only read and
// has no secret.
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
		if strings.Contains(string(text), "secrets.") {
			t.Errorf("%s: has a secret", file)
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
				if own := strings.Contains(step.Run, "make ") || strings.Contains(step.Run, ".ci/"); own && len(job.Permissions) > 0 {
					t.Errorf("%s: %s runs what the repository has, and may more than read: %v", file, name, job.Permissions)
				}
			}
		}
	}
}

// TestModules: every module is built by a Go with its fixes, and not by the first one of
// its minor version; its dependencies are updated and cached as those of the others; and
// make lint and make test know it.
func TestModules(t *testing.T) {
	const root = "../.."
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	patched := regexp.MustCompile(`(?m)^toolchain go1\.\d+\.[1-9]\d*$`)
	updated := strings.FieldsFunc(regexp.MustCompile(`directories: \[(.*)\]`).FindStringSubmatch(read(".github/dependabot.yml"))[1], func(r rune) bool { return r == ',' || r == ' ' })
	cached, makefile := strings.Fields(read(".github/workflows/test.yml")), read("Makefile")
	var checked []string
	for _, list := range regexp.MustCompile(`(?m)^(?:MODULES|APART) +:=(.*)$`).FindAllStringSubmatch(makefile, -1) {
		checked = append(checked, strings.Fields(list[1])...)
	}
	if !slices.Contains(cached, "lint-apart") {
		t.Error("the workflow does not run make lint-apart")
	}
	found := 0
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "go.mod" || strings.Contains(path, "testdata") {
			return err
		}
		module, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		module = filepath.ToSlash(module)
		found++
		if !patched.MatchString(read(filepath.Join(module, "go.mod"))) {
			t.Errorf("%s names no patched toolchain", path)
		}
		if !slices.Contains(updated, "/"+strings.TrimPrefix(module, ".")) {
			t.Errorf("dependabot does not update %s: %q", module, updated)
		}
		if !slices.Contains(cached, strings.TrimPrefix(module+"/go.sum", "./")) {
			t.Errorf("the workflow caches nothing of %s", module)
		}
		if strings.HasPrefix(module, "test/") && (!slices.Contains(checked, module) || !strings.Contains(makefile, "go -C "+module+" test ")) {
			t.Errorf("make lint or make test does not know %s", module)
		}
		return nil
	})
	if err != nil || found != len(checked)+3 {
		t.Errorf("%d modules, want the root, tools, tools/goreleaser and %q: %v", found, checked, err)
	}
}

// TestManPages: every man page is in the cask; packages and archives take the whole folder.
func TestManPages(t *testing.T) {
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/man/*.1")
	if err != nil || len(pages) == 0 {
		t.Fatal("no man pages", err)
	}
	for _, page := range pages {
		if line := "      - man/" + filepath.Base(page) + "\n"; !strings.Contains(string(text), line) {
			t.Errorf(".goreleaser.yaml: homebrew_casks lacks %s", line)
		}
	}
	if n := strings.Count(string(text), "      - man/"); n != len(pages) {
		t.Errorf(".goreleaser.yaml: homebrew_casks has %d man pages, want %d", n, len(pages))
	}
}

// TestPinned: what a pipeline runs from elsewhere is named by what it contains.
func TestPinned(t *testing.T) {
	text, err := os.ReadFile("../../integrations/gitlab/kubectl-merge.gitlab-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^      default: \S+@sha256:[0-9a-f]{64}$`).Match(text) {
		t.Error("the image of the GitLab template is not pinned by its digest")
	}
}

// TestDockerfile: the image is built from what is here, by the Go that go.mod asks for, and has the
// program alone, as a user without privileges. make release-check builds it where docker is.
func TestDockerfile(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := read("examples/in-cluster/Dockerfile")
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read("go.mod"))[1]
	stages := regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+)(?: AS (\w+))?$`).FindAllStringSubmatch(text, -1)
	if len(stages) != 2 || stages[0][1] != "golang:"+wanted || !strings.HasPrefix(stages[1][1], "gcr.io/distroless/static-") || !strings.HasSuffix(stages[1][1], ":nonroot") {
		t.Errorf("the stages are %q", stages)
	}
	build, final, _ := strings.Cut(text, "\nFROM gcr.io/")
	for _, m := range regexp.MustCompile(`(?m)^COPY (.*) \S+$`).FindAllStringSubmatch(build, -1) {
		for _, name := range strings.Fields(m[1]) {
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Error(err)
			}
		}
	}
	if strings.Count(final, "\nCOPY ") != 1 || !strings.Contains(final, "\nCOPY --from=build /kubectl-merge ") || !strings.Contains(final, "\nUSER 65532:65532\n") || strings.Contains(final, "\nRUN ") {
		t.Errorf("the image has more than the program, or another user:\n%s", final)
	}
}
