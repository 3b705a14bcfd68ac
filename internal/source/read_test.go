package source

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
)

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func named(name string) string { return fmt.Sprintf(configMap, name) }

func names(objects []object.Object) []string {
	var all []string
	for _, o := range objects {
		all = append(all, o.Name())
	}
	return all
}

func TestRead(t *testing.T) {
	dir := write(t, map[string]string{
		"a.yaml":                  named("a1") + "---\n" + named("a2"),
		"b.json":                  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","labels":{"tier":"web"}}}`,
		"notes.txt":               "not: [an object",
		"sub/c.yml":               named("c"),
		"list.yaml":               "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: p}}\n- {apiVersion: v1, kind: Pod, metadata: {name: q}}\n",
		"typed.yaml":              "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: r}\n",
		"kust/kustomization.yaml": "resources: [res.yaml]\nnamePrefix: pre-\n",
		"kust/res.yaml":           named("k"),
		"empty/below/x.yaml":      named("x"),
		"mounted/..2026/m.yaml":   named("m"),
	})
	for link, to := range map[string]string{"linked": "sub", "dangling": "nowhere", "mounted/..data": "..2026", "mounted/m.yaml": filepath.Join("..data", "m.yaml")} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/u.yaml" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, named("u"))
	}))
	defer server.Close()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, tt := range []struct {
		reason string
		in     Inputs
		want   []string
		err    string
	}{
		{"several documents", Inputs{Files: []string{in("a.yaml")}}, []string{"a1", "a2"}, ""},
		{"files in the order they are given", Inputs{Files: []string{in("b.json"), in("a.yaml")}}, []string{"b", "a1", "a2"}, ""},
		{"a folder's own files, by name, others left out", Inputs{Files: []string{dir}}, []string{"a1", "a2", "b", "p", "q", "r"}, ""},
		{"-R goes below", Inputs{Files: []string{in("sub")}, Recursive: true}, []string{"c"}, ""},
		{"a pattern", Inputs{Files: []string{in("*.json")}}, []string{"b"}, ""},
		{"standard input", Inputs{Files: []string{"-"}, Stdin: strings.NewReader(named("s"))}, []string{"s"}, ""},
		{"a link to a folder", Inputs{Files: []string{in("linked")}}, []string{"c"}, ""},
		{"a ConfigMap as the kubelet mounts it", Inputs{Files: []string{in("mounted")}, Recursive: true}, []string{"m"}, ""},
		{"a URL", Inputs{Files: []string{server.URL + "/u.yaml"}}, []string{"u"}, ""},
		{"a list is its items", Inputs{Files: []string{in("list.yaml")}}, []string{"p", "q"}, ""},
		{"a list of one kind says it once", Inputs{Files: []string{in("typed.yaml")}}, []string{"r"}, ""},
		{"a kustomization", Inputs{Kustomize: in("kust")}, []string{"pre-k"}, ""},
		{"a selector", Inputs{Files: []string{dir}, Selector: "tier=web"}, []string{"b"}, ""},
		{"a missing file", Inputs{Files: []string{in("nope.yaml"), in("a.yaml")}}, []string{"a1", "a2"}, `nope.yaml" does not exist`},
		{"a link that leads nowhere", Inputs{Files: []string{in("dangling")}}, nil, "dangling: is a link to what does not exist"},
		{"a pattern that fits one", Inputs{Files: []string{in("dangl*")}}, nil, "dangling: is a link to what does not exist"},
		{"a file with a slash behind it", Inputs{Files: []string{in("a.yaml") + "/"}}, nil, "a.yaml is a file: leave out the slash behind it"},
		{"a named file is read whatever it is called", Inputs{Files: []string{in("notes.txt")}}, nil, "is not closed"},
		{"a folder without files of its own", Inputs{Files: []string{in("empty")}}, nil, "-R reads the folders below it too"},
		{"a URL with a password, which no error shows", Inputs{Files: []string{strings.Replace(server.URL, "//", "//me:hunter2@", 1) + "/x?token=hunter3"}}, nil, strings.TrimSuffix(server.URL, "/") + "/x?…: cannot be read: server answered 404 Not Found"},
		{"a URL that no server answers, with a password", Inputs{Files: []string{"http://me:hunter2@127.0.0.1:1/x?token=hunter3"}}, nil, "http://127.0.0.1:1/x?…: cannot be read: dial tcp"},
		{"a URL that is not there", Inputs{Files: []string{server.URL + "/x"}}, nil, "404 Not Found"},
		{"standard input twice", Inputs{Files: []string{"-", "-"}, Stdin: strings.NewReader(named("s"))}, []string{"s"}, "once only"},
		{"a bad selector", Inputs{Files: []string{dir}, Selector: "a=b=c"}, nil, "--selector"},
	} {
		got, err := Read(t.Context(), tt.in)
		if k := tt.in.Kustomize; k != "" && got[0].Origin.String() != k { // it has been built: it is in no line
			t.Errorf("%s: is at %s", tt.reason, got[0].Origin)
		}
		if d := cmp.Diff(tt.want, names(got)); d != "" {
			t.Errorf("%s:\n%s", tt.reason, d)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ reason, in, want string }{
		{"no apiVersion", "kind: Pod\nmetadata: {name: a}\n", "f: line 1: pod/a: apiVersion: is not set"},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}\n", "kind: is not set"},
		{"a kind that is no string", "apiVersion: v1\nkind: 5\nmetadata: {name: a}\n", "kind: is the number 5"},
		{"no name", "apiVersion: v1\nkind: Pod\n", "metadata.name: is not set"},
		{"a name that YAML reads as a number", "apiVersion: v1\nkind: Pod\nmetadata: {name: 123}\n", "metadata.name: is the number 123, not a string; quote it"},
		{"generateName", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n", "cannot use generate name"},
		{"a label that YAML reads as a boolean", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {on: yes}}\n", `metadata.labels["true"]: is the boolean true`},
		{"a scalar", "just text\n", "is a string, not an object"},
		{"a list", "- a\n", "is a list, not an object"},
		{"an apiVersion of three parts", "apiVersion: a/b/c\nkind: Pod\nmetadata: {name: a}\n", `"a/b/c" is not group/version`},
		{"an item of a list, with its line", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: p}}\n- {kind: Pod}\n", "f: line 5: apiVersion: is not set"},
	} {
		_, err := Parse("f", []byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.want)
		}
	}
	if _, err := Parse("f", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a, generateName: a-}\n")); err != nil {
		t.Errorf("a saved object has both names: %v", err)
	}
}

func TestDistinct(t *testing.T) {
	objects, err := Parse("f", []byte(named("a")+"---\n"+named("b")+"---\n"+named("a")+"---\n"+named("a")+"data: {k: v}\n"))
	if err != nil {
		t.Fatal(err)
	}
	self := func(o object.Object) object.Object { return o }
	if got, err := Distinct(objects[:3], self); err != nil || len(got) != 2 || got[0].Name() != "a" || got[1].Name() != "b" {
		t.Errorf("the same to the letter is one object: %v, %v", got, err)
	}
	packed := []object.Object{objects[0].Packed(), objects[2].Packed(), objects[0]}
	if got, err := Distinct(packed, self); err != nil || len(got) != 1 {
		t.Errorf("packed or not: %v, %v", got, err)
	}
	const want = "f: document 4, line 13: configmap/a: is the same object as at f: document 1, line 1, with other content; keep one of them"
	if _, err = Distinct(objects, self); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestBuildHidesSecrets: an error of kustomize's has no value of a Secret, in whatever file that is.
func TestBuildHidesSecrets(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {pw: "
	const split = "replacements: [{source: {kind: Secret, name: s, fieldPath: stringData.pw, options: {delimiter: ':', index: 1}}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k]}]}]\n"
	for name, files := range map[string]map[string]string{
		"split":    {"kustomization.yaml": "resources: [sub/s.yaml]\n" + split, "sub/s.yaml": secret + canary + "}\n"},
		"patched":  {"kustomization.yaml": "resources: [s.yaml]\npatches: [{path: sub/p.yaml}]\n" + split, "s.yaml": secret + "x}\n", "sub/p.yaml": secret + canary + "}\n"},
		"alias":    {"kustomization.yaml": "resources: [sub/s.yaml]\n", "sub/s.yaml": secret + "*" + canary + "}\n"},
		"template": {"kustomization.yaml": "resources: [sub/s.yaml]\n", "sub/s.yaml": secret + "{{ " + canary + " }}}\n"},
		"tag":      {"kustomization.yaml": "resources: [sub/s.yaml]\n", "sub/s.yaml": secret + "!!int " + canary + "}\n"},
		"below":    {"kustomization.yaml": "resources: [base]\n" + split, "base/kustomization.yaml": "resources: [sub/s.yaml]\n", "base/sub/s.yaml": secret + canary + "}\n"},
	} {
		_, err := Read(t.Context(), Inputs{Kustomize: write(t, files), Values: &redact.Values{}})
		if err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), redact.Blanked) && name != "template" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChain: kustomize reports an entry that is not there, or cannot be read, with all that it has tried.
func TestChain(t *testing.T) {
	dir := write(t, map[string]string{
		"one/kustomization.yaml": "resources: [gone.yaml]\n", "over/kustomization.yaml": "resources: [../one]\n",
		"patch/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: gone.yaml}]\n", "patch/a.yaml": named("a"),
		"broken/kustomization.yaml": "resources: [a.yaml]\n", "broken/a.yaml": "apiVersion: v1\nkind: {\n",
		"wrong/kustomization.yaml": "# c\nresource: [a.yaml]\n", "overwrong/kustomization.yaml": "resources: [../wrong]\n", "foo/kustomization.yaml": "secretGenerator:\n- name: s\n  foo: x\n",
		"nobody/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n", "nobody/a.yaml": named("a"), "nobody/p.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w.be}\n",
		"nobodyns/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n", "nobodyns/a.yaml": named("a"), "nobodyns/p.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop}\n",
	})
	for folder, text := range map[string]string{
		"aimless":     "resources: [a.yaml]\npatches:\n- path: p.yaml\n",
		"inline":      "resources: [a.yaml]\npatches:\n- {path: q.yaml}\n- patch: |\n    - {op: replace, path: /data/k, value: hunter2}\n",
		"nopath":      "resources: [a.yaml]\npatches:\n- {path: q.yaml}\n- {path: p.yaml, target: {kind: ConfigMap}}\n",
		"nopathtwice": "resources: [a.yaml]\npatches:\n- {path: p.yaml, target: {kind: ConfigMap}}\n- {path: p.yaml, target: {kind: ConfigMap, name: a}}\n",
		"unread":      "resources: [a.yaml\n",
		"unparsed":    "resources: [a.yaml]\npatches: [{path: broken.yaml}]\n",
		"both":        "resources: [a.yaml]\npatches: [{path: p.yaml, patch: x}]\n",
		"op":          "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - {op: replce, path: /data/k, value: hunter2}\n",
		"tested":      "resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - {op: test, path: /kind, value: hunter2}\n",
		"twice":       "resources: [a.yaml, a.yaml]\n",
		"round":       "resources: [../round]\n",
		"literal":     "secretGenerator: [{name: s, literals: [hunter2]}]\n",
		"typed":       "namespace: 5\nresources: [a.yaml]\n",
		"sourceless":  "resources: [a.yaml]\nreplacements: [{source: {kind: Pod, name: x}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k]}]}]\n",
		"nofield":     "resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, name: a, fieldPath: data.x}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k]}]}]\n",
		"notarget":    "resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, name: a}, targets: [{select: {kind: ConfigMap}, fieldPaths: [spec.x.y]}]}]\n",
		"nosource":    "resources: [a.yaml]\nreplacements: [{targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k]}]}]\n",
		"noselect":    "resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, name: a}, targets: [{fieldPaths: [data.k]}]}]\n",
		"replaced":    "resources: [a.yaml]\nreplacements: [{path: r.yaml}]\n",
		"image":       "resources: [a.yaml]\nimages: [nginx]\n",
		"key":         "configMapGenerator: [{name: s, literals: [a=1, a=2]}]\n",
		"behavior":    "configMapGenerator: [{name: s, behavior: merge, literals: [a=1]}]\n",
		"var":         "resources: [a.yaml]\nvars: [{name: X, objref: {kind: Service, name: s, apiVersion: v1}}]\n",
		"transformer": "resources: [a.yaml]\ntransformers: [t.yaml]\n",
		"flow":        "resources: [a.yaml]\nimages: [{nam: x}]\n",
		"same":        "configMapGenerator:\n- {name: g, literals: [a=b]}\n- {name: g, literals: [a=c]}\n",
		"keyed":       "resources: [keyed.yaml]\n",
		"through":     "resources: [a.yaml]\nreplacements: [{source: {kind: ConfigMap, name: a, fieldPath: kind.x}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.k]}]}]\n",
		"latin":       "secretGenerator: [{name: s, envs: [latin.env]}]\n",
	} {
		files := map[string]string{"kustomization.yaml": text, "a.yaml": named("a"), "q.yaml": named("a") + "data: {k: v}\n", "broken.yaml": "a: [\n", "p.yaml": "- {op: replace, path: /data/gone/k, value: hunter2}\n",
			"keyed.yaml": named("a") + "data:\n  k: a\n  k: b\n", "latin.env": "PW=gr\xfcn-hunter2\n"}
		for name, content := range files {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	const aim = "is a JSON patch without a target: name the objects that it is for: target: {kind: KIND, name: NAME}"
	for folder, want := range map[string]string{
		"unparsed":    "patches: broken.yaml: line 1: a [ or { is not closed; quote a text that begins with one",
		"op":          "patches: an entry has the op replce: write add, remove, replace, move, copy or test",
		"tested":      "patches: the test of /kind fails: the resource has another value there",
		"both":        "patches: an entry has both patch and path, or neither: give one of them",
		"twice":       "resources: a.yaml: has a ConfigMap a, as another entry has: take one of them out",
		"round":       "resources: ../round: the kustomizations build each other: take the entry out",
		"literal":     "literals of a generator: an entry is not written as KEY=VALUE: correct it",
		"typed":       "kustomization.yaml: namespace: is a number, where the type is string: write it in quotes",
		"sourceless":  "replacements: no resource is a Pod x, which is a source: correct the name, or add the resource",
		"nofield":     "replacements: the source ConfigMap a has no data.x: correct its fieldPath, or add the field",
		"notarget":    "replacements: a target has no spec.x.y: correct its fieldPaths, or give it options: {create: true}",
		"nosource":    "replacements: an entry lacks source or targets: add it",
		"noselect":    "replacements: an entry of targets lacks select: add it",
		"replaced":    "replacements: r.yaml: there is no such file: add it, or take the entry out",
		"image":       "kustomization.yaml: images: must be a mapping, or a list of mappings: write its fields, as in name: web",
		"key":         "a generator: s has the key a twice: keep one of them",
		"behavior":    "a generator with a behavior: no resource is a ConfigMap s: correct the name, or take behavior out",
		"var":         "vars: X: no resource is the Service that it names: correct its objref, or add the resource",
		"transformer": "transformers, generators or validators: t.yaml: there is no such file: add it, or take the entry out",
		"flow":        `kustomization.yaml: line 2: unknown field "nam": take it out`,
		"same":        "generators: two of them make the ConfigMap g, or a resource is it: rename one, or give the later one behavior: merge",
		"keyed":       filepath.Join(dir, "keyed", "keyed.yaml") + `: line 6: data.k: key "k" is given twice: first on line 5; keep one of them`,
		"through":     "replacements: the fieldPath of a source leads into a single value: correct it",
		"latin":       "a generator reads latin.env: a line is not UTF-8: save the file as UTF-8",
	} {
		named := filepath.Join(dir, folder)
		if _, err := Read(t.Context(), Inputs{Kustomize: named}); err == nil || err.Error() != "kustomization "+named+": "+want {
			t.Errorf("%s: got %v, want %s", folder, err, want)
		}
	}
	const nobody = ", which a patch is for: correct the name in the patch, or add the resource"
	for folder, want := range map[string]string{
		"wrong":       `kustomization.yaml: line 2: unknown field "resource"; did you mean resources?`,
		"overwrong":   filepath.Join(dir, "wrong") + `: kustomization.yaml: line 2: unknown field "resource"; did you mean resources?`,
		"foo":         `kustomization.yaml: line 3: unknown field "foo": take it out`,
		"nobody":      "patches: p.yaml: no resource is a Deployment w.be" + nobody,
		"nobodyns":    "patches: p.yaml: no resource is a ConfigMap b" + nobody,
		"one":         "resources: gone.yaml: there is no such file: add it, or take the entry out",
		"over":        filepath.Join(dir, "one") + ": resources: gone.yaml: there is no such file: add it, or take the entry out",
		"patch":       "patches: gone.yaml: there is no such file: add it, or take the entry out",
		"aimless":     "patches: p.yaml: " + aim,
		"inline":      "kustomization.yaml: patches[1]: " + aim,
		"nopath":      "patches: p.yaml: replace /data/gone/k: the resource has no such path: correct it in the patch",
		"nopathtwice": "patches: replace /data/gone/k: the resource has no such path: correct it in the patch",
		"unread":      "kustomization.yaml: line 1: a [ or { is not closed; quote a text that begins with one",
		"broken":      "resources: a.yaml: line 2: did not find expected node content",
	} {
		named := filepath.Join(dir, folder)
		if _, err := Read(t.Context(), Inputs{Kustomize: named}); err == nil || err.Error() != "kustomization "+named+": "+want {
			t.Errorf("%s: got %v, want %s", folder, err, want)
		}
	}
	file := filepath.Join(dir, "patch", "a.yaml")
	want := "-k " + file + ": is a file: give the folder of its kustomization with -k, or a manifest with -f"
	if _, err := Read(t.Context(), Inputs{Kustomize: file}); err == nil || err.Error() != want {
		t.Errorf("a file: got %v, want %s", err, want)
	}
}

func TestSavedFind(t *testing.T) {
	dir := write(t, map[string]string{"live.yaml": "apiVersion: v1\nkind: List\nitems:\n" +
		"- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: prod}}\n" +
		"- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: test}}\n" +
		"- {apiVersion: apps/v1, kind: Deployment, metadata: {name: one, namespace: prod}}\n" +
		"- {apiVersion: v1, kind: ConfigMap, metadata: {name: bare}}\n"})
	saved, err := ReadSaved(t.Context(), Inputs{Files: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	named := func(apiVersion, kind, namespace, name string) object.Object {
		return object.Object{Value: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace}}}
	}
	for _, tt := range []struct {
		reason string
		local  object.Object
		found  bool
		err    string
	}{
		{"the same namespace", named("apps/v1", "Deployment", "prod", "web"), true, ""},
		{"the version does not count", named("apps/v1beta2", "Deployment", "prod", "web"), true, ""},
		{"the group does", named("extensions/v1beta1", "Deployment", "prod", "web"), false, ""},
		{"another namespace", named("apps/v1", "Deployment", "dev", "web"), false, ""},
		{"local without a namespace, one saved", named("apps/v1", "Deployment", "", "one"), true, ""},
		{"local without a namespace, two saved", named("apps/v1", "Deployment", "", "web"), false, "name one with -n"},
		{"saved without a namespace", named("v1", "ConfigMap", "prod", "bare"), true, ""},
	} {
		got, err := saved.Find(tt.local)
		if (got != nil) != tt.found || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %v, %v", tt.reason, got, err)
		}
	}
}

func TestInNamespaceLeavesTheObjectAlone(t *testing.T) {
	objects, err := Parse("f", []byte(named("a")))
	if err != nil {
		t.Fatal(err)
	}
	moved := objects[0].InNamespace("prod")
	if objects[0].Namespace() != "" || moved.Namespace() != "prod" || moved.InNamespace("").Namespace() != "" {
		t.Errorf("was %q, moved %q", objects[0].Namespace(), moved.Namespace())
	}
}
