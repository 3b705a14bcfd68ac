// Package stranger holds ARCHITECTURE.md, "To add …", to its word: a strategy, a policy, a
// printer and a verb are each added by one file, which no other file knows of. The files of
// testdata are laid over the source, the program is built, used and judged: the policy is obeyed
// whole, the printer has nothing to leak, and the verb is refused until a story plays it.
package stranger

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestOneFileEach(t *testing.T) {
	program := build(t)
	local := file(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"a":"2"}}`)
	applied := `{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"annotations\":{},\"name\":\"c\",\"namespace\":\"n\"},\"data\":{\"a\":\"1\"}}\n`
	live := file(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n","resourceVersion":"7",
		"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"`+applied+`"}},"data":{"a":"3","b":"live"}}`)
	diff := []string{"diff", "-f", local, "--live", live}
	for _, tt := range []struct {
		reason string
		args   []string
		want   string
		not    string
	}{
		{"the strategy takes local as it is", append(diff, "--strategy=toy"), "-  b: live", ""},
		{"another keeps what only live has", diff, "-  a: \"3\"", "-  b: live"},
		{"the strategy is in the help, with what it does", []string{"--help=all"}, "toy (local as it is)", ""},
		{"the strategy is completed", []string{"__complete", "--strategy", "to"}, "toy\tlocal as it is", ""},
		{"the strategy is in the error", append(diff, "--strategy=no"), "toy", ""},
		{"the policy is in the help", []string{"diff", "--help=all"}, "live, freeze, ask", ""},
		{"the policy is completed", []string{"__complete", "--policy", "fr"}, "freeze\tonly local moved: live; only live moved: live; both moved: live; removed from local: live", ""},
		{"the printer prints", []string{"-f", local, "--live", live, "-o", "toy"}, "configmap/c: changes: 1", ""},
		{"the printer is in the help, among the reports", []string{"--help=all"}, "plan, toy: reports", ""},
		{"the printer is completed", []string{"__complete", "-o", "to"}, "toy\tchanges, counted", ""},
		{"the printer is in the error", []string{"-f", local, "--live", live, "-o", "no"}, "plan, toy, jsonpath", ""},
		{"the verb runs", []string{"toy"}, "a toy", ""},
		{"the verb is in the help", []string{"--help"}, "Say that it is a toy", ""},
		{"the verb is completed", []string{"__complete", "to"}, "toy\tSay that it is a toy", ""},
	} {
		out, _ := exec.Command(program, tt.args...).CombinedOutput() // a difference ends with 1, an error with more
		if got := string(out); !strings.Contains(strings.Join(strings.Fields(got), " "), tt.want) && !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
			t.Errorf("%s: %q printed, want %q in it, and not %q:\n%s", tt.reason, tt.args, tt.want, tt.not, got)
		}
	}
}

// build is the program with the toys in it, where overlay.json has a stranger put each. make test
// builds it beforehand, by the same command, and then nothing is left to do here.
func build(t *testing.T) string {
	t.Helper()
	const program = ".tools/stranger/kubectl-merge"
	out, err := exec.Command("go", "build", "-C", "../..", "-overlay", "test/stranger/testdata/overlay.json", "-o", program, "./cmd/kubectl-merge").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join("../..", program)
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestFreeze: a policy whose row gives everything to live leaves all as it is, whatever local has
// changed, with every strategy: no value, no order, no last-applied.
func TestFreeze(t *testing.T) {
	program := build(t)
	local := file(t, deployment(`"labels":{"added":"1","changed":"2"}`, `"replicas":5,"strategy":{"type":"Recreate"},"paused":null`,
		`{"name":"new","image":"n"},{"name":"b","image":"b:2","env":[{"name":"E","value":"2"},{"name":"F","value":"1"}]},{"name":"a","image":"a"}`,
		`{"name":"data","secret":{"secretName":"s"}}`))
	original := strings.ReplaceAll(deployment(`"labels":{"changed":"1","removed":"1"}`, `"replicas":2`,
		`{"name":"a","image":"a"},{"name":"b","image":"b:1","env":[{"name":"D","value":"1"},{"name":"E","value":"1"}]}`,
		`{"name":"data","emptyDir":{}}`), `"`, `\"`)
	live := file(t, deployment(`"labels":{"changed":"1","removed":"1"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"`+original+`\n"}`,
		`"replicas":2,"paused":true,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}`,
		`{"name":"a","image":"a"},{"name":"b","image":"b:1","env":[{"name":"D","value":"1"},{"name":"E","value":"1"}]}`,
		`{"name":"data","emptyDir":{}}`))
	for _, strategy := range []string{"auto", "strategic", "json", "associative"} {
		run := func(args ...string) (string, error) {
			out, err := exec.Command(program, append(args, "-f", local, "--live", live, "--strategy="+strategy, "--quiet")...).CombinedOutput()
			return string(out), err
		}
		if out, err := run("diff", "--policy=apply"); err == nil {
			t.Errorf("%s: apply finds no difference, so that there is nothing to freeze\n%s", strategy, out)
		}
		if out, err := run("diff", "--policy=freeze"); err != nil || out != "" {
			t.Errorf("%s: not frozen: %v\n%s", strategy, err, out)
		}
		if out, err := run("--policy=freeze", "-o", "json"); err != nil || !strings.Contains(out, `\"removed\":\"1\"`) || strings.Contains(out, `\"added\"`) {
			t.Errorf("%s: what was applied last is not as it was: %v\n%s", strategy, err, out)
		}
	}
}

// TestPrinterOfSecrets: a printer that prints all that it is given prints nothing secret.
func TestPrinterOfSecrets(t *testing.T) {
	program := build(t)
	secret := func(lastApplied, fields string) string {
		return file(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n","resourceVersion":"7"`+lastApplied+`},`+fields+`}`)
	}
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	planted := []string{"one", "two", "three", "four", "original!", "local now", "live then"}
	data := func(own, a, b string) string {
		return `"data":{"` + own + `":"` + encoded(own) + `","moved":"` + encoded(a) + `"},"stringData":{"plain":"` + b + `"}`
	}
	applied := strings.ReplaceAll(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n"},`+data("gone", planted[4], planted[0])+`}`, `"`, `\"`)
	live := secret(`,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"`+applied+`\n"}`, data("theirs", planted[6], planted[1]))
	local := secret("", data("ours", planted[5], planted[2]))
	for _, policy := range []string{"apply", "live", "strict"} {
		out, err := exec.Command(program, "-f", local, "--live", live, "-o", "toy", "--policy="+policy, "--quiet").CombinedOutput()
		if !strings.Contains(string(out), "secret/s: changes: ") {
			t.Errorf("%s: not printed: %v\n%s", policy, err, out)
		}
		for _, value := range planted {
			if strings.Contains(string(out), `"`+value) || strings.Contains(string(out), encoded(value)) {
				t.Errorf("%s: %q is printed:\n%s", policy, value, out)
			}
		}
	}
	if out, _ := exec.Command(program, "-f", local, "--live", live, "-o", "toy", "--show-secrets").CombinedOutput(); !strings.Contains(string(out), encoded(planted[5])) {
		t.Errorf("--show-secrets shows nothing, so that there was nothing to find\n%s", out)
	}
}

// TestVerbNeedsStory: a verb that no story plays fails the tests of internal/cli.
func TestVerbNeedsStory(t *testing.T) {
	out, err := exec.Command("go", "test", "-C", "../..", "-overlay", "test/stranger/testdata/overlay.json", "-run", "TestVerbsHaveStories", "./internal/cli").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `no story plays "kubectl merge toy"`) || strings.Count(string(out), "no story plays") != 1 {
		t.Errorf("want one verb without a story: %v\n%s", err, out)
	}
}

func deployment(metadata, spec, containers, volume string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n",` + metadata + `},"spec":{` + spec +
		`,"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[` + containers + `],"volumes":[` + volume + `]}}}}`
}
