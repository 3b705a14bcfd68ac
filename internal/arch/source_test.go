package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// parsed is a package's source without its tests.
type parsed struct {
	pkg
	fset  *token.FileSet
	files []*ast.File
}

func parse(t *testing.T) []parsed {
	t.Helper()
	var all []parsed
	for _, p := range ours(t) {
		s := parsed{pkg: p, fset: token.NewFileSet()}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.files = append(s.files, f)
		}
		all = append(all, s)
	}
	return all
}

func (p parsed) at(n ast.Node) string {
	pos := p.fset.Position(n.Pos())
	return p.short() + "/" + filepath.Base(pos.Filename) + ":" + strconv.Itoa(pos.Line)
}

// TestOnlyMainEndsTheProcess: a function that exits cannot be tested, and skips
// what others have deferred.
func TestOnlyMainEndsTheProcess(t *testing.T) {
	ends := map[string]bool{"os.Exit": true, "log.Fatal": true, "log.Fatalf": true, "log.Fatalln": true, "klog.Fatal": true, "klog.Fatalf": true, "klog.Exit": true}
	for _, p := range parse(t) {
		if p.Name == "main" {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && ends[x.Name+"."+sel.Sel.Name] {
						t.Errorf("%s: %s.%s: only cmd ends the process", p.at(n), x.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// TestNoPanicsAndNoInit: an error has a way back to the user, and work done before
// main is paid for by every command.
func TestNoPanicsAndNoInit(t *testing.T) {
	for _, p := range parse(t) {
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" {
						t.Errorf("%s: panic: return an error", p.at(n))
					}
				case *ast.FuncDecl:
					if n.Recv == nil && n.Name.Name == "init" {
						t.Errorf("%s: init: work is done by the function that needs it", p.at(n))
					}
				}
				return true
			})
		}
	}
}

// TestDocumented: every package says its job and what it refuses, every exported
// name says what it is.
func TestDocumented(t *testing.T) {
	for _, p := range parse(t) {
		var doc string
		for _, f := range p.files {
			doc += f.Doc.Text()
			for _, d := range f.Decls {
				p.undocumented(d, func(n ast.Node, name string) { t.Errorf("%s: %s is exported and has no comment", p.at(n), name) })
			}
		}
		if p.Name != "main" && !strings.HasPrefix(doc, "Package "+p.Name+" ") {
			t.Errorf("%s: the package comment begins with `Package %s`, says the job, and what it refuses", p.short(), p.Name)
		}
		if p.Name == "main" && doc == "" {
			t.Errorf("%s: the command has no comment", p.short())
		}
	}
}

// undocumented reports exported names without a comment of their own or, for
// constants and variables, of their group.
func (p parsed) undocumented(d ast.Decl, report func(ast.Node, string)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc.Text() == "" && exportedReceiver(d) {
			report(d, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc.Text() == "" && s.Doc.Text() == "" {
					report(s, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() && d.Doc.Text() == "" && s.Doc.Text() == "" && s.Comment.Text() == "" {
						report(s, name.Name)
					}
				}
			}
		}
	}
}

// exportedReceiver says whether a function is seen from outside: a method is if
// its type is.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}
