package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder writes files and returns where they are.
func folder(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const replaceData = `source: {kind: ConfigMap, name: from, fieldPath: data.a}
targets: [{select: {kind: ConfigMap, name: conf}, fieldPaths: [data.a]}]
`

// TestReplacements: fields are copied in files; comments stay, and nothing is written without -w.
func TestReplacements(t *testing.T) {
	dir := folder(t, map[string]string{
		"rules.yaml": replaceData,
		"in.yaml":    "# two\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: from}\ndata: {a: \"9\"}\n---\n" + localConf,
		"list.yaml":  "replacements: [{path: rules.yaml}]\n",
	})
	rules, in := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "in.yaml")
	was, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(was), `a: "2"`, `a: "9"`, 1)
	code, out, errs := offline(t, "replacements", rules, "-f", in)
	ended{code, out, errs}.exactly(t, "printed", ended{0, want, ""})
	code, out, errs = offline(t, "replacements", filepath.Join(dir, "list.yaml"), "-f", in, "-o", "diff")
	ended{code, out, errs}.is(t, "a file that another one names, as a diff", 0, "-data: {a: \"2\"}\n+data: {a: \"9\"}\n", "")
	if now, err := os.ReadFile(in); err != nil || string(now) != string(was) {
		t.Errorf("written without -w: %s %v", now, err)
	}
	code, out, errs = offline(t, "replacements", rules, "-f", in, "-w")
	ended{code, out, errs}.exactly(t, "written", ended{0, in + " configured\n", ""})
	if now, err := os.ReadFile(in); err != nil || string(now) != want {
		t.Errorf("written: %s %v", now, err)
	}
	code, out, errs = offline(t, "replacements", rules, "-f", in, "-w")
	ended{code, out, errs}.exactly(t, "written again", ended{0, in + " unchanged\n", ""})
	for _, tt := range []struct {
		args []string
		err  string
	}{
		{[]string{rules}, "must specify -f"},
		{[]string{rules, "-f", "-", "-w"}, "INPUT is standard input, and cannot be written"},
		{[]string{"-", "-f", "-"}, "only one of REPLACEMENTS and -f can be -"},
		{[]string{rules, "-f", in, "-o", "json"}, "--output=json: must be yaml or diff"},
		{[]string{"-f", in}, "expected the file with the replacements, got 0 arguments"},
		{[]string{rules + "x", "-f", in}, "rules.yamlx: no such file or directory: check the name of the file with the replacements"},
		{[]string{rules, "-f", in + "x"}, "in.yamlx: no such file or directory: check the name after -f"},
		{[]string{"-", "-f", in}, "has no replacements"},
	} {
		code, out, errs := offline(t, append([]string{"replacements"}, tt.args...)...)
		if code == 0 || !strings.Contains(errs, tt.err) {
			t.Errorf("%q: code %d, %s%s", tt.args, code, out, errs)
		}
	}
}

// TestReplacementsFromLive: a source that is not in the input is read from the cluster, if that is asked for.
func TestReplacementsFromLive(t *testing.T) {
	local, _ := files(t)
	rules := filepath.Join(folder(t, map[string]string{"rules.yaml": replaceData}), "rules.yaml")
	a := confServer()
	a.by["GET /api/v1/namespaces/shop/configmaps/from"] = []string{served("ConfigMap", "from", "", `{"a":"8"}`)}
	against(t, a, "replacements", rules, "-f", local, "--from-live").is(t, "a source on the server", 0, `a: "8"`, "")
	against(t, confServer(), "replacements", rules, "-f", local, "--from-live").is(t, "a source that is nowhere", failed, "", "from")
	for _, flag := range []string{"--replacements=x", "--replacements-from-live"} {
		code, out, errs := offline(t, "-f", local, flag)
		ended{code, out, errs}.is(t, "a flag of earlier versions", failed, "", "kubectl merge replacements FILE")
	}
}

// TestFilesWritten: with -w each file's outcome is printed, and the arguments are checked before
// anything is read.
func TestFilesWritten(t *testing.T) {
	dir := folder(t, map[string]string{"new/a.yaml": localConf, "new/b.yaml": strings.Replace(localConf, "conf", "b", 1), "dest/a.yaml": strings.Replace(localConf, `"2"`, `"1"`, 1)})
	dest := filepath.Join(dir, "dest")
	code, out, errs := offline(t, "files", filepath.Join(dir, "new"), dest, "-w")
	ended{code, out, errs}.is(t, "a folder", 0, filepath.Join(dest, "a.yaml")+" configured\n"+filepath.Join(dest, "b.yaml")+" created\n", "")
	code, out, errs = offline(t, "files", filepath.Join(dir, "new"), dest, "-w")
	ended{code, out, errs}.is(t, "again", 0, dest+" unchanged\n", "")
	for _, tt := range []struct {
		args []string
		err  string
	}{
		{[]string{"-", "-"}, "only one of SOURCE, DEST and --original can be -"},
		{[]string{dest, "-", "-w"}, "DEST is standard input, and cannot be written"},
		{[]string{dest, dest, "--policy=ask"}, "--policy=ask: asks about live objects only"},
		{[]string{dest, dest, "-o", "json"}, "--output=json: must be yaml or diff"},
	} {
		code, out, errs := offline(t, append([]string{"files"}, tt.args...)...)
		if code != failed || out != "" || !strings.Contains(errs, tt.err) {
			t.Errorf("%q: code %d, %s%s", tt.args, code, out, errs)
		}
	}
}

// TestDrift: what live has beyond the files is printed, with code 1; nothing with 0.
func TestDrift(t *testing.T) {
	local, live := files(t)
	a := &answers{by: map[string][]string{"GET " + confPath: {strings.Replace(servedConf(), `"a":"1"`, `"a":"by hand"`, 1)}}}
	against(t, a, "drift", "-f", local).is(t, "drifted", 1, "data.a", "")
	if w := a.writes(); len(w) > 0 {
		t.Errorf("sent %q", w)
	}
	code, out, errs := offline(t, "drift", "-f", local, "--live", live, "-o", "nope")
	if code == 0 || out != "" || !strings.Contains(errs, "nope") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// TestReports: each report of diff, with conflicts and without.
func TestReports(t *testing.T) {
	local, live := files(t)
	for output, want := range map[string]string{"markdown": "`configmap/conf`", "explain": "data.gone", "patch": `"gone":null`, "name": "", "xml": ""} {
		code, out, errs := offline(t, "diff", "-f", local, "--live", live, "-o", output)
		if want == "" {
			if code != diffFailed || !strings.Contains(errs, ": must be patch, diff, explain, markdown or plan") {
				t.Errorf("%s: code %d, %s", output, code, errs)
			}
			continue
		}
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, %s%s", output, code, out, errs)
		}
	}
	if err := os.WriteFile(live, []byte(strings.Replace(liveConf, `data: {a: "1"`, `data: {a: "by hand"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]string{"explain": "conflict", "markdown": "data.a", "outcome": ""} {
		verb := []string{"diff"}
		if output == "outcome" {
			verb = nil
		}
		code, out, errs := offline(t, append(verb, "-f", local, "--live", live, "--policy=strict", "-o", output)...)
		if code != conflicted || !strings.Contains(out, want) || !strings.Contains(errs, "data.a: conflict") {
			t.Errorf("%s: code %d, %s%s", output, code, out, errs)
		}
	}
}
