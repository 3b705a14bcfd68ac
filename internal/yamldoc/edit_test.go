package yamldoc

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

var update = flag.Bool("update", false, "write the results into the cases")

// byName is the type of every list in the cases that has it: keyed by name, at
// any depth.
func byName() *merge.Type {
	t := &merge.Type{Kind: merge.Object, Open: true, Fields: map[string]merge.Field{}}
	t.Fields["containers"] = merge.Field{Type: &merge.Type{Kind: merge.Keyed, Keys: []merge.Key{{Name: "name"}}, Elem: t}}
	t.Fields["env"] = t.Fields["containers"]
	t.Fields["spec"] = merge.Field{Type: t}
	return t
}

// TestEdit plays testdata/edit: each file is a case of the sections dest, want
// (the value, as YAML), source (optional) and result; its comment is the reason.
func TestEdit(t *testing.T) {
	files, err := filepath.Glob("testdata/edit/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { playEdit(t, file) })
	}
}

func playEdit(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(ar.Comment))) == 0 {
		t.Error("the case has no reason")
	}
	part := map[string][]byte{}
	for _, f := range ar.Files {
		part[f.Name] = f.Data
		if strings.Contains(string(ar.Comment), "(CRLF)") && f.Name != "result" {
			part[f.Name] = []byte(strings.ReplaceAll(string(f.Data), "\n", "\r\n"))
		}
		if strings.Contains(string(ar.Comment), "(no newline at the end)") && f.Name == "dest" {
			part[f.Name] = []byte(strings.TrimSuffix(string(f.Data), "\n"))
		}
	}
	e := Edit{Want: mustParse(t, part["want"]).Value(), Type: byName()}
	if part["source"] != nil {
		e.Sources = []*Document{mustParse(t, part["source"])}
	}
	if strings.Contains(string(ar.Comment), "(all comments)") {
		e.Comments = true
	}
	got, err := mustParse(t, part["dest"]).Edit(e)
	if err != nil {
		t.Fatal(err)
	}
	out := strings.ReplaceAll(string(got), "\r\n", "\\r\n")
	if !strings.HasSuffix(out, "\n") {
		out += "\\ no newline\n"
	}
	if *update {
		ar.Files = append(ar.Files[:0:0], ar.Files...)
		for i := range ar.Files {
			if ar.Files[i].Name == "result" {
				ar.Files = ar.Files[:i]
				break
			}
		}
		ar.Files = append(ar.Files, txtar.File{Name: "result", Data: []byte(out)})
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out != string(part["result"]) {
		t.Errorf("got:\n%s\nwant:\n%s", out, part["result"])
	}
}

func mustParse(t *testing.T, text []byte) *Document {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return f.Documents()[0]
}
