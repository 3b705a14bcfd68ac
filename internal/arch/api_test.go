package arch

import (
	"bytes"
	"flag"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write pkg/api.txt")

// TestAPI holds pkg/api.txt to the exported names of the public packages, so that a change of what
// others build on is seen in review. go test ./internal/arch -run TestAPI -args -update writes it.
func TestAPI(t *testing.T) {
	const file = "../../pkg/api.txt"
	want := strings.Join(api(t), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("pkg/api.txt: gone: %s", line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("pkg/api.txt: new: %s", line)
		}
	}
	if t.Failed() {
		t.Log("where that is meant: name it in CHANGELOG.md, and write the list: go test ./internal/arch -run TestAPI -args -update")
	}
}

// api lists the exported names of the packages below pkg, one a line and in order, each with its
// signature. Fields and methods are lines of their own, so that one more of them is one more line.
func api(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, p := range parse(t) {
		if !strings.HasPrefix(p.short(), "pkg/") || strings.Contains(p.short(), "/internal/") {
			continue
		}
		for _, f := range p.files {
			for _, d := range f.Decls {
				for _, text := range p.exported(d) {
					all = append(all, p.short()+": "+text)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (p parsed) exported(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && exportedReceiver(d) {
			return []string{p.text(&ast.FuncDecl{Recv: d.Recv, Name: d.Name, Type: d.Type})}
		}
	case *ast.GenDecl:
		var out []string
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					out = append(out, p.typ(s)...)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						out = append(out, strings.TrimSpace(d.Tok.String()+" "+name.Name+" "+p.text(s.Type)))
					}
				}
			}
		}
		return out
	}
	return nil
}

// typ lists a type: its fields or methods, each with the type's name before it, or what it is.
func (p parsed) typ(s *ast.TypeSpec) []string {
	head := "type " + s.Name.Name
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		head, fields = head+" struct", t.Fields
	case *ast.InterfaceType:
		head, fields = head+" interface", t.Methods
	default:
		return []string{head + " " + p.text(s.Type)}
	}
	out := []string{head}
	for _, f := range fields.List {
		for _, name := range f.Names {
			if name.IsExported() {
				out = append(out, head+", "+name.Name+" "+p.text(f.Type))
			}
		}
		if f.Names == nil {
			out = append(out, head+", embedded "+p.text(f.Type))
		}
	}
	return out
}

var space = regexp.MustCompile(`\s+`)

// text prints a node on one line, "" for none.
func (p parsed) text(n ast.Node) string {
	if n == nil {
		return ""
	}
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return err.Error()
	}
	return space.ReplaceAllString(b.String(), " ")
}
