package files

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestByteLaws: a dest that is as original was becomes updated byte for byte, and an updated
// that is as original was leaves dest byte for byte. It holds for every two sides of every
// case, and for random edits.
func TestByteLaws(t *testing.T) {
	paths, err := filepath.Glob(corpus + "/*.txtar")
	if err != nil || len(paths) < 50 {
		t.Fatalf("only %d cases: %v", len(paths), err)
	}
	for _, path := range paths {
		c := readCase(t, path)
		for _, pair := range [][2]string{{"original", "updated"}, {"original", "dest"}, {"dest", "updated"}, {"updated", "dest"}} {
			for name, was := range c.sides[pair[0]] {
				if is, ok := c.sides[pair[1]][name]; ok {
					t.Run(strings.Join([]string{filepath.Base(path), pair[0], pair[1], name}, "/"), func(t *testing.T) { byteLaws(t, string(was), string(is)) })
				}
			}
		}
	}
	for round := range rounds {
		r := random(round)
		byteLaws(t, edited(t, base, r, 0.1), edited(t, base, r, 0.2))
	}
}

// byteLaws plays both laws, of texts that can be merged.
func byteLaws(t *testing.T, was, is string) {
	t.Helper()
	policy, err := merge.PolicyNamed("diff3")
	if err != nil {
		t.Fatal(err)
	}
	result := func(updated, dest string) (string, bool) {
		var sides [3]*Set
		for i, text := range []string{was, updated, dest} {
			if sides[i], err = Parse("x.yaml", []byte(text)); err != nil {
				return "", false
			}
		}
		out, err := Merge(Job{Original: sides[0], Updated: sides[1], Dest: sides[2], Policy: policy, Schema: builtin, Infer: true})
		switch {
		case err != nil:
			return "", false
		case len(out.Conflicts) > 0:
			t.Errorf("a conflict where one side has changed nothing: %v", out.Conflicts)
		case len(out.Files) > 0:
			return string(out.Files[0].Text), true
		}
		return dest, true
	}
	if strings.Contains(was, "\r") == strings.Contains(is, "\r") {
		if got, ok := result(is, was); ok && got != is {
			t.Errorf("dest = original:\n%s\nupdated:\n%s\noriginal:\n%s", got, is, was)
		}
	}
	if got, ok := result(was, is); ok && got != is {
		t.Errorf("updated = original:\n%s\ndest:\n%s", got, is)
	}
}

// FuzzByteLaws plays the laws over any two texts.
func FuzzByteLaws(f *testing.F) {
	f.Add(base, strings.Replace(base, "# server", "# another", 1))
	f.Add("kind: A\nmetadata: {name: a}\n", "kind: A\nmetadata: {name: b}\n# end\n")
	f.Fuzz(func(t *testing.T, was, is string) {
		if len(was)+len(is) < 4096 {
			byteLaws(t, was, is)
		}
	})
}

// FuzzComments: no comment that one side alone has added or taken out is lost, unless in a
// conflict.
func FuzzComments(f *testing.F) {
	f.Add(base, strings.Replace(base, "# server", "# another", 1), strings.Replace(base, "# start", "", 1))
	f.Fuzz(func(t *testing.T, was, theirs, ours string) {
		if len(was)+len(theirs)+len(ours) > 4096 || strings.Contains(was+theirs+ours, "\r") {
			return
		}
		var sides [3]*Set
		for i, text := range []string{was, theirs, ours} {
			var err error
			if sides[i], err = Parse("x.yaml", []byte(text)); err != nil {
				return
			}
		}
		policy, _ := merge.PolicyNamed("diff3")
		out, err := Merge(Job{Original: sides[0], Updated: sides[1], Dest: sides[2], Policy: policy, Schema: builtin, Infer: true})
		if err != nil {
			return
		}
		got := ours
		if len(out.Files) > 0 {
			got = string(out.Files[0].Text)
		}
		if lost := lostComments(texts{base: was, ours: ours, theirs: theirs}, got); len(lost) > 0 {
			t.Errorf("lost: %q in:\n%s", lost, got)
		}
	})
}
