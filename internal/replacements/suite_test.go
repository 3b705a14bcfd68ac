package replacements

import (
	"encoding/json"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
)

// differs are the cases of kustomize's own suite that have another outcome here, with the
// reason.
var differs = map[string]string{
	"integer source -> integer creation":          "a ConfigMap's values are strings: kustomize's result is refused by the server",
	"numerical string source -> integer creation": "there is no Pod in apps/v1, and where no schema knows the type the value stays a string",
	"using a previous ID":                         "previous names are kustomize's own record within a build",
}

// TestSuite plays kustomize's own cases of replacements: with the same result or, where
// kustomize refuses, an error.
func TestSuite(t *testing.T) {
	cases := suite(t)
	same := 0
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		got, err := run(t, map[string][]byte{"replacements.yaml": []byte(c["replacements"]), "input.yaml": []byte(c["input"])})
		equal := (err != nil) == (c["expectedErr"] != "")
		if equal && err == nil {
			equal = valuesOf(t, got) == valuesOf(t, c["expected"])
		}
		if equal {
			same++
		}
		switch reason := differs[name]; {
		case !equal && reason == "":
			t.Errorf("%s: %v\n%s\nkustomize has %q\n%s", name, err, got, c["expectedErr"], c["expected"])
		case equal && reason != "":
			t.Errorf("%s: is equal, and has the reason %q", name, reason)
		}
	}
	t.Logf("%d of %d cases are equal", same, len(cases))
	if len(cases) < 70 {
		t.Errorf("only %d cases", len(cases))
	}
}

// suite reads the cases that stand as literals in kustomize's test: their texts by name of
// the case and field.
func suite(t *testing.T) map[string]map[string]string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kustomize/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(strings.TrimSpace(string(dir)), "filters", "replacement", "replacement_test.go")
	syntax, err := goparser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	ast.Inspect(syntax, func(n ast.Node) bool {
		kv, _ := n.(*ast.KeyValueExpr)
		if kv == nil {
			return true
		}
		name, ok := text(kv.Key)
		fields, isCase := kv.Value.(*ast.CompositeLit)
		if !ok || !isCase {
			return true
		}
		c := map[string]string{}
		for _, e := range fields.Elts {
			if f, ok := e.(*ast.KeyValueExpr); ok {
				key, _ := f.Key.(*ast.Ident)
				if value, ok := text(f.Value); ok && key != nil {
					c[key.Name] = value
				}
			}
		}
		if c["replacements"] != "" {
			out[name] = c
		}
		return false
	})
	return out
}

// text is a string literal's.
func text(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

func valuesOf(t *testing.T, text string) string {
	t.Helper()
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, v := range values(f) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
		b.WriteByte('\n')
	}
	return b.String()
}
