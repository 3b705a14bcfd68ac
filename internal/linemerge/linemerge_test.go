package linemerge

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	for _, tt := range []struct{ reason, base, ours, theirs, want string }{
		{"nothing", "", "", "", ""},
		{"neither side changed anything", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n"},
		{"one side each, apart", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"},
		{"the same change", "a\nb\n", "a\nB\n", "a\nB\n", "a\nB\n"},
		{"the same line", "a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", "a\n<X\n=Y\n>c\n"},
		{"lines that touch", "a\nb\nc\nd\n", "a\nX\nc\nd\n", "a\nb\nY\nd\n", "a\n<X\nc\n=b\nY\n>d\n"},
		{"removed and changed", "a\nb\nc\n", "a\nc\n", "a\nY\nc\n", "a\n<=Y\n>c\n"},
		{"both add at one place", "a\n", "a\nX\n", "a\nY\n", "a\n<X\n=Y\n>"},
		{"what both add alike is not in conflict", "a\n", "a\nX\nM\n", "a\nX\nN\n", "a\nX\n<M\n=N\n>"},
		{"equal lines that git pairs otherwise", lines("abcddefgeh"), lines("bcdefedagh"), lines("bfhddeiifgedaghbdajklmeagbhfdeaghifndeagbodag"), lines("bfhdeiifedaghbdajklmeagbhfdeaghifndeagbodag")},
		{"moved and removed", "a\nb\nc\nd\n", "a\nc\nb\nd\n", "a\nc\nd\n", "a\nc\n<b\n=>d\n"},
		{"no line end", "a\nb", "a\nB", "A\nb", "<a\nB=A\nb>"},
	} {
		if got := spelled(Merge(tt.base, tt.ours, tt.theirs)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
}

// lines is a text of one letter a line.
func lines(letters string) string { return strings.Join(strings.Split(letters, ""), "\n") + "\n" }

func spelled(chunks []Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		if c.Conflict {
			fmt.Fprintf(&b, "<%s=%s>", c.Ours, c.Theirs)
			continue
		}
		b.WriteString(c.Ours)
	}
	return b.String()
}

// TestAsGit: over random texts a merge is clean where git's is, and is the same then.
func TestAsGit(t *testing.T) {
	dir := t.TempDir()
	clean, conflicts, stricter := 0, 0, 0
	for round := range 300 {
		r := rand.New(rand.NewPCG(1, uint64(round)))
		base := text(r)
		ours, theirs := edited(r, base), edited(r, base)
		want, ok := byGit(t, dir, base, ours, theirs)
		got, _, isClean := Sides(strings.Join(base, ""), strings.Join(ours, ""), strings.Join(theirs, ""))
		switch {
		case ok && isClean && got != want:
			t.Fatalf("round %d: %q, %q, %q come to %q, with git to %q", round, base, ours, theirs, got, want)
		case ok && isClean:
			clean++
		case !ok && !isClean:
			conflicts++
		case isClean:
			t.Errorf("round %d: %q, %q, %q is clean, and a conflict for git:\n%s", round, base, ours, theirs, want)
		default:
			stricter++
		}
	}
	t.Logf("%d clean, %d conflicts, %d conflicts that git finds a way around", clean, conflicts, stricter)
	if clean < 50 || conflicts < 50 || stricter > 0 {
		t.Errorf("%d clean, %d conflicts, %d stricter", clean, conflicts, stricter)
	}
}

func text(r *rand.Rand) []string {
	out := make([]string, 10+r.IntN(20))
	for i := range out {
		out[i] = fmt.Sprintf("line %d\n", i)
	}
	return out
}

func edited(r *rand.Rand, lines []string) []string {
	var out []string
	for _, l := range lines {
		switch r.IntN(16) {
		case 0:
		case 1:
			out = append(out, fmt.Sprintf("changed %d\n", r.IntN(3)))
		case 2:
			out = append(out, l, fmt.Sprintf("new %d\n", r.IntN(3)))
		default:
			out = append(out, l)
		}
	}
	return out
}

func byGit(t *testing.T, dir string, sides ...[]string) (merged string, clean bool) {
	t.Helper()
	var names []string
	for i, side := range sides {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, []byte(strings.Join(side, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	out, err := exec.Command("git", "merge-file", "-p", "-q", names[1], names[0], names[2]).Output()
	return string(out), err == nil
}
