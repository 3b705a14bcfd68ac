package arch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func library(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// TestLibraryDependencies holds the table of docs/library.md to the code: for each package
// below pkg how many packages of other modules it needs, and the modules that it imports, or a
// package of the project that it imports.
func TestLibraryDependencies(t *testing.T) {
	said := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| \\[`(pkg/[a-z]+)`\\].*\\|([^|]*\\|[^|]*)\\|$").FindAllStringSubmatch(library(t), -1) {
		said[row[1]] = strings.Join(strings.Fields(strings.NewReplacer("`", "", "|", " ").Replace(row[2])), " ")
	}
	all := map[string]pkg{}
	for _, p := range list(t, true, "./pkg/...") {
		all[p.ImportPath] = p
	}
	for _, p := range all {
		name := p.short()
		if strings.Count(name, "/") != 1 || !strings.HasPrefix(name, "pkg/") {
			continue
		}
		modules := map[string]bool{}
		imported(all, p, modules, map[string]bool{})
		others := 0
		for _, dep := range list(t, true, "./"+name) {
			if !dep.Standard && dep.short() == "" {
				others++
			}
		}
		got, listed := said[name]
		if want := strings.TrimSpace(fmt.Sprint(others, " ", strings.Join(slices.Sorted(maps.Keys(modules)), " "))); !listed || got != want {
			t.Errorf("docs/library.md: %s: listed: %t, has %q, want %q", name, listed, got, want)
		}
	}
}

// TestLibraryIsSmall: what a controller links in with pkg/apply has no client, no command line,
// no kustomize and no OpenAPI parser.
func TestLibraryIsSmall(t *testing.T) {
	for _, p := range list(t, true, "./pkg/apply") {
		for _, heavy := range []string{"k8s.io/cli-runtime", "k8s.io/client-go", "k8s.io/api", "github.com/spf13", "sigs.k8s.io/kustomize", "github.com/go-openapi", "google.golang.org/protobuf", "github.com/google/gnostic-models"} {
			if below(p.ImportPath, heavy) {
				t.Errorf("pkg/apply comes to depend on %s", p.ImportPath)
			}
		}
	}
}

// TestLibraryIsNarrow: pkg/apply has at most fifteen exported names, and no type of another package of the
// project in them, so that these may change.
func TestLibraryIsNarrow(t *testing.T) {
	const most = 15
	var names []string
	for _, line := range api(t) {
		rest, ok := strings.CutPrefix(line, "pkg/apply: ")
		if !ok {
			continue
		}
		if head := regexp.MustCompile(`^(?:func|type|var|const) (\w+)`).FindStringSubmatch(rest); head != nil && !slices.Contains(names, head[1]) {
			names = append(names, head[1])
		}
		for _, other := range []string{"merge.", "schema.", "strategy.", "diff.", "lastapplied.", "object."} {
			if regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(other)).MatchString(rest) {
				t.Errorf("pkg/apply: %s: is of another package", rest)
			}
		}
	}
	if len(names) == 0 || len(names) > most {
		t.Errorf("pkg/apply has %d exported names, want at most %d: %v", len(names), most, names)
	}
}

// TestPublicPackagesSayWhetherTheyAreStable: in the first sentence of their documentation.
func TestPublicPackagesSayWhetherTheyAreStable(t *testing.T) {
	for _, p := range parse(t) {
		if !strings.HasPrefix(p.short(), "pkg/") || strings.Contains(p.short(), "/internal/") {
			continue
		}
		var doc string
		for _, f := range p.files {
			doc += f.Doc.Text()
		}
		first, _, _ := strings.Cut(strings.ReplaceAll(doc, "\n", " "), ". ")
		if !strings.HasPrefix(first, "Package "+p.Name+" is stable") && first+"." != "Package "+p.Name+" may change with a minor version until 1.0.0." {
			t.Errorf("%s: %q says nothing about its stability", p.short(), first)
		}
	}
}

// TestLibraryBlocks: every Go block of docs/library.md is a part of an example or a test.
func TestLibraryBlocks(t *testing.T) {
	var code strings.Builder
	for _, pattern := range []string{"pkg/*/*_test.go", "test/e2e/library_test.go", "test/controller/*.go"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.WriteString(squeezed(string(text)))
		}
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(library(t), -1)
	for _, b := range blocks {
		if !strings.Contains(code.String(), squeezed(b[1])) {
			t.Errorf("docs/library.md: no example or test has\n%s", b[1])
		}
	}
	if len(blocks) == 0 {
		t.Error("docs/library.md has no Go block")
	}
}

// squeezed is code without its indentation and its empty lines.
func squeezed(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// imported adds the modules that p imports, by way of the project's own packages.
func imported(all map[string]pkg, p pkg, modules, seen map[string]bool) {
	if seen[p.ImportPath] {
		return
	}
	seen[p.ImportPath] = true
	for _, i := range p.Imports {
		switch to := all[i]; {
		case to.short() != "":
			imported(all, to, modules, seen)
		case to.Module.Path != "":
			modules[to.Module.Path] = true
		}
	}
}
