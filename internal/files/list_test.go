package files

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestListed: the objects of every case become the same in a List as in documents of their
// own, comments and layout included.
func TestListed(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		c := readCase(t, file)
		alone := c.job(t)
		want, err := Merge(alone)
		if err != nil || !canBeListed(alone.Original, alone.Updated, alone.Dest) || strings.HasPrefix(filepath.Base(file), "list-kind") {
			continue
		}
		in := alone
		in.Original, in.Updated, in.Dest = listed(t, alone.Original), listed(t, alone.Updated), listed(t, alone.Dest)
		got, err := Merge(in)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		compared++
		a := string(asList(mustSet(t, strings.TrimSuffix(sections(alone.Dest, &Outcome{Files: plainly(want.Files)})["result"], "\\ no newline\n"))))
		b := sections(in.Dest, &Outcome{Files: plainly(got.Files)})["result"]
		if valuesOf(t, a) != valuesOf(t, b) || len(got.Conflicts) != len(want.Conflicts) || len(got.Notes) != len(want.Notes) {
			t.Errorf("%s: in a List\n%s\nalone\n%s", file, b, a)
		}
	}
	t.Logf("%d cases", compared)
	if compared < 20 {
		t.Errorf("only %d cases can be put into a List", compared)
	}
}

// plainly has the texts without conflict markers.
func plainly(files []Changed) []Changed {
	out := make([]Changed, len(files))
	for i, c := range files {
		out[i] = Changed{Name: c.Name, Text: c.Plain}
	}
	return out
}

// canBeListed: every side is one file of named objects. The line separators that a JSON
// file may hold are refused in YAML.
func canBeListed(sets ...*Set) bool {
	for _, s := range sets {
		if s == nil {
			continue
		}
		if s.Folder || !s.manifest() {
			return false
		}
		for _, d := range s.Files[0].YAML.Documents() {
			if i, _ := identify(d.Value()); i.name == "" || strings.ContainsAny(string(d.Text()), "\r&%\u0085\u2028\u2029") {
				return false
			}
		}
	}
	return true
}

// listed is a set with a List instead of its documents.
func listed(t *testing.T, s *Set) *Set {
	t.Helper()
	if s == nil {
		return nil
	}
	out, err := Parse(s.Name, asList(s))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func asList(s *Set) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for _, d := range s.Files[0].YAML.Documents() {
		dash := "- "
		for line := range strings.Lines(string(d.Text())) {
			comment := strings.HasPrefix(line, "#")
			switch {
			case strings.TrimSpace(line) == "":
				b.WriteString("\n")
			case comment && dash == "- ":
				b.WriteString(line)
			default:
				b.WriteString(dash + strings.TrimRight(line, "\n") + "\n")
				dash = "  "
			}
		}
	}
	if strings.HasSuffix(b.String(), "items:\n") {
		return []byte("apiVersion: v1\nkind: List\nitems: []\n")
	}
	return []byte(b.String())
}
