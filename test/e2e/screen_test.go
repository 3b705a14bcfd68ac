package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode"
)

// evil has what drives a terminal (ESC, CSI in both of its forms, OSC, carriage
// return, backspace, DEL), what turns the order of reading round, and a line break
// with which a name could pass for a line of its own.
const evil = "a\x1b[31mb\u009b31mc\x1b]0;t\x07d\u202ee\rf\bg\x7fh\u2028i\u200bj\nerror: k"

// raw finds in a text what a terminal would obey.
func raw(text string) string {
	for i, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			return strings.ToValidUTF8(text[max(i-60, 0):min(i+40, len(text))], "?")
		}
	}
	return ""
}

// clean says that nothing of what a command said drives a terminal, and that no
// name has made a line of its own.
func clean(t *testing.T, got said) {
	t.Helper()
	for _, text := range []string{got.stdout, got.stderr} {
		if at := raw(text); at != "" {
			t.Errorf("%q reaches the terminal: %q", got.line, at)
		}
	}
	if regexp.MustCompile(`(?m)^error: k`).MatchString(got.stderr) {
		t.Errorf("%q: a name passes for an error\n%q", got.line, got.stderr)
	}
}

// evilObject has an evil name, and evil keys and values wherever there can be any.
func evilObject(data string, more map[string]any) map[string]any {
	meta := map[string]any{"name": "n" + evil, "namespace": "s" + evil, "labels": map[string]any{"l" + evil: "v" + evil}}
	for k, v := range more {
		meta[k] = v
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{"k" + evil: data + evil, "same": data}}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestScreen merges, offline, what others have made to paint on the terminal: in
// every form, in errors, in the names of files, in flags.
func TestScreen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // has no such file names
	}
	u := &user{t: t, server: &server, dir: t.TempDir(), home: t.TempDir()}
	u.kubeconfig = filepath.Join(u.dir, "none")
	field := "f:k" + evil
	managed := []any{map[string]any{"manager": "m" + evil, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z",
		"fieldsV1": map[string]any{"f:data": map[string]any{field: map[string]any{}, "f:same": map[string]any{}}}}}
	original := jsonOf(t, evilObject("1", nil))
	local, live := evilObject("2", nil), evilObject("3", map[string]any{
		"managedFields": managed,
		"annotations":   map[string]any{"kubectl.kubernetes.io/last-applied-configuration": original, "a" + evil: "b" + evil},
	})
	delete(local["data"].(map[string]any), "k"+evil)
	name := u.file("f"+strings.ReplaceAll(evil, "/", "")+".json", jsonOf(t, local))
	u.file("live.json", jsonOf(t, live))
	odd := map[string]any{"apiVersion": "x.y/v1", "kind": "K" + evil, "metadata": map[string]any{"name": "n" + evil}, "spec": map[string]any{"l": []any{evil, evil}}}
	u.file("odd.json", jsonOf(t, odd))
	u.file("misspelt.json", strings.Replace(jsonOf(t, local), `"data"`, `"data`+strings.Trim(jsonOf(t, evil), `"`)+`"`, 1))
	u.file("twice.json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{`+jsonOf(t, evil)+`:"1",`+jsonOf(t, evil)+`:"2"}}`)
	u.file("badlabel.json", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{`+jsonOf(t, evil)+`:1}}}`)
	u.file("badversion.json", `{"apiVersion":`+jsonOf(t, "a/b/"+evil)+`,"kind":`+jsonOf(t, evil)+`,"metadata":{"name":`+jsonOf(t, evil)+`}}`)
	u.file("bytes.yaml", "a: \x1b[31m\n")
	u.file("rules.yaml", "rules:\n- path: "+jsonOf(t, evil)+"\n  wins: live\n")
	u.file("unknown.yaml", jsonOf(t, map[string]any{evil: 1})+"\n")
	u.file("repl.yaml", `{"replacements":[{"source":{"kind":"ConfigMap","fieldPath":`+jsonOf(t, "data."+evil)+`},"targets":[{"select":{"name":`+jsonOf(t, evil)+`},"fieldPaths":["data.x"]}]}]}`)
	u.file("updated.json", jsonOf(t, evilObject("4", nil)))
	u.file("original.json", original)
	for _, folder := range []string{"more", "folder"} {
		if err := os.Mkdir(filepath.Join(u.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		u.file(filepath.Join(folder, "g"+strings.ReplaceAll(evil, "/", "")+".json"), jsonOf(t, evilObject(folder, nil)))
	}

	merge := []string{"-f", name, "--live", "live.json"}
	var lines [][]string
	for _, form := range []string{"name", "yaml", "json", "patch", "diff", "explain", "markdown", "custom-columns=N:.metadata.name,D:.data", "jsonpath={.metadata.name} {.data}", "jsonpath-as-json={.data}", "go-template={{.metadata.name}} {{.data}}"} {
		lines = append(lines, append(merge[:4:4], "-o", form))
	}
	for _, more := range [][]string{nil, {"--notes=json"}, {"--policy=strict"}, {"--policy=strict", "--notes=json"}, {"--policy=strict", "-o", "markdown"},
		{"--original=none"}, {"--original=managed-fields"}, {"--rules=rules.yaml"}, {"--rules=unknown.yaml"}, {"--rules=" + evil}, {"--policy=" + evil},
		{"-o", evil}, {"--" + evil}, {"-n", evil}, {"--original=" + evil}, {"--schema=" + evil}, {"--schema=unknown.yaml"}, {"-l", evil}, {"--strategy=" + evil}} {
		lines = append(lines, append(merge[:4:4], more...))
	}
	for _, file := range []string{"odd.json", "misspelt.json", "twice.json", "badlabel.json", "badversion.json", "bytes.yaml", "unknown.yaml", evil, "x\nSee '" + evil} {
		lines = append(lines, []string{"-f", file, "--live", "live.json"}, []string{"-f", "live.json", "--live", file})
	}
	lines = append(lines,
		[]string{"diff", "-f", name, "--live", "live.json"},
		[]string{"explain", "-f", name, "--live", "live.json"},
		[]string{"explain", "-f", name, "--live", "live.json", "-o", "json"},
		[]string{"explain", "-f", name, "--live", "live.json", "-o", "yaml"},
		[]string{"explain", "-f", name, "--live", "live.json", evil},
		[]string{"files", "--original", "original.json", "updated.json", "live.json", "-o", "diff"},
		[]string{"files", "--original", "original.json", "updated.json", "live.json", "-o", "diff", "--policy=strict"},
		[]string{"files", name, evil},
		[]string{"files", "original.json", name, "-w"},
		[]string{"files", "more", "folder", "-w"},
		[]string{"files", "more", "folder", "-w"},
		[]string{"files", "more", "folder", "-o", "diff"},
		[]string{"replacements", "repl.yaml", "-f", "live.json"},
		[]string{"replacements", evil, "-f", "live.json"},
		[]string{"replacements", "unknown.yaml", "-f", "live.json"},
		[]string{evil}, []string{"completion", evil}, []string{"version", evil},
	)
	for _, args := range lines {
		clean(t, u.tries("kubectl-merge", args...))
	}
	if err := os.Remove(filepath.Join(u.dir, name)); err != nil {
		t.Fatal(err)
	}
}
