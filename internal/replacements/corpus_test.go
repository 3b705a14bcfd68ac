package replacements

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

var update = flag.Bool("update", false, "write the results into the cases")

// TestCorpus plays test/corpus/files/replacements: the sections replacements.yaml
// (and files that it names), input.yaml and, for a source from elsewhere,
// elsewhere.yaml; the result is the input's text afterwards, or the error.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../../test/corpus/files/replacements/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("only %d cases: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { play(t, file) })
	}
}

func play(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if head := string(ar.Comment); !strings.HasPrefix(head, "title: ") || !strings.Contains(head, "\nwhy: ") {
		t.Error("a case has a title and says why")
	}
	part := map[string][]byte{}
	for _, f := range ar.Files {
		part[f.Name] = f.Data
	}
	got, err := run(t, part)
	name := "result"
	if err != nil {
		name, got = "error", err.Error()+"\n"
	}
	if *update {
		delete(part, "result")
		delete(part, "error")
		kept := ar.Files[:0:0]
		for _, f := range ar.Files {
			if f.Name != "result" && f.Name != "error" {
				kept = append(kept, f)
			}
		}
		ar.Files = append(kept, txtar.File{Name: name, Data: []byte(got)})
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(part[name]) != got {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, part[name])
	}
}

// run makes the replacements in the input's text.
func run(t *testing.T, part map[string][]byte) (string, error) {
	t.Helper()
	load := func(path string) ([]byte, error) {
		if text, ok := part[path]; ok {
			return text, nil
		}
		return nil, fmt.Errorf("%s: no such file or directory", path)
	}
	rules, err := Parse("replacements.yaml", part["replacements.yaml"], load)
	if err != nil {
		return "", err
	}
	in, err := yamldoc.Parse(part["input.yaml"])
	if err != nil {
		t.Fatal(err)
	}
	objects := values(in)
	before, _ := json.Marshal(objects)
	var find Find
	if text := part["elsewhere.yaml"]; text != nil {
		find = elsewhere(t, text)
	}
	results, _, err := rules.Apply(objects, find)
	if after, _ := json.Marshal(objects); string(after) != string(before) {
		t.Error("the input was modified")
	}
	if err != nil {
		return "", err
	}
	texts := map[*yamldoc.Document][]byte{}
	for i, d := range in.Documents() {
		if texts[d], err = d.Edit(yamldoc.Edit{Want: results[i]}); err != nil {
			t.Fatal(err)
		}
	}
	return string(in.Assemble(texts, nil)), nil
}

func values(f *yamldoc.File) []any {
	var out []any
	for _, d := range f.Documents() {
		out = append(out, d.Value())
	}
	return out
}

// elsewhere finds objects by kind and name in a text.
func elsewhere(t *testing.T, text []byte) Find {
	f, err := yamldoc.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return func(s Selector) ([]any, error) {
		var out []any
		for _, v := range values(f) {
			m, _ := v.(map[string]any)
			meta, _ := m["metadata"].(map[string]any)
			if m["kind"] == s.Kind && (s.Name == "" || meta["name"] == s.Name) {
				out = append(out, v)
			}
		}
		return out, nil
	}
}
