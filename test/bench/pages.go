package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The pages with figures, and between what they stand there.
const (
	page      = "docs/performance.md"
	front     = "README.md"
	blockHead = "<!-- figures: written by make bench-cluster WRITE=1 -->\n"
	blockEnd  = "<!-- end of figures -->\n"

	frontHeading = "## How fast\n"
	frontBefore  = "## Questions\n" // the README's part goes before this where there is none yet
)

// frontSize is the number of objects of the rows that the README shows.
const frontSize = 1000

// write puts the whole table into docs/performance.md, and a short one into the
// README, which gets the part if it has none.
func (r report) write(top string) error {
	whole := fmt.Sprintf("Measured on %s.\n\n%s\nStart-up (medians of %d):\n\n%s", r.Facts, r.tables(r.sizes()), starts, bullets(r.starts()))
	if err := rewrite(filepath.Join(top, page), func(text string) (string, error) { return replaced(text, whole) }); err != nil {
		return err
	}
	return rewrite(filepath.Join(top, front), func(text string) (string, error) {
		if !strings.Contains(text, blockHead) {
			var err error
			if text, err = withPart(text); err != nil {
				return "", err
			}
		}
		return replaced(text, r.front())
	})
}

func rewrite(file string, change func(string) (string, error)) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	out, err := change(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(out), 0o644)
}

// replaced is the page with another block of figures.
func replaced(text, figures string) (string, error) {
	before, rest, ok := strings.Cut(text, blockHead)
	_, after, closed := strings.Cut(rest, blockEnd)
	if !ok || !closed {
		return "", fmt.Errorf("has no lines %q and %q to write between", strings.TrimSpace(blockHead), strings.TrimSpace(blockEnd))
	}
	return before + blockHead + strings.TrimSpace(figures) + "\n" + blockEnd + after, nil
}

// withPart is the README with an empty block, and what there is to say about it.
func withPart(text string) (string, error) {
	before, after, ok := strings.Cut(text, frontBefore)
	if !ok {
		return "", fmt.Errorf("has no heading %q to write before", strings.TrimSpace(frontBefore))
	}
	return before + frontHeading + "\n" + blockHead + blockEnd + `
Each figure is the median of several rounds, taken in turns on one machine against one server by ` + "`make bench-cluster`" + `; two figures in a
cell are ` + "`kubectl merge`" + ` and ` + "`kubectl apply`" + `. All sizes, and where the time is spent: [docs/performance.md](docs/performance.md).

` + frontBefore + after, nil
}

func bullets(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		b.WriteString("- " + line)
	}
	return b.String()
}
