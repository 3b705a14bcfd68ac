package complete

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/klog/v2"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"web","example.com/team.name":"shop"}},
"spec":{"containers":[{"name":"main","image":"nginx","args":["a","b"],"ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53}]},{"name":"side","image":"proxy"}]}}`

// TestFieldsAt: the places one step below what stands for sure, and no value.
func TestFieldsAt(t *testing.T) {
	typ, _ := schema.Builtin("", "v1", "Pod")
	const main = "spec.containers[name=main]"
	for _, tt := range []struct {
		reason, typed string
		want          []string
	}{
		{"one level at a time", "", []string{"apiVersion", "kind", "metadata", "spec"}},
		{"a single way is followed", "sp", []string{"spec.containers", main, "spec.containers[name=side]"}},
		{"two keys, one of them a default", main + ".ports[", []string{main + ".ports[containerPort=53,protocol=TCP]", main + ".ports[containerPort=53,protocol=UDP]"}},
		{"an atomic list is one value", main + ".args[", nil},
		{"a key with dots stands bare in brackets", "metadata.labels[example.com/te", []string{"metadata.labels[example.com/team.name]"}},
		{"a quote that is typed stays", `metadata.labels["ex`, []string{`metadata.labels["example.com/team.name"]`}},
		{"a leaf", main + ".im", []string{main + ".image"}},
		{"a dot within brackets is part of a value", "metadata.labels[example.", []string{"metadata.labels[example.com/team.name]"}},
		{"a bracket within quotes is part of a name", `metadata.labels["a[`, nil},
		{"nowhere", "status.", nil},
		{"nonsense", "spec..[", nil},
	} {
		all, _ := offered(fieldsAt(values.Read(t, pod), typ, tt.typed), tt.typed)
		if d := cmp.Diff(tt.want, []string(all)); d != "" {
			t.Errorf("%s: %q\n%s", tt.reason, tt.typed, d)
		}
	}
	if all, _ := offered(fieldsAt(values.Read(t, `{"spec":{"entries":[{"name":"a"}]}}`), nil, "spec.entries["), "spec.entries["); len(all) > 0 {
		t.Errorf("%q: entries of a list of an unknown type have no keys", all)
	}
}

func command(t *testing.T, args ...string) *cobra.Command {
	t.Helper()
	cmd := &cobra.Command{}
	cmd.Flags().StringSliceP("filename", "f", nil, "")
	cmd.Flags().BoolP("recursive", "R", false, "")
	cmd.Flags().String("applyset-namespace", "", "")
	cmd.SetContext(t.Context())
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// TestLocalFields: fields of the objects in files, of types that the same files define too.
func TestLocalFields(t *testing.T) {
	dir := t.TempDir()
	crd := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gates.example.com"},
"spec":{"group":"example.com","names":{"kind":"Gate","plural":"gates"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":
{"spec":{"type":"object","properties":{"bars":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}}}}}}}]}}`
	for name, text := range map[string]string{"pod.yaml": pod, "crd.yaml": crd, "gate.yaml": `{"apiVersion":"example.com/v1","kind":"Gate","metadata":{"name":"g"},"spec":{"bars":[{"id":"north"}]}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, directive := LocalFields(command(t, "-f", filepath.Join(dir, "pod.yaml")), nil, "spec.containers[name=s")
	if want := []string{"spec.containers[name=side]", "spec.containers[name=side].image", "spec.containers[name=side].name"}; !slices.Equal(got, want) || directive != cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace {
		t.Errorf("%q, %d", got, directive)
	}
	if got, _ := LocalFields(command(t, "-f", dir), nil, "spec.bars["); !slices.Contains(got, "spec.bars[id=north].id") {
		t.Errorf("%q: the definition beside it has the list's keys", got)
	}
	for _, args := range [][]string{nil, {"-f", "-"}, {"-f", filepath.Join(dir, "none.yaml")}} {
		if got, directive := LocalFields(command(t, args...), nil, ""); len(got) > 0 || directive != cobra.ShellCompDirectiveNoFileComp {
			t.Errorf("%q: %q, %d", args, got, directive)
		}
	}
}

func TestWhichArgument(t *testing.T) {
	if got, directive := (&Server{Quiet: func() {}}).OneSet()(command(t), []string{"one"}, "o"); len(got) > 0 || directive != cobra.ShellCompDirectiveNoFileComp {
		t.Errorf("%q, %d", got, directive)
	}
	objects, fields := Words("object"), Words("field")
	for _, tt := range []struct {
		cmd    *cobra.Command
		fields cobra.CompletionFunc
		want   []string
	}{
		{command(t), fields, []string{"object"}},
		{command(t, "-f", "x"), fields, []string{"field"}},
		{command(t, "-f", "x"), cobra.NoFileCompletions, nil},
	} {
		if got, _ := UnlessFiles(objects, tt.fields)(tt.cmd, nil, ""); !slices.Equal(got, tt.want) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestValues: what the tables of the program have, with what it does.
func TestValues(t *testing.T) {
	if got := Policies(); len(got) != len(merge.Policies) || !strings.HasPrefix(got[0], merge.Policies[0].Name+"\tonly local moved: ") {
		t.Errorf("%q", got)
	}
	if got := Strategies(); len(got) != len(strategy.Strategies) || got[0] != strategy.Strategies[0].Name+"\t"+strategy.Strategies[0].Help {
		t.Errorf("%q", got)
	}
	for typed, want := range map[string]int{"": 5, "m": 1, "old.y": 0} {
		if got, directive := (&Server{}).Originals()(nil, nil, typed); len(got) != want || directive != cobra.ShellCompDirectiveDefault {
			t.Errorf("%q: %q, %d", typed, got, directive)
		}
	}
	for _, tt := range []struct {
		f    cobra.CompletionFunc
		n    int
		want cobra.ShellCompDirective
	}{
		{Manifests, 3, cobra.ShellCompDirectiveFilterFileExt},
		{Folders, 0, cobra.ShellCompDirectiveFilterDirs},
		{Files, 0, cobra.ShellCompDirectiveDefault},
	} {
		if got, directive := tt.f(nil, nil, ""); len(got) != tt.n || directive != tt.want {
			t.Errorf("%q, %d", got, directive)
		}
	}
}

// TestKubeconfig: the names in it are completed without a server; one that is not there
// completes nothing and prints nothing.
func TestKubeconfig(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: dev,
contexts: [{name: prod, context: {cluster: far, user: me}}, {name: dev, context: {cluster: near, user: me}}],
clusters: [{name: near, cluster: {server: "http://127.0.0.1:1"}}, {name: far, cluster: {server: "http://127.0.0.1:1"}}],
users: [{name: me, user: {}}]}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &config
	quiet := 0
	none := errors.New("no connection")
	s := &Server{Flags: flags, Quiet: func() { quiet++; klog.SetLogger(klog.Logger{}) }, Connect: func() (*cluster.Cluster, error) { return nil, none }}
	for _, tt := range []struct {
		name  string
		f     cobra.CompletionFunc
		args  []string
		typed string
		want  []string
	}{
		{"contexts", s.Contexts(), nil, "", []string{"dev", "prod"}},
		{"those that begin so", s.Contexts(), nil, "p", []string{"prod"}},
		{"clusters", s.Clusters(), nil, "", []string{"far", "near"}},
		{"users", s.Users(), nil, "", []string{"me"}},
		{"namespaces of a server that is down", s.Namespaces(), nil, "", nil},
		{"types of a server that is down", s.TypeOrName(), nil, "", nil},
		{"names of a server that is down", s.TypeOrName(), nil, "pod/", nil},
		{"names behind a type", s.TypeOrName(), []string{"pod"}, "", nil},
		{"objects of a server that is down", s.Objects(), nil, "pod/", nil},
		{"types of objects", s.Objects(), nil, "", nil},
		{"sets without a connection", s.Sets(), nil, "", nil},
		{"objects behind a set", s.SetOrObject(), []string{"shop"}, "pod/", nil},
		{"a set", s.SetOrObject(), nil, "", nil},
		{"fields of an object", s.Disowned, []string{"pod/web"}, "", nil},
		{"an object to give up fields of", s.Disowned, nil, "pod/", nil},
	} {
		before := quiet
		got, directive := tt.f(command(t), tt.args, tt.typed)
		if !slices.Equal(got, tt.want) || directive != cobra.ShellCompDirectiveNoFileComp || quiet == before {
			t.Errorf("%s: %q, %d; quiet: %t", tt.name, got, directive, quiet > before)
		}
	}
}

func TestScript(t *testing.T) {
	root := &cobra.Command{Use: "kubectl-merge", Run: func(*cobra.Command, []string) {}}
	for shell, want := range map[string]string{
		"bash": "complete -o default", "zsh": "#compdef kubectl-merge", "fish": "(string escape -- (commandline -opc))",
		"powershell": "Register-ArgumentCompleter", "kubectl": "kubectl-merge",
	} {
		var out bytes.Buffer
		if err := Script(root, shell, &out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v: %q is not in\n%.300s", shell, err, want, out.String())
		}
	}
	if err := Script(root, "tcsh", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "no such shell") {
		t.Errorf("%v", err)
	}
}
