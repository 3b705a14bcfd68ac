// Command docgen writes the reference of the command line, docs/cli.md, and the man
// pages, docs/man, from the help texts. It refuses to print anything that the help
// does not.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/cli"
)

//go:generate go run . ../../docs

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docgen DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1], pages(cli.Reference())); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

// pages returns the texts by file name, relative to the folder docs.
func pages(main cli.Page) map[string]string {
	out := map[string]string{"cli.md": markdown(main)}
	for _, p := range append([]cli.Page{main}, main.Verbs...) {
		out["man/"+manName(p)+".1"] = manPage(p, main)
	}
	return out
}

// manName returns the name of a page for man: kubectl-merge-diff.
func manName(p cli.Page) string { return strings.ReplaceAll(p.CommandPath(), " ", "-") }

// write writes the pages into dir, and removes man pages of verbs that no longer exist.
func write(dir string, pages map[string]string) error {
	old, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	errs := []error{err, os.MkdirAll(filepath.Join(dir, "man"), 0o755)}
	for _, file := range old {
		if pages["man/"+filepath.Base(file)] == "" {
			errs = append(errs, os.Remove(file))
		}
	}
	for name, text := range pages {
		errs = append(errs, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}
