package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/source"
)

// inputFlags name the files with local objects.
type inputFlags struct {
	source.Inputs
}

func (f *inputFlags) given() bool { return len(f.Files) > 0 || f.Kustomize != "" }

// stdin reports whether local is read from standard input.
func (f *inputFlags) stdin() bool { return slices.Contains(f.Files, "-") }

func (f *inputFlags) validate() error {
	switch {
	case !f.given():
		return errors.New("must specify one of -f and -k")
	case len(f.Files) > 0 && f.Kustomize != "":
		return errors.New("only one of -f or -k can be specified")
	case f.Kustomize != "" && f.Recursive:
		return errors.New("the -k flag can't be used with -f or -R")
	}
	return nil
}

// mostListed is how many names an error lists; the others are counted.
const mostListed = 8

// listed returns the list of names for an error.
func listed(names []string) string {
	if more := len(names) - mostListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// none returns the error of an input without objects.
func (f *inputFlags) none() error {
	if f.Selector != "" {
		return fmt.Errorf("no objects passed to merge: none of the input matches --selector %q", f.Selector)
	}
	return fmt.Errorf("no objects passed to merge: %s: holds no object", listed(f.Names()))
}
