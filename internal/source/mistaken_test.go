package source

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsNoObject: what is likely to be given by mistake is named, with the way out.
func TestWhatIsNoObject(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{"base/kustomization.yaml", "resources: [a.yaml]\n", "give its folder with -k"},
		{"x.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n", "give its folder with -k"},
		{"x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n", "helm template CHART"},
		{"values.yaml", "replicaCount: 2\nimage: {tag: x}\n", "values.yaml: line 1: apiVersion: is not set, and kind neither: it is no Kubernetes object; values of a Helm chart are given to its templates"},
		{"list.yaml", "apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n", "list.yaml: line 4: apiVersion: is not set; every object begins with apiVersion and kind"},
		{"page.yaml", "\n<!DOCTYPE html>\n<html><title>a: b</title>\n", `page.yaml: is a web page, not a manifest: on GitHub, take the address of "Raw"`},
		{"page.yaml", "<html lang=\"en\">\n", "is a web page"},
		{"config", "apiVersion: v1\nkind: Config\nclusters: []\n", "config: line 1: is a kubeconfig, not an object: give it with --kubeconfig"},
		{"app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 0.1.0\n", "is of a Helm chart, not an object: render the chart (helm template CHART | kubectl merge -f -)"},
		{"x.yaml", "apiversion: v1\nkind: ConfigMap\nmetadata: {name: one}\n", "line 1: configmap/one: apiversion: unknown field; did you mean apiVersion?"},
		{"sep.yaml", named("one") + "--\n" + named("two"), "sep.yaml: line 4: documents are separated by three dashes: ---"},

		{"sep.yaml", named("one") + "----\n" + named("two"), "sep.yaml: line 4: documents are separated by three dashes: ---"},
		{"dash.yaml", "a:\n  b:\n  -name: x\n    image: y\n", "dash.yaml: line 3: a dash that begins an entry of a list is followed by a space"},
		{"space.yaml", "a:\n  b: 1\n \u00a0c: 2\n  d: 3\n", "space.yaml: line 3: begins with a non-breaking space (U+00A0), which indents nothing: write spaces"},
		{"block.yaml", "a:\n  b: |\n  text\n  c: 2\n", "block.yaml: line 2: the text that follows | or > has to be indented deeper than its key"},
		{"quote.yaml", "a: \"x\nb: 1\nc: \"y\"\n", `quote.yaml: line 3: unexpected text behind a value; the quote that line 1 opens ends here: close it where it is to end`},
		{"nosep.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n\napiVersion: v1\nkind: ConfigMap\n", `nosep.yaml: line 5: apiVersion: key "apiVersion" is given twice: first on line 1; is a --- missing before line 5? Otherwise keep one of them`},
		{"nosep.yaml", "kind: ConfigMap\nmetadata: {name: one}\nkind: ConfigMap\n", `is a --- missing before line 3?`},
		{"a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\n", `key "name" is given twice: first on line 3; keep one of them`},
		{"sep.yaml", named("one") + "---\n" + named("two") + "---apiVersion: v1\nkind: ConfigMap\n", "sep.yaml: document 2, line 8: --- stands on a line of its own: begin a new line after it"},
		{"sep.yaml", "---apiVersion: v1\nkind: ConfigMap\n", "apiVersion: is not set"},

		{"j.json", "// c\n{apiVersion: 'v1', kind: 'ConfigMap', data: {a: '1',}, }\n", "j.json: line 1: JSON has no comments: remove what // or /* begins"},
		{"j.json", "{\"a\": \"http://x\",\n  // c\n  \"b\": 1}\n", "j.json: line 2: JSON has no comments"},
		{"j.json", "/* c */ {\"apiVersion\": \"v1\"}\n", "j.json: line 1: JSON has no comments"},
		{"j.json", "{\"a\": \"// c\"\n", "j.json: line 1: a [ or { is not closed"},
	} {
		if _, err := Parse(tt.file, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.file, err, tt.want)
		}
	}
}

// TestTemplateIsNotEdited: what is rendered from a template cannot be written back into it.
func TestTemplateIsNotEdited(t *testing.T) {
	file := filepath.Join(write(t, map[string]string{"tpl.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n"}), "tpl.yaml")
	_, err := Read(t.Context(), Inputs{Files: []string{file}, Edited: true})
	if err == nil || !strings.HasSuffix(err.Error(), "no value of live can be written into it: edit the chart's values or templates") {
		t.Errorf("got %v", err)
	}
}
