package diff_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		why, old, now string
		context       int
		want          string
	}{
		{"nothing differs", "a\n", "a\n", 3, ""},
		{"two changes in one hunk, and one after it", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n3\n4!\n5\n6\n7\n8\n9!\n", 1,
			"--- a\n+++ b\n@@ -1,5 +1,4 @@\n 1\n-2\n 3\n-4\n+4!\n 5\n@@ -8,2 +7,2 @@\n 8\n-9\n+9!\n"},
		{"all is new", "", "1\n2\n", 3, "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+1\n+2\n"},
		{"all goes", "1\n", "", 3, "--- a\n+++ b\n@@ -1 +0,0 @@\n-1\n"},
		{"no context", "1\n2\n", "1\n1a\n2\n", 0, "--- a\n+++ b\n@@ -1,0 +2 @@\n+1a\n"},
		{"no newline at the end", "1\n2", "1\n2\n", 3, "--- a\n+++ b\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n"},
	} {
		if got := diff.Text(diff.Pair{From: "a", To: "b", Old: c.old, Now: c.now}, c.context); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.why, got, c.want)
		}
	}
}

// TestTextApplies: what a diff's headers and lines say leads from the old text to
// the new one.
func TestTextApplies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		old := randomLines(r)
		now := edited(r, old)
		text := diff.Text(diff.Pair{From: "a", To: "b", Old: strings.Join(old, ""), Now: strings.Join(now, "")}, r.IntN(4))
		got, err := applied(old, text)
		if err != nil || got != strings.Join(now, "") {
			t.Fatalf("%v\nold %q\nnew %q\n%s", err, old, now, text)
		}
	}
}

func randomLines(r *rand.Rand) []string {
	lines := make([]string, r.IntN(30))
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d\n", r.IntN(12))
	}
	return lines
}

func edited(r *rand.Rand, lines []string) []string {
	var out []string
	for _, l := range lines {
		switch r.IntN(8) {
		case 0:
		case 1:
			out = append(out, "new\n", l)
		case 2:
			out = append(out, "other\n")
		default:
			out = append(out, l)
		}
	}
	return out
}

// applied does what patch does, without any tolerance.
func applied(old []string, text string) (string, error) {
	var out strings.Builder
	at, written := 0, 0
	for _, l := range strings.SplitAfter(text, "\n") {
		switch {
		case l == "", strings.HasPrefix(l, "---"), strings.HasPrefix(l, "+++"):
		case l[0] == '@':
			var from, to string
			if _, err := fmt.Sscanf(l, "@@ -%s +%s @@", &from, &to); err != nil {
				return "", err
			}
			for ; at < start(from); at, written = at+1, written+1 {
				out.WriteString(old[at])
			}
			if at != start(from) || written != start(to) {
				return "", fmt.Errorf("%s: stands at -%d +%d", l, at, written)
			}
		case l[0] == '+':
			out.WriteString(l[1:])
			written++
		default:
			if at >= len(old) || old[at] != l[1:] {
				return "", fmt.Errorf("%q: the old text has something else", l)
			}
			if at++; l[0] == ' ' {
				out.WriteString(l[1:])
				written++
			}
		}
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return out.String(), nil
}

// start is the line, from 0, at which a span begins.
func start(span string) int {
	first, n, many := strings.Cut(span, ",")
	i, err := strconv.Atoi(first)
	switch {
	case err != nil:
		return -1
	case many && n == "0":
		return i
	}
	return i - 1
}

// TestTextAsDiff: the numbers above the hunks are those of diff -u.
func TestTextAsDiff(t *testing.T) {
	dir := t.TempDir()
	old, now := strings.Repeat("a\nb\nc\nd\ne\nf\ng\nh\n", 5), strings.Repeat("a\nc\nd\ne!\nf\ng\nh\n", 5)
	for name, text := range map[string]string{"a": old, "b": now} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("diff", "-u", "--label", "a", "--label", "b", "a", "b")
	cmd.Dir = dir
	out, err := cmd.Output()
	var differs *exec.ExitError
	if err != nil && !errors.As(err, &differs) {
		return // there is no diff on this machine
	}
	if got := diff.Text(diff.Pair{From: "a", To: "b", Old: old, Now: now}, 3); got != string(out) {
		t.Errorf("got\n%s\ndiff -u says\n%s", got, out)
	}
}
