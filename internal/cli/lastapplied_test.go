package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestViewLastApplied: the annotation is printed as it is, secrets masked; what has none is an
// error where it was named.
func TestViewLastApplied(t *testing.T) {
	const secret = `{"apiVersion":"v1","data":{"password":"aHVudGVyMg=="},"kind":"Secret","metadata":{"annotations":{},"name":"login","namespace":"shop"}}`
	a := func() *answers {
		return &answers{by: map[string][]string{
			"GET " + confPath: {servedConf()},
			"GET /api/v1/namespaces/shop/secrets/login":    {served("Secret", "login", secret, `{"password":"aHVudGVyMg=="}`)},
			"GET /api/v1/namespaces/shop/configmaps/bare":  {served("ConfigMap", "bare", "", `{"a":"1"}`)},
			"GET /api/v1/namespaces/shop/configmaps/other": {served("ConfigMap", "other", "{", `{"a":"1"}`)},
			"GET /api/v1/namespaces/shop/configmaps":       {listOf(servedConf(), served("ConfigMap", "bare", "", `{}`))},
		}}
	}
	against(t, a(), "view-last-applied", "cm/conf").exactly(t, "as YAML", ended{0,
		"apiVersion: v1\ndata:\n  a: \"1\"\n  gone: x\nkind: ConfigMap\nmetadata:\n  annotations: {}\n  name: conf\n  namespace: shop\n", ""})
	against(t, a(), "view-last-applied", "cm/conf", "-o", "json").is(t, "as JSON", 0, "{\n  \"apiVersion\": \"v1\",\n  \"data\": {\n    \"a\": \"1\",\n", "")
	against(t, a(), "view-last-applied", "secret/login").is(t, "a Secret", 0, "password: '***'", "note: secret/login: secret values are hidden: --show-secrets shows them\n")
	against(t, a(), "view-last-applied", "secret/login", "-o", "json").is(t, "a Secret as JSON", 0, `"password": "***"`, "secret values are hidden")
	against(t, a(), "view-last-applied", "secret/login", "--show-secrets").is(t, "a Secret that is to be shown", 0, "password: aHVudGVyMg==", "")
	against(t, a(), "view-last-applied", "cm/bare").is(t, "no annotation", failed, "", "error: configmap/bare: no last-applied-configuration annotation found on resource: bare: to adopt it, ")
	against(t, a(), "view-last-applied", "cm/other").is(t, "an annotation that is no JSON", failed, "", "error: configmap/other: ")
	against(t, a(), "view-last-applied", "cm", "--all").is(t, "all of a type", 0, "name: conf\n", "note: no last-applied-configuration annotation on configmap/bare\n")
	none := &answers{by: map[string][]string{"GET /api/v1/namespaces/shop/configmaps": {listOf(served("ConfigMap", "bare", "", `{}`))}}}
	against(t, none, "view-last-applied", "cm", "--all").is(t, "all of a type, none applied", failed, "", "found on any of 1 resources (configmap/bare)")
	against(t, a(), "view-last-applied", "cm/missing").is(t, "an object that is not there", failed, "", "error: configmap/missing: ")
	local, _ := files(t)
	against(t, a(), "view-last-applied", "-f", local, "cm/conf").is(t, "named twice", failed, "", "give one of -f and TYPE/NAME")
	if got := against(t, a(), "view-last-applied", "-f", local); got.code != 0 || !strings.Contains(got.out, "gone: x") {
		t.Errorf("of a file: %+v", got)
	}
}

// TestSetLastApplied: the annotation alone is written, and only where it changes; nothing is
// where one object of several has an error.
func TestSetLastApplied(t *testing.T) {
	local, _ := files(t)
	a := &answers{by: map[string][]string{"GET " + confPath: {servedConf()}}}
	against(t, a, "set-last-applied", "-f", local).exactly(t, "set", ended{0, "configmap/conf configured\n", ""})
	w := a.writes()
	if len(w) != 1 || !strings.HasPrefix(w[0], "PATCH "+confPath+" ") || strings.Contains(w[0], `"data":{`) || !strings.Contains(w[0], `"resourceVersion":"7"`) || !strings.Contains(w[0], applied) {
		t.Errorf("sent %q", w)
	}

	dry := &answers{by: a.by}
	against(t, dry, "set-last-applied", "-f", local, "--dry-run").is(t, "shown", 0, "data:\n  a: \"2\"\n", "configmap/conf configured (dry run)\n")
	against(t, dry, "set-last-applied", "-f", local, "-o", "diff").is(t, "as a diff", 0, "-  gone: x\n", "")
	if w := dry.writes(); len(w) > 0 {
		t.Errorf("a preview sent %q", w)
	}

	same := &answers{by: map[string][]string{"GET " + confPath: {served("ConfigMap", "conf", `{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"conf","namespace":"shop"}}`, `{"a":"2"}`)}}}
	against(t, same, "set-last-applied", "-f", local).exactly(t, "the same", ended{0, "set-last-applied conf: no changes required.\n", ""})
	if w := same.writes(); len(w) > 0 {
		t.Errorf("what is there already was sent: %q", w)
	}

	both := filepath.Join(t.TempDir(), "both.yaml")
	if err := os.WriteFile(both, []byte(localConf+"---\n"+strings.Replace(localConf, "conf", "bare", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := &answers{by: map[string][]string{"GET " + confPath: {servedConf()}, "GET /api/v1/namespaces/shop/configmaps/bare": {served("ConfigMap", "bare", "", `{}`)}}}
	against(t, bare, "set-last-applied", "-f", both).is(t, "one has no annotation", failed, "", "--create-annotation")
	if w := bare.writes(); len(w) > 0 {
		t.Errorf("with an error sent %q", w)
	}
	against(t, bare, "set-last-applied", "-f", both, "--create-annotation").is(t, "it is created", 0, "configmap/conf configured\nconfigmap/bare configured\n", "")
}

// TestDisown: a field is taken out of the annotation, and with -w of the file, whose comments stay.
func TestDisown(t *testing.T) {
	a := &answers{by: map[string][]string{"GET " + confPath: {servedConf()}}}
	against(t, a, "disown", "cm/conf", "data.a").is(t, "named", 0, "configmap/conf disowned\n", "")
	if w := a.writes(); len(w) != 1 || strings.Contains(w[0], `\"a\"`) || !strings.Contains(w[0], `\"gone\":\"x\"`) {
		t.Errorf("sent %q", w)
	}
	against(t, a, "disown", "cm/conf", "data.nothing").is(t, "a field that does not exist", failed, "", "data.nothing")

	file := filepath.Join(t.TempDir(), "conf.yaml")
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf} # the shop's\ndata:\n  a: \"1\" # one\n  gone: x\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &answers{by: map[string][]string{"GET " + confPath: {servedConf()}}}
	against(t, b, "disown", "-f", file, "-w", "data.a", "-o", "diff").is(t, "a preview of both", 0, "-  a: \"1\" # one\n", "note: "+file+": data.a of configmap/conf would be taken out\n")
	if now, err := os.ReadFile(file); err != nil || string(now) != text || len(b.writes()) > 0 {
		t.Errorf("a preview wrote: %s, %v, %q", now, err, b.writes())
	}
	against(t, b, "disown", "-f", file, "data.a").is(t, "not in the file", 0, "configmap/conf disowned\n", "conf.yaml: take it out there too, or let -w do it\n")
	against(t, b, "disown", "-f", file, "-w", "data.a").is(t, "in the file", 0, "configmap/conf disowned\n", "note: "+file+": data.a of configmap/conf taken out\n")
	if now, err := os.ReadFile(file); err != nil || string(now) != strings.Replace(text, "  a: \"1\" # one\n", "", 1) {
		t.Errorf("the file is\n%s%v", now, err)
	}
	refused := &answers{by: map[string][]string{"GET " + confPath: {servedConf()}, "PATCH " + confPath: {refusal(403, "Forbidden", "you shall not")}}}
	against(t, refused, "disown", "-f", file, "-w", "data.gone").is(t, "refused", failed, "", "you shall not")
	if now, err := os.ReadFile(file); err != nil || !strings.Contains(string(now), "gone: x") {
		t.Errorf("the file lost a field that is still in the annotation:\n%s%v", now, err)
	}
}

// TestEditLastApplied: what the editor saves becomes the annotation; what cannot be saved is
// kept in a file.
func TestEditLastApplied(t *testing.T) {
	for _, tt := range []struct {
		reason, script string
		args           []string
		code           int
		out, err       string
		sent           string
	}{
		{"a field is taken out", `sed -i '/gone/d' "$1"`, nil, 0, "configmap/conf edited\n", "note: configmap/conf: data.gone: ", `\"a\":\"1\"`},
		{"as JSON", `sed -i 's/"gone": "x"/"gone": "y"/' "$1"`, []string{"-o", "json"}, 0, `"kind": "ConfigMap"`, "", `\"gone\":\"y\"`},
		{"nothing is changed", `true`, nil, 0, "", "Edit cancelled, no changes made.\n", ""},
		{"the file is emptied", `: > "$1"`, nil, 0, "", "Edit cancelled, saved file was empty.\n", ""},
		{"the text is wrong twice in the same way", `printf 'a: [\n' > "$1"`, nil, failed, "", "Edit cancelled, no valid changes were saved: ", ""},
		{"another object", `sed -i 's/name: conf/name: other/' "$1"`, nil, failed, "", "your text is in ", ""},
		{"^C ends the editor, and is seen there only", `kill -2 $$; sleep 5`, nil, interrupted, "", "signal: interrupt: nothing was edited\n", ""},
		{"the editor fails", `exit 3`, nil, failed, "", "exit status 3: nothing was edited\n", ""},
		{"the editor fails, and something was typed", `echo '# typed' >> "$1"; exit 3`, nil, failed, "", "exit status 3: your text is in ", ""},
		{"the server refuses it", `sed -i '/gone/d' "$1"`, []string{"--field-manager=refused"}, failed, "", "set-last-applied -f ", `\"a\":\"1\"`},
	} {
		t.Setenv("TMPDIR", t.TempDir())
		editor := filepath.Join(t.TempDir(), "editor")
		if err := os.WriteFile(editor, []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("KUBE_EDITOR", editor)
		a := &answers{by: map[string][]string{"GET " + confPath: {servedConf()}}}
		if len(tt.args) > 0 && strings.Contains(tt.args[0], "refused") {
			a.by["PATCH "+confPath] = []string{refusal(422, "Invalid", "not so")}
		}
		against(t, a, append([]string{"edit-last-applied", "cm/conf"}, tt.args...)...).is(t, tt.reason, tt.code, tt.out, tt.err)
		w := strings.Join(a.writes(), "\n")
		if (w == "") != (tt.sent == "") || !strings.Contains(w, tt.sent) {
			t.Errorf("%s: sent %q", tt.reason, w)
		}
		if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || (len(left) > 0) != (tt.code == failed && !strings.Contains(tt.err, "nothing was edited")) {
			t.Errorf("%s: left behind: %v %v", tt.reason, left, err)
		}
	}
}
