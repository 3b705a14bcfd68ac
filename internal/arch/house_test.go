package arch

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// most is how many lines the program may have: all Go of cmd, internal and pkg without tests, what
// is generated included. Any commit may lower it. Only a new capability raises it, by no more than
// the size that its issue names.
const most = 67321

// TestSize: find cmd internal pkg -name '*.go' ! -name '*_test.go' | xargs cat | wc -l
func TestSize(t *testing.T) {
	lines := 0
	for _, dir := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(name string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			lines += bytes.Count(text, []byte("\n"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines > most {
		t.Errorf("%d lines, %d more than most: remove what the change makes unnecessary", lines, lines-most)
	}
	t.Logf("%d lines", lines)
}

// TestTable: ARCHITECTURE.md has a row for every package.
func TestTable(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		for i, name := range strings.Split(cells[min(1, len(cells)-1)], "`") {
			rows[name] = rows[name] || i%2 == 1
		}
	}
	for _, p := range list(t, false, "./...") {
		top, _, _ := strings.Cut(p.short(), "/")
		if !rows[p.short()] && !rows[top+"/*"] {
			t.Errorf("%s has no row in ARCHITECTURE.md", p.short())
		}
	}
}
