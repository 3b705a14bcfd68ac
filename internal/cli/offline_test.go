package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrintersOffline: every printer, on saved live objects.
func TestPrintersOffline(t *testing.T) {
	local, live := files(t)
	columns := filepath.Join(t.TempDir(), "columns")
	if err := os.WriteFile(columns, []byte("NAME A\n.metadata.name .data.a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		output string
		code   int
		out    []string
		err    string
	}{
		{"yaml", 0, []string{"  others: stays\n", `resourceVersion: "7"`}, ""},
		{"json", 0, []string{`"others": "stays"`}, ""},
		{"patch", 0, []string{`"gone":null`, `"a":"2"`}, ""},
		{"diff", 0, []string{"-  gone: x\n", "+  a: \"2\"\n"}, ""},
		{"markdown", 0, []string{"`configmap/conf`", "data.gone"}, ""},
		{"explain", 0, []string{"data.gone", "data.others"}, ""},
		{"go-template={{.data.a}}", 0, []string{"2"}, ""},
		{"custom-columns-file=" + columns, 0, []string{"NAME   A\nconf   2\n"}, ""},
		{"custom-columns=NAME", 1, nil, "is not HEADER:PATH"},
		{"custom-columns=", 1, nil, "columns are missing"},
		{"custom-columns=X:{", 1, nil, "column X"},
		{"custom-columns-file=" + live + "x", 1, nil, "no such file"},
		{"jsonpath={", 1, nil, "error: "},
	} {
		code, out, errs := offline(t, "-f", local, "--live", live, "-o", tt.output)
		if code != tt.code || !strings.Contains(errs, tt.err) {
			t.Errorf("%s: code %d, want %d; stderr %s", tt.output, code, tt.code, errs)
		}
		for _, want := range tt.out {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is not in\n%s", tt.output, want, out)
			}
		}
	}
}

// TestListOffline: several objects are one List.
func TestListOffline(t *testing.T) {
	local, live := files(t)
	more := filepath.Join(t.TempDir(), "more.yaml")
	if err := os.WriteFile(more, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]string{"yaml": "kind: List\n", "json": `"kind": "List"`, "jsonpath={.items[*].metadata.name}": "conf other"} {
		code, out, errs := offline(t, "-f", local, "-f", more, "--live", live, "-o", output)
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, %q is not in\n%s\nstderr %s", output, code, want, out, errs)
		}
	}
}

// TestExplainOffline: the explanation of fields, in each of its printers, and of a field that is not there.
func TestExplainOffline(t *testing.T) {
	local, live := files(t)
	for _, tt := range []struct {
		args []string
		code int
		out  string
		err  string
	}{
		{[]string{"data.a"}, 0, "FIELD", ""},
		{[]string{"-o", "json", "data.gone"}, 0, `"data.gone"`, ""},
		{[]string{"-o", "yaml", "data.others"}, 0, "data.others", ""},
		{[]string{"data.nope"}, 1, "", "data.nope"},
		{[]string{"-o", "xml"}, 1, "", "xml"},
	} {
		code, out, errs := offline(t, append([]string{"explain", "-f", local, "--live", live}, tt.args...)...)
		if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.err) {
			t.Errorf("%q: code %d, stdout %s, stderr %s", tt.args, code, out, errs)
		}
	}
}

// TestNotesOffline: notes for programs are JSON, one a line, errors too; --quiet leaves errors.
func TestNotesOffline(t *testing.T) {
	local, live := files(t)
	_, _, errs := offline(t, "-f", local, "--live", live, "--dry-run", "--notes=json", "-o", "name")
	for line := range strings.Lines(errs) {
		if !strings.HasPrefix(line, "{") {
			t.Errorf("no JSON: %s", line)
		}
	}
	if !strings.Contains(errs, `"data.gone"`) {
		t.Errorf("the removal is not in %s", errs)
	}
	if _, _, errs := offline(t, "-f", local, "--live", live, "-o", "name", "-q"); errs != "" {
		t.Errorf("--quiet: %s", errs)
	}
	if code, _, errs := offline(t, "-f", local+"x", "--live", live, "--notes=json"); code != failed || !strings.HasPrefix(errs, "{") || !strings.Contains(errs, `"error"`) {
		t.Errorf("code %d: %s", code, errs)
	}
	if code, _, errs := offline(t, "-f", local, "--live", live, "--notes=xml"); code != failed || !strings.Contains(errs, "must be text or json") {
		t.Errorf("code %d: %s", code, errs)
	}
}

// TestSecretOffline: a Secret that was saved with stringData is as the server would store it.
func TestSecretOffline(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for local, want := range map[string]string{"data: {p: eA==}": "", "stringData: {p: x}": "", "stringData: {p: z}": "+  p: '*** (after)'\n"} {
		for _, live := range []string{"stringData: {p: x}", "stringData: {p: x}\ndata: {p: eQ==}"} {
			code, out, errs := offline(t, "diff", "-f", write("local", local), "--live", write("live", live))
			if (code == 1) != (want != "") || !strings.Contains(out, want) || want == "" && out != "" || strings.Contains(out+errs, "stringData") {
				t.Errorf("%s, live %s: code %d, stdout %s, stderr %s", local, live, code, out, errs)
			}
		}
	}
}

// TestFilesOffline: files are merged in place, with their comments, or the change is shown.
func TestFilesOffline(t *testing.T) {
	const text = "# app\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 3 # three\n"
	dir := t.TempDir()
	dest, update := filepath.Join(dir, "app.yaml"), filepath.Join(dir, "update.yaml")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(dest, text)
	write(update, strings.Replace(text, "replicas: 3", "replicas: 5", 1))
	if code, out, errs := offline(t, "files", "-o", "diff", update, dest); code > 1 || !strings.Contains(out, "+  replicas: 5 # three") {
		t.Errorf("code %d, stdout %s, stderr %s", code, out, errs)
	}
	if code, _, errs := offline(t, "files", update); code != failed || errs == "" {
		t.Errorf("code %d, stderr %s", code, errs)
	}
	if code, _, errs := offline(t, "files", update+"x", dest); code == 0 || !strings.Contains(errs, "update.yamlx") {
		t.Errorf("code %d, stderr %s", code, errs)
	}
}

// TestExternalDiffOffline: the program that the user named shows the difference, and says by its exit
// code whether there is one.
func TestExternalDiffOffline(t *testing.T) {
	local, live := files(t)
	program := filepath.Join(t.TempDir(), "program")
	for script, want := range map[string]struct {
		code int
		out  string
		err  string
	}{
		"#!/bin/sh\nls $1 $2\nexit 1\n": {1, "v1.ConfigMap.shop.conf", ""},
		"#!/bin/sh\nexit 0\n":           {0, "", ""},
		"#!/bin/sh\nexit 7\n":           {2, "", "it is to exit with 0 or 1"},
	} {
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("KUBECTL_EXTERNAL_DIFF", program)
		code, out, errs := offline(t, "diff", "-q", "-f", local, "--live", live)
		if code != want.code || !strings.Contains(out, want.out) || !strings.Contains(errs, want.err) {
			t.Errorf("%q: code %d, stdout %s, stderr %s", script, code, out, errs)
		}
	}
}

// TestNoInput: verbs whose exit code of errors is 2 name all that they take.
func TestNoInput(t *testing.T) {
	for verb, want := range map[string]string{"diff": "-f, -k and TYPE/NAME", "drift": "-f, -k, --release and TYPE/NAME"} {
		if code, _, errs := offline(t, verb); code != diffFailed || errs != "error: must specify one of "+want+"\n" {
			t.Errorf("%s: code %d, %s", verb, code, errs)
		}
	}
}

// TestRefusedOffline: what a command line lacks, or has too much of, is an error before a server is asked.
func TestRefusedOffline(t *testing.T) {
	local, live := files(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"view-last-applied", "-o", "xml", "cm/conf"}, "--output=xml: must be yaml or json"},
		{[]string{"set-last-applied"}, "must specify one of -f and -k"},
		{[]string{"explain"}, "must specify one of -f, -k and TYPE/NAME"},
		{[]string{"migrate", "--to=client-side"}, "must specify one of -f, -k and TYPE/NAME"},
		{[]string{"wait"}, "must specify one of -f, -k, TYPE/NAME and --applyset"},
		{[]string{"set-last-applied", "-f", local, "cm/conf"}, "unexpected argument"},
		{[]string{"disown", "cm/conf"}, "no field is named"},
		{[]string{"disown", "-o", "explain", "cm/conf", "data.a"}, "is for merges"},
		{[]string{"disown", "-w", "cm/conf", "data.a"}, "name them with -f"},
		{[]string{"edit-last-applied", "-o", "markdown", "cm/conf"}, "is for merges"},
		{[]string{"applyset", "adopt", "shop"}, "name the objects"},
		{[]string{"applyset", "adopt", "shop", "cm/conf", "-l", "a=b"}, "only one of"},
		{[]string{"-f", local, "--live", live, "--concurrency=0"}, "must be at least 1"},
		{[]string{"-f", "-", "--live", "-"}, "only one of --live and -f can be -"},
		{[]string{"-f", local, "-R", "-k", "x"}, "only one of -f or -k"},
		{[]string{"-k", "x", "-R"}, "can't be used with -f or -R"},
		{[]string{"-f", local, "--live", live, "-l", "app=none"}, "none of the input matches --selector"},
		{[]string{"-f", local, "--live", live, "--original=nope.yaml"}, "nope.yaml"},
		{[]string{"-f", local, "--live", live, "--rules=nope.yaml"}, "nope.yaml"},
		{[]string{"-f", local, "--live", live, "--schema=nope.yaml"}, "nope.yaml"},
		{[]string{"-f", local, "--live", live, "--dry-run=maybe"}, "maybe"},
		{[]string{"-f", local, "--live", live, "--request-timeout=x"}, "--request-timeout=x"},
		{[]string{"-f", local, "--live", live, "--concurrency=x"}, "must be a whole number"},
		{[]string{"-f", local, "--live", live, "--quiet=x"}, "must be true or false"},
		{[]string{"completion"}, "name one of kubectl, bash"},
	} {
		code, out, errs := offline(t, tt.args...)
		if code != failed || out != "" || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: code %d, stdout %s, stderr %s\nwant %q in it", tt.args, code, out, errs, tt.want)
		}
	}
}

// TestNoServer: every verb that needs a server reports that there is none, by its name.
func TestNoServer(t *testing.T) {
	local, _ := files(t)
	for _, args := range [][]string{
		{"-f", local}, {"diff", "-f", local}, {"explain", "-f", local}, {"drift", "-f", local}, {"wait", "-f", local},
		{"view-last-applied", "cm/conf"}, {"view-last-applied", "-f", local}, {"set-last-applied", "-f", local},
		{"edit-last-applied", "cm/conf"}, {"disown", "cm/conf", "data.a"}, {"disown", "-f", local, "data.a"},
		{"applyset", "list"}, {"applyset", "view", "shop"}, {"applyset", "verify", "shop"}, {"applyset", "adopt", "shop", "cm/conf"},
		{"applyset", "delete", "shop"}, {"-f", local, "--prune", "--applyset=shop"},
	} {
		code, out, errs := offline(t, append(args, "--server=http://127.0.0.1:1")...)
		if code == 0 || out != "" || !strings.Contains(errs, "127.0.0.1:1") {
			t.Errorf("%q: code %d, stdout %s, stderr %s", args, code, out, errs)
		}
	}
}

// TestVersionOffline: what was built, for people and programs.
func TestVersionOffline(t *testing.T) {
	for output, want := range map[string]string{"": "kubectl-merge", "json": `"platform"`, "yaml": "platform:"} {
		args := []string{"version"}
		if output != "" {
			args = append(args, "-o", output)
		}
		if code, out, errs := offline(t, args...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%q: code %d, %q is not in %s; stderr %s", output, code, want, out, errs)
		}
	}
	if code, _, errs := offline(t, "version", "-o", "xml"); code != failed || !strings.Contains(errs, "xml") {
		t.Errorf("code %d, stderr %s", code, errs)
	}
}

// TestAskOffline: without a terminal, what would be asked stays a conflict.
func TestAskOffline(t *testing.T) {
	local, live := files(t)
	drifted := strings.Replace(liveConf, `data: {a: "1"`, `data: {a: "by hand"`, 1)
	if err := os.WriteFile(live, []byte(drifted), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := offline(t, "-f", local, "--live", live, "--policy=ask")
	if code != conflicted || out != "" || !strings.Contains(errs, "there is no terminal to ask on") {
		t.Errorf("code %d, stdout %s, stderr %s", code, out, errs)
	}
}
