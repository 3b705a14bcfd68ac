package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kubectl-merge/kubectl-merge"

// arrows say which packages of the project a package may import, as ARCHITECTURE.md
// draws them; "engine" stands for all packages of it.
var arrows = map[string][]string{
	"cmd/kubectl-merge": {"internal/cli"},

	"internal/absorb": {"internal/drift", "internal/files", "internal/run", "internal/source", "engine"},

	"internal/arch": {},
	"internal/ask":  {"internal/files", "internal/plandoc", "internal/record", "internal/run", "internal/source", "engine"},
	"internal/cli": {"internal/absorb", "internal/annotate", "internal/ask", "internal/applyset", "internal/impact", "internal/outcome", "internal/prune", "internal/run", "internal/cluster", "internal/live", "internal/editor", "internal/files", "internal/replacements",
		"internal/parallel", "internal/wait", "internal/write", "internal/source", "internal/term", "internal/complete", "engine",
		"internal/drift", "internal/guard", "internal/migrate",
		"internal/plandoc", "internal/record", "internal/strategic", "internal/undo", "docs/schemas"},
	"docs/schemas":          {},
	"internal/record":       {"internal/cluster", "internal/ownership", "internal/plandoc", "internal/run", "engine"},
	"internal/undo":         {"internal/applyset", "internal/cluster", "internal/live", "internal/plandoc", "internal/prune", "internal/run", "engine"},
	"internal/complete":     {"internal/cluster", "internal/live", "internal/prune", "internal/source", "engine"},
	"internal/term":         {"internal/parallel", "internal/redact", "pkg/diff"},
	"internal/migrate":      {"internal/cluster", "internal/live", "internal/run", "internal/write", "engine"},
	"internal/impact":       {"engine"},
	"internal/drift":        {"internal/cluster", "internal/follow", "internal/run", "engine"},
	"internal/guard":        {"engine"},
	"internal/run":          {"internal/cluster", "internal/guard", "internal/impact", "internal/live", "internal/parallel", "internal/write", "internal/source", "engine"},
	"internal/outcome":      {"internal/impact", "internal/run", "internal/write", "engine"},
	"internal/files":        {"internal/source", "engine"},
	"internal/replacements": {"engine"},
	"internal/write":        {"internal/cluster", "engine"},
	"internal/live":         {"internal/cluster", "internal/source", "engine"},
	"internal/annotate":     {"internal/cluster", "internal/files", "internal/live", "internal/run", "internal/source", "engine"},
	"internal/source":       {"internal/parallel", "engine"},
	"internal/cluster":      {"pkg/merge", "internal/escape", "internal/object", "internal/redact", "pkg/schema", "internal/suggest"},
	"internal/applyset":     {"pkg/lastapplied", "pkg/merge", "internal/object", "internal/ownership", "internal/suggest"},
	"internal/prune":        {"internal/applyset", "internal/cluster", "internal/parallel", "internal/run", "internal/write", "engine"},
	"internal/wait":         {"internal/cluster", "internal/follow", "internal/parallel", "engine"},
	"internal/follow":       {"internal/cluster", "engine"},
	"internal/plandoc":      {"engine"},
	"internal/parallel":     {},
	"internal/editor":       {},

	"pkg/apply":           {"internal/apply", "internal/object", "internal/ownership", "pkg/diff", "pkg/lastapplied", "pkg/merge", "pkg/schema"},
	"internal/strategic":  {"pkg/strategy"},
	"internal/apply":      {"pkg/lastapplied", "internal/ownership", "internal/patch", "pkg/merge", "internal/object", "internal/redact", "pkg/schema", "pkg/strategy", "internal/suggest"},
	"pkg/strategy":        {"pkg/lastapplied", "pkg/merge", "internal/ownership", "pkg/schema", "internal/suggest"},
	"internal/ownership":  {"pkg/lastapplied", "pkg/merge", "pkg/schema", "internal/suggest"},
	"pkg/schema":          {"internal/linemerge", "pkg/merge", "internal/redact", "pkg/schema/internal/typename", "internal/suggest", "internal/yamldoc"},
	"internal/redact":     {"pkg/merge"},
	"pkg/diff":            {"internal/escape", "internal/linediff", "internal/linemerge", "pkg/lastapplied", "pkg/merge", "internal/redact", "internal/suggest", "internal/yamldoc"},
	"internal/patch":      {"pkg/merge"},
	"pkg/lastapplied":     {"pkg/merge", "internal/redact", "internal/suggest"},
	"internal/yamldoc":    {"internal/escape", "internal/linemerge", "pkg/merge"},
	"internal/linemerge":  {"internal/linediff"},
	"internal/linediff":   {},
	"internal/escape":     {},
	"internal/contexts":   {"internal/escape", "internal/suggest"},
	"internal/suggest":    {},
	"internal/object":     {"internal/suggest", "pkg/merge"},
	"internal/ready":      {"internal/object", "pkg/merge", "pkg/schema"},
	"internal/references": {"pkg/merge", "pkg/schema"},
	"pkg/merge":           {},

	"test/laws":      {"engine"},
	"test/corpus":    {"internal/source", "internal/strategic", "engine"},
	"test/sweep/gen": {"pkg/merge", "internal/ownership", "pkg/schema"},

	"internal/docgen":    {"internal/cli"}, // a generator, too
	"packaging/krew":     {},               // of releases: run by goreleaser and make
	"packaging/sbom":     {},
	"packaging/licences": {}, // a test of what is linked in
	"packaging/check":    {"packaging/krew"},
	"packaging/nix":      {},

	"pkg/schema/internal/typename": {},
	"pkg/schema/internal/gen":      {"pkg/merge", "pkg/schema", "pkg/schema/internal/typename"}, // a generator: run by hand, in no binary
}

// engine are the packages without I/O: those below pkg, which others may import, and these.
var engine = []string{"internal/apply", "internal/escape", "internal/linediff", "internal/linemerge", "internal/object", "internal/ownership",
	"internal/contexts", "internal/patch", "internal/ready", "internal/redact", "internal/references", "internal/suggest", "internal/yamldoc"}

// outside says which packages of the project may import what lies outside it, by
// prefix of the import path. What no prefix names is free, save for pkg/merge.
var outside = []struct {
	prefix, why string
	allowed     []string
}{
	{"k8s.io/client-go", "only what speaks to a cluster, or is configured to, knows the client",
		[]string{"cmd/kubectl-merge", "internal/cluster", "internal/cli", "internal/source", "pkg/schema/internal/gen"}},
	{"github.com/spf13/", "a command line is known to internal/cli, and what completes it", []string{"internal/cli", "internal/complete"}},
	{"golang.org/x/term", "a terminal is known to internal/term alone", []string{"internal/term"}},
	{"net/http", "only internal/cluster speaks to a server, and internal/source fetches a URL",
		[]string{"internal/cluster", "internal/source", "internal/cli", "internal/run"}}, // run: the names of status codes
}

// forbidden are modules that no part of the program may pull in, by any way.
var forbidden = map[string]string{
	"k8s.io/kubectl":    "its command packages cost 17 MB and bring their own merge",
	"k8s.io/kubernetes": "the server belongs to the module test/cluster",
}

// pkg is the report of go list about a package.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string
	Standard   bool
	GoFiles    []string
	Imports    []string
	Module     struct{ Path string }
}

// list gives the packages that patterns match, with all that they depend on if
// deps says so.
func list(t *testing.T, deps bool, patterns ...string) []pkg {
	t.Helper()
	args := []string{"-C", "../..", "list", "-json=ImportPath,Name,Dir,Standard,GoFiles,Imports,Module"}
	if deps {
		args = append(args, "-deps")
	}
	cmd := exec.Command("go", append(args, patterns...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// ours gives the packages that the program is made of; what is there for tests
// alone is free.
func ours(t *testing.T) []pkg {
	return slices.DeleteFunc(list(t, false, "./..."), func(p pkg) bool {
		return len(p.GoFiles) == 0 || strings.HasPrefix(p.short(), "test/")
	})
}

// short is the path inside the module, or "" for a package of another one.
func (p pkg) short() string { return inside(p.ImportPath) }

func inside(importPath string) string {
	rest, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		return ""
	}
	return rest
}

func below(importPath, prefix string) bool {
	return importPath == prefix || strings.HasPrefix(importPath, strings.TrimSuffix(prefix, "/")+"/")
}

func TestArrows(t *testing.T) {
	for _, p := range ours(t) {
		allowed, known := arrows[p.short()]
		if !known {
			t.Errorf("%s: a new package: give it its place in ARCHITECTURE.md and its arrows here", p.short())
			continue
		}
		for _, i := range p.Imports {
			to := inside(i)
			if to == "" {
				continue
			}
			if !slices.ContainsFunc(allowed, func(a string) bool {
				return a == to || a == "engine" && (below(to, "pkg") || slices.Contains(engine, to))
			}) {
				t.Errorf("%s imports %s, which ARCHITECTURE.md has no arrow for", p.short(), to)
			}
		}
	}
}

func TestCoreHasNoDependencies(t *testing.T) {
	for _, p := range list(t, true, "./pkg/merge") {
		if !p.Standard && p.short() != "pkg/merge" {
			t.Errorf("pkg/merge comes to depend on %s; it takes the standard library and nothing else", p.ImportPath)
		}
	}
}

func TestOutsideIsKnownWhereItIsAllowed(t *testing.T) {
	for _, p := range ours(t) {
		for _, i := range p.Imports {
			for _, rule := range outside {
				if below(i, rule.prefix) && !slices.Contains(rule.allowed, p.short()) {
					t.Errorf("%s imports %s: %s", p.short(), i, rule.why)
				}
			}
		}
	}
}

func TestForbiddenModules(t *testing.T) {
	for _, p := range list(t, true, "./...") {
		for prefix, why := range forbidden {
			if below(p.ImportPath, prefix) {
				t.Errorf("%s is pulled in: %s", p.ImportPath, why)
			}
		}
	}
}

func TestNamesSayWhatAPackageDoes(t *testing.T) {
	for _, p := range ours(t) {
		if slices.Contains([]string{"utils", "util", "common", "types", "helpers", "misc"}, p.Name) {
			t.Errorf("%s: %q says nothing about its job", p.short(), path.Base(p.ImportPath))
		}
	}
}
