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
)

// frontSize is the number of objects of the rows that the README shows.
const frontSize = 1000

// write puts its table into docs/performance.md, and a short one into the README.
func (r report) write(top string) error {
	for name, figures := range map[string]string{page: fmt.Sprintf("Measured on %s.\n\n%s", r.Facts, r.page()), front: r.front()} {
		if err := rewrite(filepath.Join(top, name), func(text string) (string, error) { return replaced(text, figures) }); err != nil {
			return err
		}
	}
	return nil
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
