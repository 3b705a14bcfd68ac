package readme

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFigures: what the README says of speed are the first columns of the page that
// says how it was measured. `make bench-cluster WRITE=1` writes both.
func TestFigures(t *testing.T) {
	whole, there := figures(t, "docs/performance.md")
	if !there {
		t.Fatal("docs/performance.md has no marks to write figures between")
	}
	short, _ := figures(t, "README.md")
	for line := range strings.Lines(short) {
		if strings.HasPrefix(line, "|") && !strings.Contains(whole, "\n"+strings.TrimSpace(line)) {
			t.Errorf("README.md shows what docs/performance.md does not have:\n%s", line)
		}
	}
}

// figures are the lines between the marks of a page.
func figures(t *testing.T, page string) (text string, there bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(top, page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, open := strings.Cut(string(data), "<!-- figures: written by make bench-cluster WRITE=1 -->")
	text, _, closed := strings.Cut(rest, "<!-- end of figures -->")
	if open != closed {
		t.Errorf("%s: one mark of the figures is missing", page)
	}
	return text, open && closed
}
