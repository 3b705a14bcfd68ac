package files

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// suiteCase is one case of another project's tests: its texts by their field.
type suiteCase struct {
	name  string
	texts map[string]string
	flags map[string]string
}

// suite reads the cases that stand as literals in the tests of a module in go.mod.
func suite(t *testing.T, module, pattern string) []suiteCase {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(pattern)))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no %s: %v", module, pattern, err)
	}
	var out []suiteCase
	seen := map[string]int{}
	for _, file := range files {
		syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			c := suiteCase{texts: map[string]string{}, flags: map[string]string{}}
			c.read(lit)
			if c.name == "" {
				return true
			}
			if seen[c.name]++; seen[c.name] > 1 {
				c.name += fmt.Sprintf(" #%d", seen[c.name])
			}
			out = append(out, c)
			return false
		})
	}
	return out
}

// read takes the fields of a case, and of the literals in it.
func (c *suiteCase) read(lit *ast.CompositeLit) {
	for _, e := range lit.Elts {
		kv, _ := e.(*ast.KeyValueExpr)
		if kv == nil {
			continue
		}
		key, _ := kv.Key.(*ast.Ident)
		if key == nil {
			continue
		}
		value := kv.Value
		if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 { // []byte(`…`)
			value = call.Args[0]
		}
		switch v := value.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(v.Value)
			if name := strings.ToLower(key.Name); err == nil && name == "description" {
				c.name = text
			} else if err == nil {
				c.texts[name] = text
			}
		case *ast.Ident:
			c.flags[strings.ToLower(key.Name)] = v.Name
		case *ast.SelectorExpr:
			c.flags[strings.ToLower(key.Name)] = v.Sel.Name
		case *ast.CompositeLit:
			c.read(v)
		}
	}
}

// differences are the cases of a suite whose result is another one here, with the reason.
type differences map[string]string

// hold compares a result with a case's, by value: a difference has a reason, and a reason
// a difference.
func (d differences) hold(t *testing.T, c suiteCase, want, got string, err error) (equal bool) {
	t.Helper()
	a, aErr := yamldoc.Parse([]byte(want))
	b, bErr := yamldoc.Parse([]byte(got))
	if aErr != nil {
		t.Fatalf("%s: %v", c.name, aErr)
	}
	equal = err == nil && bErr == nil && slices.EqualFunc(values(a), values(b), merge.Identical)
	switch reason := d[c.name]; {
	case !equal && reason == "":
		t.Errorf("%s: %v\n%s", c.name, err, cmp.Diff(want, got))
	case equal && reason != "":
		t.Errorf("%s: is equal, and has the reason %q", c.name, reason)
	}
	return equal
}

func values(f *yamldoc.File) []any {
	var out []any
	for _, d := range f.Documents() {
		if !d.Empty() {
			out = append(out, d.Value())
		}
	}
	return out
}

// mergedTexts merges texts; original "" merges two.
func mergedTexts(j Job, updated, original, dest string) (string, error) {
	var errs [3]error
	j.Updated, errs[0] = Parse("updated", []byte(updated))
	j.Dest, errs[1] = Parse("dest", []byte(dest))
	if original != "" {
		j.Original, errs[2] = Parse("original", []byte(original))
	}
	for _, err := range errs {
		if err != nil {
			return "", err
		}
	}
	out, err := Merge(j)
	if err != nil {
		return "", err
	}
	return string(j.Dest.Stream(out.Files)), nil
}

const (
	orderOfSource = "order: new entries stand where the source has them"
)

var differs2 = differences{
	"merge Element -- add Element first":                  orderOfSource,
	"merge Element -- add Element fourth":                 "order: --prepend puts new entries before all others",
	"merge_primitive_finalizers":                          "order: a set has none",
	"merge_primitive_items":                               "order: a set has none",
	"merge k8s deployment containers -- $patch directive": "order: new entries are put last without --prepend",
}

// TestMerge2Suite plays kustomize's own cases of merges of two.
func TestMerge2Suite(t *testing.T) {
	same, all := 0, 0
	for _, c := range suite(t, "sigs.k8s.io/kustomize/kyaml", "yaml/merge2/*_test.go") {
		job := Job{Policy: TwoWay, Infer: c.flags["infer"] != "false", Schema: builtin}
		job.Policy.Prepend = c.flags["listincreasedirection"] == "MergeOptionsListPrepend"
		got, err := mergedTexts(job, c.texts["source"], "", c.texts["dest"])
		if all++; differs2.hold(t, c, c.texts["expected"], got, err) {
			same++
		}
	}
	t.Logf("%d of %d cases are equal", same, all)
}

const (
	wholeBranch = "what changed upstream in a branch that dest does not have is added with its entry whole: a container without an image is none"
	otherObject = "objects are identified by group, kind, namespace and name: these are two"
)

var differs3 = differences{
	"Add a field to the element, element missing from dest":     wholeBranch,
	"Update a field on the elem, element missing from the dest": wholeBranch,
	"Ignore an element":                              "null in updated clears the field under merge3; --policy=diff3 keeps it",
	"Retain local protocol":                          "the protocol is a part of a port's key",
	"Add keep an omitted field":                      otherObject,
	"Remove annotations field":                       otherObject,
	"Remove annotations field, but keep in dest":     otherObject,
	"Remove annotations, but they are already empty": "an empty map of which nothing is left is removed",
	"Add an updated field":                           otherObject,
	"Add keep an omitted field #2":                   otherObject,
	"Change an updated field #2":                     otherObject,
	"Explicitly clear a field #2":                    "what has no kind any more is another object, and changed in dest it stays",
	"Implicitly clear a changed field #2":            otherObject,
}

// TestMerge3Suite plays kustomize's own cases of merges of three.
func TestMerge3Suite(t *testing.T) {
	same, all := 0, 0
	policy, err := merge.PolicyNamed("merge3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range suite(t, "sigs.k8s.io/kustomize/kyaml", "yaml/merge3/*_test.go") {
		got, err := mergedTexts(Job{Policy: policy, Infer: c.flags["infer"] != "false", Schema: builtin}, c.texts["update"], c.texts["origin"], c.texts["local"])
		if all++; differs3.hold(t, c, c.texts["expected"], got, err) {
			same++
		}
	}
	t.Logf("%d of %d cases are equal", same, all)
}

// mergeItem is the type of apimachinery's cases (MergeItem in its patch_test.go).
func mergeItem() *merge.Type {
	text := &merge.Type{Kind: merge.Scalar}
	item := &merge.Type{Kind: merge.Object}
	texts := &merge.Type{Kind: merge.Map, Elem: text}
	keyed := &merge.Type{Kind: merge.Keyed, Elem: item, Keys: []merge.Key{{Name: "name"}}}
	one := &merge.Type{Kind: merge.List, Elem: item}
	set := &merge.Type{Kind: merge.Set, Elem: text}
	item.Fields = map[string]merge.Field{
		"name": {Type: text}, "value": {Type: text}, "other": {Type: text},
		"mergingList": {Type: keyed}, "nonMergingList": {Type: one},
		"mergingIntList": {Type: set}, "nonMergingIntList": {Type: &merge.Type{Kind: merge.List}},
		"mergeItemPtr": {Type: keyed}, "simpleMap": {Type: texts}, "replacingItem": {Type: &merge.Type{Kind: merge.Object, Atomic: true, Open: true}},
		"retainKeysMap": {Type: item}, "retainKeysMergingList": {Type: keyed},
	}
	return item
}

const (
	notChecked = "what apimachinery refuses is read: the order of a patch's own entries need not be that of $setElementOrder"
	newEntry   = "order: a new entry stands behind the one that it follows in $setElementOrder, before what only dest has"
	mergedAll  = "what the API server replaces by patchStrategy: replace is merged by its fields, as in kustomize"
)

var differsPatch = differences{
	"should check if order in $setElementOrder and patch list match (two ways)":                     notChecked,
	"$setElementOrder contains item that is not present in the int list to be merged #2 (two ways)": notChecked,
	"missing merge key should error out (two ways)":                                                 "entries without a key are legal",
	"add map and delete map from merging list (three ways)":                                         newEntry,
	"add map and delete map from merging list with conflict (three ways)":                           newEntry,
	"replace RawExtension field and merge list (two ways)":                                          mergedAll,
	"replace RawExtension field, rest unchanched (two ways)":                                        mergedAll,
	"replace RawExtension field, rest unchanched (three ways)":                                      mergedAll,
	"replace RawExtension field and merge list (three ways)":                                        mergedAll,
}

// TestStrategicPatchSuite plays the patches of apimachinery's own cases: onto original
// they give modified, and onto current the result.
func TestStrategicPatchSuite(t *testing.T) {
	same, all := 0, 0
	item := mergeItem()
	job := Job{Policy: TwoWay, Schema: func(string, string, string) *merge.Type { return item }}
	head := func(text string) string {
		if strings.TrimSpace(text) == "{}" {
			text = ""
		}
		return "kind: MergeItem\n" + text
	}
	for _, c := range suite(t, "k8s.io/apimachinery", "pkg/util/strategicpatch/patch_test.go") {
		twoWay := c.texts["modified"]
		if c.texts["twowayresult"] != "" {
			twoWay = c.texts["twowayresult"]
		}
		for _, side := range []struct{ what, dest, patch, want string }{
			{" (two ways)", c.texts["original"], c.texts["twoway"], twoWay},
			{" (three ways)", c.texts["current"], c.texts["threeway"], c.texts["result"]},
		} {
			if strings.TrimSpace(side.patch) == "" || side.dest == "" {
				continue
			}
			got, err := mergedTexts(job, head(side.patch), "", head(side.dest))
			one := c
			one.name += side.what
			if all++; differsPatch.hold(t, one, head(side.want), got, err) {
				same++
			}
		}
	}
	t.Logf("%d of %d patches are equal", same, all)
}
