package files

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

var update = flag.Bool("update", false, "write the results into the cases")

const corpus = "../../test/corpus/files"

// filesCase is one archive of test/corpus/files: a head of "title:", "why:" and
// options (crlf: the one side that has such line ends, or true for all), the sides (original, updated, dest; as one section or as a folder of
// them), the result and what is reported.
type filesCase struct {
	head    map[string]string
	sides   map[string]map[string][]byte
	archive *txtar.Archive
}

func readCase(t *testing.T, file string) filesCase {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := filesCase{head: map[string]string{}, sides: map[string]map[string][]byte{}, archive: ar}
	for _, line := range strings.Split(strings.TrimSpace(string(ar.Comment)), "\n") {
		k, v, ok := strings.Cut(line, ": ")
		if !ok || !slices.Contains([]string{"title", "why", "policy", "prepend", "infer", "crlf", "bare-end", "unordered"}, k) {
			t.Fatalf("%s: %q is no line of a head", file, line)
		}
		c.head[k] = v
	}
	if c.head["title"] == "" || c.head["why"] == "" {
		t.Errorf("a case has a title and says why")
	}
	for _, f := range ar.Files {
		side, name, _ := strings.Cut(f.Name, "/")
		if c.sides[side] == nil {
			c.sides[side] = map[string][]byte{}
		}
		data := f.Data
		if where := c.head["crlf"]; where == "true" || where != "" && side == where {
			data = []byte(strings.ReplaceAll(string(data), "\n", "\r\n"))
		}
		if c.head["bare-end"] != "" {
			data = []byte(strings.TrimRight(string(data), "\r\n"))
		}
		c.sides[side][name] = data
	}
	return c
}

// set makes a side of its sections, nil where there is none.
func (c filesCase) set(t *testing.T, side string) *Set {
	t.Helper()
	parts := c.sides[side]
	if parts == nil {
		return nil
	}
	if text, ok := parts[""]; ok {
		s, err := Parse(side+".yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := &Set{Name: side, Folder: true}
	names := make([]string, 0, len(parts))
	for name := range parts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := s.add(name, path.Join(side, name), 0o644, parts[name]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (c filesCase) job(t *testing.T) Job {
	t.Helper()
	j := Job{Original: c.set(t, "original"), Updated: c.set(t, "updated"), Dest: c.set(t, "dest"), Policy: TwoWay, Infer: c.head["infer"] == "", Schema: builtin}
	name := c.head["policy"]
	if name == "" && j.Original != nil {
		name = "merge3"
	}
	if name != "" {
		p, err := merge.PolicyNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		j.Policy = p
	}
	j.Policy.Prepend = c.head["prepend"] != ""
	if text := c.sides["rules"][""]; text != nil {
		rules, err := schema.ParseRules(text)
		if err != nil {
			t.Fatal(err)
		}
		j.Rules = rules
	}
	return j
}

func builtin(group, version, kind string) *merge.Type {
	t, _ := schema.Builtin(group, version, kind)
	return t
}

func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*.txtar")
	if err != nil || len(files) < 50 {
		t.Fatalf("only %d cases: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { play(t, file) })
	}
}

func play(t *testing.T, file string) {
	c := readCase(t, file)
	j := c.job(t)
	out, err := Merge(j)
	got := map[string]string{}
	if err != nil {
		got["error"] = err.Error() + "\n"
	} else {
		got = sections(j.Dest, out)
		for _, f := range out.Files {
			text, err := f.Diff(Hiding{})
			hidden := f.lines || strings.Contains(text, "***")
			marked := bytes.Contains(f.Text, []byte(">>>>>>> updated"))
			if err != nil || marked && !hidden && !strings.Contains(text, "\n+>>>>>>> updated") {
				t.Errorf("the diff has no markers: %v\n%s", err, text)
			}
		}
	}
	if *update {
		rewrite(t, file, c.archive, got)
		return
	}
	for name, text := range got {
		if want := string(section(c.archive, name)); want != text && (name != "result" || c.head["unordered"] == "" || !reordered(t, want, text)) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, text, want)
		}
	}
	for _, f := range c.archive.Files {
		if _, ok := got[f.Name]; !ok && isResult(f.Name) {
			t.Errorf("%s is missing", f.Name)
		}
	}
}

// sections are what came out: result or result/NAME, notes and conflicts.
func sections(dest *Set, out *Outcome) map[string]string {
	texts := map[string][]byte{}
	for _, f := range dest.Files {
		texts[f.Name] = f.YAML.Text()
	}
	for _, f := range out.Files {
		if f.Text == nil {
			delete(texts, f.Name)
			continue
		}
		texts[f.Name] = f.Text
	}
	got := map[string]string{}
	for name, text := range texts {
		s := strings.ReplaceAll(string(text), "\r\n", "\\r\n")
		if s != "" && !strings.HasSuffix(s, "\n") {
			s += "\\ no newline\n"
		}
		if dest.Folder {
			got["result/"+name] = s
		} else {
			got["result"] = s
		}
	}
	for _, n := range out.Notes {
		got["notes"] += n.String() + "\n"
	}
	for _, n := range out.Conflicts {
		got["conflicts"] += n.String() + "\n"
	}
	return got
}

func isResult(name string) bool {
	return name == "result" || strings.HasPrefix(name, "result/") || name == "notes" || name == "conflicts" || name == "error"
}

func section(ar *txtar.Archive, name string) []byte {
	for _, f := range ar.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func rewrite(t *testing.T, file string, ar *txtar.Archive, got map[string]string) {
	t.Helper()
	kept := ar.Files[:0:0]
	for _, f := range ar.Files {
		if !isResult(f.Name) {
			kept = append(kept, f)
		}
	}
	names := make([]string, 0, len(got))
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	slices.Reverse(names)
	for _, name := range names {
		kept = append(kept, txtar.File{Name: name, Data: []byte(got[name])})
	}
	ar.Files = kept
	if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}

// reordered: two texts hold the same, whatever the order of their lists.
func reordered(t *testing.T, a, b string) bool {
	t.Helper()
	x, err1 := yamldoc.Parse([]byte(a))
	y, err2 := yamldoc.Parse([]byte(b))
	if err1 != nil || err2 != nil {
		return false
	}
	return sorted(x.Documents()[0].Value()) == sorted(y.Documents()[0].Value())
}

// sorted spells a value with its lists in one order.
func sorted(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for k, e := range v {
			parts = append(parts, k+":"+sorted(e))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, sorted(e))
		}
		slices.Sort(parts)
		return "[" + strings.Join(parts, ",") + "]"
	}
	text, _ := json.Marshal(v)
	return string(text)
}
