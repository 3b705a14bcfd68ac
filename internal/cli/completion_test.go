package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

const localPod = `apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web, "example.com/team.name": shop}
spec:
  containers:
  - name: main
    image: nginx
    args: [a, b]
    ports:
    - {containerPort: 53, protocol: UDP}
    - {containerPort: 53}
  - name: side
    image: proxy
`

// completed are the completions of a command line, and the directive.
func completed(t *testing.T, args ...string) (all []string, directive string) {
	t.Helper()
	_, out, _ := offline(t, append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func names(all []string) []string {
	out := []string{}
	for _, line := range all {
		name, _, _ := strings.Cut(line, "\t")
		out = append(out, name)
	}
	return out
}

func TestCompletion(t *testing.T) {
	pod := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(pod, []byte(localPod), 0o600); err != nil {
		t.Fatal(err)
	}
	container := "spec.containers[name=main]"
	const (
		noFiles   = ":4"
		noSpace   = ":6"
		extension = ":8"
		dirs      = ":16"
		ordered   = ":36"
	)
	for _, tt := range []struct {
		reason    string
		args      []string
		want      []string
		directive string
	}{
		{"verbs", []string{"di"}, []string{"diff", "disown"}, noFiles},
		{"flags", []string{"--strat"}, []string{"--strategy"}, noFiles},
		{"policies, in the order of the table", []string{"--policy", ""}, []string{"apply", "merge3", "diff3", "strict", "live", "ask"}, ordered},
		{"files cannot ask", []string{"files", "--policy", ""}, []string{"apply", "merge3", "diff3", "strict", "live"}, ordered},
		{"an undo knows three", []string{"undo", "--policy", ""}, []string{"strict", "live", "apply"}, ordered},
		{"values behind =", []string{"--policy=st"}, []string{"strict"}, ordered},
		{"strategies", []string{"diff", "--strategy", ""}, []string{"auto", "strategic", "json", "associative"}, ordered},
		{"printers are those of the verb", []string{"explain", "-o", ""}, []string{"table", "json", "yaml", "blame"}, ordered},
		{"what changes only the annotation has no explanation", []string{"disown", "-o", ""}, []string{"name", "yaml", "json", "patch", "diff", "jsonpath=", "go-template=", "custom-columns="}, ordered},
		{"an original of files is a file", []string{"files", "--original", ""}, []string{}, ":0"},
		{"a printer with a template wants no space behind it", []string{"-o", "jsonp"}, []string{"jsonpath="}, ":38"},
		{"dry runs", []string{"--dry-run="}, []string{"client", "server", "none"}, ordered},
		{"manifests", []string{"-f", ""}, []string{"yaml", "yml", "json"}, extension},
		{"kustomizations are folders", []string{"-k", ""}, []string{}, dirs},
		{"where an original is", []string{"--original", "m"}, []string{"managed-fields"}, ":0"},
		{"an original in a file", []string{"--original", "old.y"}, []string{}, ":0"},
		{"the verb wants no arguments", []string{"diff", ""}, []string{}, noFiles},
		{"fields to give up, of a file", []string{"disown", "-f", pod, "kin"}, []string{"kind"}, noFiles},
		{"files", []string{"files", ""}, []string{}, ":0"},
		{"a flag that takes a number completes nothing", []string{"--concurrency", ""}, []string{}, noFiles},
		{"no server, no namespaces, and no complaint", []string{"-n", ""}, []string{}, noFiles},
		{"a context without a kubeconfig", []string{"--context", ""}, []string{}, noFiles},

		{"no file, no fields", []string{"explain", ""}, []string{}, noFiles},
		{"fields come one level at a time", []string{"explain", "-f", pod, ""}, []string{"apiVersion", "kind", "metadata", "spec"}, noSpace},
		{"a single way is followed", []string{"explain", "-f", pod, "sp"}, []string{"spec.containers", container, "spec.containers[name=side]"}, noSpace},
		{"entries of a list by their key", []string{"explain", "-f", pod, "spec.containers[name=m"}, []string{container, container + ".args", container + ".image", container + ".name", container + ".ports"}, noSpace},
		{"entries with two keys, one of them a default", []string{"explain", "-f", pod, container + ".ports["},
			[]string{container + ".ports[containerPort=53,protocol=TCP]", container + ".ports[containerPort=53,protocol=UDP]"}, noSpace},
		{"an atomic list is one value", []string{"explain", "-f", pod, container + ".args["}, []string{}, noFiles},
		{"a leaf ends the word", []string{"explain", "-f", pod, container + ".im"}, []string{container + ".image"}, noFiles},
		{"keys with dots stand bare in brackets, as a shell would take quotes off", []string{"explain", "-f", pod, "metadata.labels[example.com/te"}, []string{"metadata.labels[example.com/team.name]"}, noFiles},
		{"a quote that has been typed stays", []string{"explain", "-f", pod, `metadata.labels["`}, []string{`metadata.labels["example.com/team.name"]`}, noFiles},
		{"nonsense completes nothing", []string{"explain", "-f", pod, "spec..["}, []string{}, noFiles},
		{"an unreadable file completes nothing", []string{"explain", "-f", pod + "x", "s"}, []string{}, noFiles},
	} {
		all, directive := completed(t, tt.args...)
		if d := cmp.Diff(tt.want, names(all)); d != "" || directive != tt.directive {
			t.Errorf("%s: %q: directive %s, want %s\n%s", tt.reason, tt.args, directive, tt.directive, d)
		}
	}
}

// TestFlagRows: every row is for a verb that there is, and is the verb's only one for the flag; ties
// are to flags of the same verb; and every verb states what its arguments are.
func TestFlagRows(t *testing.T) {
	seen := map[string]bool{"every": true}
	root := newRoot(&env{IOStreams: genericiooptions.NewTestIOStreamsDiscard()})
	for _, cmd := range commands(root) {
		name := strings.TrimPrefix(cmd.Name(), "kubectl-")
		seen[name] = true
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && name != "help" {
			t.Errorf("the arguments of %s are not completed", name)
		}
		rows := map[string]int{}
		for _, f := range flagRows {
			if !slices.Contains(strings.Fields(f.verbs), name) {
				continue
			}
			if rows[f.name]++; rows[f.name] > 1 {
				t.Errorf("%s has two rows for --%s", name, f.name)
			}
			for _, tie := range f.needs {
				for _, flag := range strings.Fields(tie.flag) {
					if to, _, _ := strings.Cut(flag, "="); cmd.Flags().Lookup(to) == nil {
						t.Errorf("--%s of %s needs --%s, which is no flag of it", f.name, name, to)
					}
				}
			}
		}
	}
	for _, f := range flagRows {
		for _, name := range strings.Fields(f.verbs) {
			if !seen[name] {
				t.Errorf("--%s is for %q, and there is no such verb", f.name, name)
			}
		}
		for _, tie := range f.excludes {
			to, _, _ := strings.Cut(tie.flag, "=")
			to = strings.TrimSuffix(to, "!")
			if own := func(f flagRow) bool { return f.name == to }; to != previewed && !slices.ContainsFunc(flagRows, own) && root.PersistentFlags().Lookup(to) == nil {
				t.Errorf("--%s excludes --%s, which is no flag", f.name, to)
			}
		}
	}
}

// TestOwnWordsAreSafe: no completion of a flag loses a word of ours for the sake of shells.
func TestOwnWordsAreSafe(t *testing.T) {
	root := newRoot(&env{IOStreams: genericiooptions.NewTestIOStreamsDiscard()})
	for _, f := range flagRows {
		if strings.Contains("applyset applyset-namespace contexts from recreate release", f.name) {
			continue // need a kubeconfig
		}
		c := &call{env: &env{}, cmd: root}
		safe := f.completion(c)
		switch {
		case f.words != nil:
			if got, _ := safe(root, nil, ""); len(got) != len(f.words()) {
				t.Errorf("--%s: %q became %q", f.name, f.words(), got)
			}
		case f.completes != nil:
			own, _ := f.completes(c.server())(root, nil, "")
			if got, _ := safe(root, nil, ""); len(got) != len(own) {
				t.Errorf("--%s: %q became %q", f.name, own, got)
			}
		}
	}
}

// TestOfferedIsAccepted: no verb refuses a value that is offered for one of its flags.
func TestOfferedIsAccepted(t *testing.T) {
	values := 0
	for _, cmd := range commands(newRoot(&env{IOStreams: genericiooptions.NewTestIOStreamsDiscard()})) {
		path := strings.Fields(cmd.CommandPath())[2:]
		for _, name := range []string{"output", "policy", "strategy", "original", "dry-run", "validate", "notes", "wait", "guard", "cascade", "prune-kinds", "color", "to"} {
			if cmd.Flags().Lookup(name) == nil && cmd.Root().PersistentFlags().Lookup(name) == nil {
				continue
			}
			all, _ := completed(t, append(path, "--"+name+"=")...)
			for _, value := range names(all) {
				values++
				if strings.HasSuffix(value, "=") {
					value += map[bool]string{true: "NAME:.metadata.name", false: "{.kind}"}[strings.Contains(value, "columns")]
				}
				if strings.HasSuffix(value, ":") {
					value += "shop"
				}
				_, _, errs := offline(t, append(path, "--"+name+"="+value)...)
				if strings.Contains(errs, "--"+name) && !strings.Contains(errs, " needs ") && !strings.Contains(errs, "no kubeconfig names a server") {
					t.Errorf("%s offers --%s=%s, and then: %s", cmd.CommandPath(), name, value, errs)
				}
			}
		}
	}
	if values < 200 {
		t.Errorf("only %d values are offered", values)
	}
}

func TestCompletionScripts(t *testing.T) {
	for shell, want := range map[string]string{
		"bash": "complete -o default", "zsh": "#compdef kubectl-merge", "fish": "complete -c kubectl-merge",
		"powershell": "Register-ArgumentCompleter", "kubectl": "exec kubectl-merge __complete",
	} {
		code, out, errs := offline(t, "completion", shell)
		if code != 0 || errs != "" || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, stderr %q, and %q is not in\n%.300s", shell, code, errs, want, out)
		}
	}
	if code, _, errs := offline(t, "completion", "tcsh"); code != failed || !strings.Contains(errs, "tcsh: no such shell; there are kubectl") {
		t.Errorf("tcsh: code %d, stderr %s", code, errs)
	}
}
