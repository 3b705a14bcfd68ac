// Package waiters has five tools wait for the same objects at the same time, on a server
// with controllers, and holds the table of docs/wait.md to how they end. It is a module of
// its own, so that neither Helm nor Flux is in any list of what the program is made of. With the
// tag sidebyside they are compiled, and the tools played; without it the table is compared.
package waiters

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const doc = "../../docs/wait.md"

// table is the one in the docs: its head, its rule, its rows.
var table = regexp.MustCompile("(?m)(^\\| situation \\| `kubectl rollout status` .*\n\\|[-|]+\n)((?:\\| .*\n)+)")

// documented is the page, and the head and the rows of its table.
func documented(t *testing.T) (page []byte, head, rows string) {
	t.Helper()
	page, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	found := table.FindSubmatch(page)
	if found == nil {
		t.Fatalf("%s has no such table", doc)
	}
	return page, string(found[1]), string(found[2])
}

// TestDocumented: the table in the docs is of these situations, and has how each tool ends.
func TestDocumented(t *testing.T) {
	_, _, body := documented(t)
	rows := strings.Split(strings.TrimSpace(body), "\n")
	if len(rows) != len(situations) {
		t.Fatalf("%d rows, want %d", len(rows), len(situations))
	}
	for i, s := range situations {
		cells := strings.Split(strings.Trim(rows[i], "| "), " | ")
		if len(cells) != len(s.ends)+1 || cells[0] != s.name {
			t.Errorf("row %d: %s; want that of %q", i+1, rows[i], s.name)
			continue
		}
		for n, end := range s.ends {
			if got, _, _ := strings.Cut(cells[n+1], ","); got != end {
				t.Errorf("%s: tool %d: the docs have %q, want %q", s.name, n+1, got, end)
			}
		}
	}
}
