package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestUnlikeKubectl holds docs/unlike-kubectl.md and the marks in the code to each
// other: every file with a mark is named there, and whatever is named exists.
func TestUnlikeKubectl(t *testing.T) {
	const top, list = "../..", "docs/unlike-kubectl.md"
	doc, err := os.ReadFile(filepath.Join(top, list))
	if err != nil {
		t.Fatal(err)
	}
	marked := map[string]bool{}
	for _, dir := range []string{"pkg", "internal"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && strings.Contains(string(text), "// Unlike kubectl:") {
				name, err := filepath.Rel(top, path)
				if err != nil {
					return err
				}
				marked[filepath.ToSlash(name)] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range marked {
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("%s departs from kubectl, and %s does not say so", name, list)
		}
	}
	folders := map[string]string{"e2e": "test/e2e/testdata", "corpus": "test/corpus/cases"}
	named := regexp.MustCompile("`(e2e|corpus|internal|pkg)/([^`]+)`").FindAllStringSubmatch(string(doc), -1)
	if len(named) == 0 {
		t.Fatalf("%s names nothing", list)
	}
	for _, n := range named {
		path := filepath.Join(top, n[1], n[2])
		if folder, ok := folders[n[1]]; ok && n[2] != "…" {
			path = filepath.Join(top, folder, n[2]+".txtar")
		} else if n[2] == "…" {
			continue
		} else if !marked[n[1]+"/"+n[2]] {
			t.Errorf("%s names %s/%s, which bears no mark", list, n[1], n[2])
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", list, err)
		}
	}
}
