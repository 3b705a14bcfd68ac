package arch

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLibraryDependencies holds the table of docs/library.md to the code: for each package
// below pkg the modules that it imports, or a package of the project that it imports.
func TestLibraryDependencies(t *testing.T) {
	doc, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| \\[`(pkg/[a-z]+)`\\].*\\|([^|]*)\\|$").FindAllStringSubmatch(string(doc), -1) {
		said[row[1]] = strings.Fields(strings.ReplaceAll(row[2], "`", ""))
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
		got, listed := said[name]
		if want := slices.Sorted(maps.Keys(modules)); !listed || !slices.Equal(got, want) {
			t.Errorf("docs/library.md: %s: listed: %t, imports %v, want %v", name, listed, got, want)
		}
	}
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
