package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestRandomMerges: over random edits of the lines of the corpus' files, a merge loses no value and
// no comment, and what one side alone has changed comes byte for byte.
func TestRandomMerges(t *testing.T) {
	texts := corpus(t)
	r := rand.New(rand.NewPCG(33, 1))
	played := 0
	for round := range 4000 {
		base := texts[r.IntN(len(texts))]
		sides := [2][]byte{make([]byte, opSize*(1+r.IntN(4))), make([]byte, opSize*(1+r.IntN(4)))}
		for _, ops := range sides {
			for i := range ops {
				ops[i] = byte(r.Uint32())
			}
		}
		ok := t.Run(fmt.Sprint(round), func(t *testing.T) {
			if holds(t, base, sides[0], sides[1]) {
				played++
			}
		})
		if !ok {
			break
		}
	}
	t.Logf("%d merges", played)
}

// FuzzMerges is TestRandomMerges with edits chosen by coverage.
func FuzzMerges(f *testing.F) {
	texts := corpus(f)
	for i := range texts {
		f.Add(uint(i), []byte{3, byte(i), 1}, []byte{5, byte(2 * i), 2})
	}
	f.Fuzz(func(t *testing.T, n uint, ours, theirs []byte) {
		if len(ours) <= 8*opSize && len(theirs) <= 8*opSize {
			holds(t, texts[n%uint(len(texts))], ours, theirs)
		}
	})
}

// corpus are the files of one document or more that have an original.
func corpus(t testing.TB) (out []string) {
	t.Helper()
	paths, err := filepath.Glob("../corpus/files/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("only %d cases: %v", len(paths), err)
	}
	for _, path := range paths {
		ar, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if side, _, _ := strings.Cut(f.Name, "/"); side == "original" && !strings.Contains(string(f.Data), "kpt-merge:") {
				out = append(out, string(f.Data))
			}
		}
	}
	return out
}

// holds plays the laws; false where a side is not what the driver merges.
func holds(t *testing.T, base string, ours, theirs []byte) bool {
	c := triple{path: "x.yaml", base: []byte(base), ours: []byte(edited(base, ours)), theirs: []byte(edited(base, theirs))}
	got, says, ok := byDriver(c)
	if !ok {
		return false
	}
	if lost := lost(c, got); len(lost) > 0 && !asGit(t, c, got) {
		t.Errorf("lost:\n%s\nconflicts:\n%s\nof\n%s\nours\n%s\ntheirs\n%s\nto\n%s", strings.Join(lost, "\n"), says, base, c.ours, c.theirs, got.text)
	}
	for _, side := range [][]byte{c.ours, c.theirs} {
		for _, alone := range []triple{{path: c.path, base: c.base, ours: c.base, theirs: side}, {path: c.path, base: c.base, ours: side, theirs: c.base}} {
			if got, says, ok := byDriver(alone); ok && (!got.clean || got.text != string(side)) {
				t.Errorf("one side alone:\n%s\nconflicts:\n%s\nof\n%s\nto\n%s", side, says, base, got.text)
			}
		}
	}
	return true
}

// asGit: the lines merge to the same, with the same conflicts. Of a line that one side moves and the
// other deletes each has done its part there; of one that the other changes, the change is in a conflict,
// and what was moved stands behind it.
func asGit(t *testing.T, c triple, got merged) bool {
	t.Helper()
	git, err := byGit(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return git.clean == got.clean && git.text == got.text
}

// opSize is how many bytes an edit takes: what is done, in which line, and a number for new words.
const opSize = 3

// edited is a text with edits of its lines made.
func edited(text string, ops []byte) string {
	lines := slices.Collect(strings.Lines(text))
	for ; len(ops) >= opSize && len(lines) > 0; ops = ops[opSize:] {
		lines = edit(lines, int(ops[0]), int(ops[1])%len(lines), int(ops[2])%8)
	}
	return strings.Join(lines, "")
}

// edit makes one edit at a line.
func edit(lines []string, op, at, n int) []string {
	line := strings.TrimRight(lines[at], "\n")
	margin := line[:len(line)-len(strings.TrimLeft(line, " "))]
	to, set := block(lines, at), func(s string) { lines[at] = s + "\n" }
	key, value, isField := strings.Cut(line, ": ")
	if op %= 10; identifies(lines, at, to) && op != 3 && op != 4 {
		return lines // another object
	}
	switch op {
	case 0:
		return slices.Delete(lines, at, to)
	case 1:
		return slices.Delete(lines, at, at+1)
	case 2: // the block once more, by another name
		again := slices.Clone(lines[at:to])
		again[0] = fmt.Sprintf("%s%d\n", strings.TrimRight(again[0], "\n"), n)
		return slices.Insert(lines, to, again...)
	case 3:
		return slices.Insert(lines, at, fmt.Sprintf("%s# note %d\n", margin, n))
	case 4:
		set(fmt.Sprintf("%s # behind %d", line, n))
	case 5:
		if isField {
			set(fmt.Sprintf("%s: v%d", key, n))
		}
	case 6: // the block behind the next one
		if to < len(lines) {
			next := block(lines, to)
			return slices.Concat(lines[:at], lines[to:next], lines[at:to], lines[next:])
		}
	case 7:
		if isField {
			set(fmt.Sprintf("%s: '%s'", key, strings.Trim(value, `"'`)))
		}
	case 8:
		return slices.Insert(lines, at, fmt.Sprintf("%sk%d: v%d\n", margin, n, n))
	case 9: // a mapping or list by another name
		if block, ok := strings.CutSuffix(line, ":"); ok {
			set(fmt.Sprintf("%s%d:", block, n))
		}
	}
	return lines
}

// identifies: a line, or a line of its block, holds what tells an object apart from others.
func identifies(lines []string, at, to int) bool {
	for i, line := range lines[at:to] {
		switch field, _, _ := strings.Cut(strings.TrimLeft(line, " -"), ":"); field {
		case "apiVersion", "kind", "metadata", "items":
			return true
		case "name", "namespace":
			if above := at + i - 1; above >= 0 && strings.HasPrefix(strings.TrimLeft(lines[above], " "), "metadata:") {
				return true
			}
		}
	}
	return false
}

// block is the end of a line and of what is indented below it.
func block(lines []string, at int) int {
	depth := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	to := at + 1
	for to < len(lines) && depth(lines[to]) > depth(lines[at]) {
		to++
	}
	return to
}
