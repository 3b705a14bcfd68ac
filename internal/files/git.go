package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Kubernetes reports whether every document of all sides is a Kubernetes object; a
// side may be nil or empty. A merge driver hands everything else back to git.
func Kubernetes(sides ...*Set) bool {
	return !slices.ContainsFunc(sides, func(s *Set) bool { return s != nil && !s.manifest() })
}

// Paths are the files of a merge driver: git's %O, %B and %A.
type Paths struct{ Original, Updated, Dest string }

// ErrBinary is a file that is no text by git's rule.
var ErrBinary = errors.New("is not text, it has a zero byte")

// TextMerge merges by lines as git does without a merge driver, and writes the
// result, with markers where both sides changed the same lines, into dest. It reports
// whether there are any. On an error of git, or ErrBinary, dest is unchanged.
func TextMerge(ctx context.Context, p Paths) (conflicts bool, err error) {
	for _, name := range []string{p.Original, p.Updated, p.Dest} {
		if text, err := os.ReadFile(name); err == nil && (&File{raw: text}).binary() {
			return true, ErrBinary
		}
	}
	cmd := exec.CommandContext(ctx, "git", "merge-file", "-q",
		"-L", "dest", "-L", "original", "-L", "updated", "--", p.Dest, p.Original, p.Updated)
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < 128:
		return true, nil
	case len(said) > 0:
		first, _, _ := strings.Cut(string(said), "\n")
		return false, fmt.Errorf("git merge-file: %s", visible(first))
	}
	return false, fmt.Errorf("git merge-file: %w", err)
}

// IsFile reports whether name is an existing file, not a folder.
func IsFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
