// Package helm has Helm itself install and upgrade charts on a real API server, and holds to it what the program makes
// of the releases. It is a module of its own, so that Helm is in no list of what the program is made of.
package helm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"
)

// releaseName is that of every release, each in a namespace of its own.
const releaseName = "r"

// modes are the ways in which Helm writes and stores.
var modes = []mode{{"server-side", "secret", true}, {"client-side", "configmap", false}}

type mode struct {
	name, driver string
	serverSide   bool
}

// TestTakenOver plays each chart of testdata: Helm installs its old form, others edit the objects, and files that say
// what the new form says take them over. Then Helm upgrades to that form.
func TestTakenOver(t *testing.T) {
	kube.ManagedFieldsManager = "helm" // as of the program helm
	server := start(t)
	charts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(charts) < 20 {
		t.Fatalf("%d charts, %v", len(charts), err)
	}
	for _, file := range charts {
		server.define(t, read(t, server, file)["crds.yaml"])
	}
	t.Run("all", func(t *testing.T) {
		for _, file := range charts {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, m := range modes {
					t.Run(m.name, func(t *testing.T) { play(t, server.in(t, "helm-"+name+"-"+m.name), file, m) })
				}
			})
		}
	})
}

// secrets is how every value of a Secret begins in the charts, also in base64.
var secrets = regexp.MustCompile(`PLANTED|UExBTlRFR`)

func play(t *testing.T, p place, file string, m mode) {
	parts := read(t, p, file)
	h := p.helm(t, m)
	h.install(t, parts)
	if r := p.runs(p.merge, "drift", "--release="+releaseName, "-v=9"); r.code != 0 {
		t.Errorf("no object was edited, and there is drift:\n%s", r)
	}
	p.write(t, "new.yaml", h.rendered(t, parts))
	for line := range strings.Lines(parts["drift"]) {
		p.must(t, p.kubectl, command(line)...)
	}
	if r := p.runs(p.merge, "drift", "--release="+releaseName); r.code != 1 {
		t.Errorf("what others have edited is no drift:\n%s", r)
	}
	if r := p.runs(p.merge, "diff", "-f", "new.yaml", "--original=helm:"+releaseName); r.code != 1 {
		t.Errorf("diff: %s", r)
	}
	stored := p.releases(t)
	merged := p.must(t, p.merge, "-f", "new.yaml", "--original=helm:"+releaseName)
	named(t, merged.stderr, parts["named"])
	p.wants(t, parts["want.yaml"])
	if r := p.must(t, p.merge, "-f", "new.yaml"); strings.Contains(r.stdout, "configured") {
		t.Errorf("merged again without Helm: %s", r)
	}
	if now := p.releases(t); now != stored {
		t.Errorf("the release was written: %s, was %s", now, stored)
	}
	before := p.live(t)
	h.upgrade(t, parts)
	reverts := strings.HasPrefix(parts["reverted"], m.name+": ") // what Helm does to others' values by itself
	if after := p.live(t); reflect.DeepEqual(before, after) == reverts {
		t.Errorf("the upgrade to the same manifests has changed\n%s\nto\n%s", show(before), show(after))
	}
	if r := p.runs(p.merge, "diff", "-f", "new.yaml"); r.code != 0 {
		t.Errorf("after the upgrade: %s", r)
	}
}

// read returns the parts of a chart, with the namespace in place of $NS.
func read(t *testing.T, p place, file string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, f := range a.Files {
		parts[f.Name] = strings.ReplaceAll(string(f.Data), "$NS", p.namespace)
	}
	return parts
}

// define installs definitions of custom resources, and waits until the server lists their kinds. Helm has the same
// definitions in its charts; it waits until they are established, which is a moment before that.
func (p place) define(t *testing.T, text string) {
	t.Helper()
	if text == "" {
		return
	}
	p.write(t, "crds.yaml", text)
	p.must(t, p.kubectl, "apply", "-f", "crds.yaml")
	name := strings.TrimSpace(p.must(t, p.kubectl, "get", "-f", "crds.yaml", "-o", "jsonpath={.metadata.name}").stdout)
	for end := time.Now().Add(timeout); ; time.Sleep(100 * time.Millisecond) {
		if r := p.runs(p.kubectl, "api-resources", "-o", "name", "--cache-dir", t.TempDir()); strings.Contains(r.stdout, name) {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%s is not served: %s", name, r)
		}
	}
}

// command splits a line at spaces; JSON in it has none.
func command(line string) []string { return strings.Fields(line) }

// lossNote is a note about another manager's value.
var lossNote = regexp.MustCompile(`(?m)^note: (.* (?:overwritten with|removed).*)$`)

// named requires that the notes are those of the chart, no more and no fewer.
func named(t *testing.T, stderr, want string) {
	t.Helper()
	notes := lossNote.FindAllString(stderr, -1)
	lines := strings.Split(strings.TrimSpace(want), "\n")
	if strings.TrimSpace(want) == "" {
		lines = nil
	}
	for _, line := range lines {
		if !regexp.MustCompile(line).MatchString(strings.Join(notes, "\n")) {
			t.Errorf("nothing names %s", line)
		}
	}
	if len(notes) != len(lines) {
		t.Errorf("%d notes, want %d:\n%s", len(notes), len(lines), stderr)
	}
}

// wants requires that live objects have what the chart says.
func (p place) wants(t *testing.T, text string) {
	t.Helper()
	for doc := range strings.SplitSeq(text, "\n---\n") {
		var want map[string]any
		if err := yaml.Unmarshal([]byte(doc), &want); err != nil {
			t.Fatal(err)
		}
		meta := want["metadata"].(map[string]any)
		target := fmt.Sprintf("%s/%s", want["kind"], meta["name"])
		var got any
		if err := json.Unmarshal([]byte(p.must(t, p.kubectl, "get", target, "-o", "json").stdout), &got); err != nil {
			t.Fatal(err)
		}
		if why := mismatch(want, got, target); why != "" {
			t.Errorf("%s\n%s", why, show(got))
		}
	}
}

// mismatch states where got lacks something of want: fields may be more, entries of lists may not, in any order.
// "$absent" is no field. "" if nothing is lacking.
func mismatch(want, got any, at string) string {
	switch want := want.(type) {
	case map[string]any:
		has, _ := got.(map[string]any)
		for name, w := range want {
			g, found := has[name]
			switch why := mismatch(w, g, at+"."+name); {
			case w == "$absent" && found:
				return at + "." + name + " is there"
			case w != "$absent" && why != "":
				return why
			}
		}
		return ""
	case []any:
		has, _ := got.([]any)
		if len(has) != len(want) {
			return fmt.Sprintf("%s has %d entries, want %d", at, len(has), len(want))
		}
		taken := map[int]bool{}
		for _, w := range want {
			n := -1
			for i, g := range has {
				if !taken[i] && mismatch(w, g, "") == "" {
					n = i
				}
			}
			if n < 0 {
				return fmt.Sprintf("%s has no entry %v", at, w)
			}
			taken[n] = true
		}
		return ""
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

func show(v any) string {
	text, _ := yaml.Marshal(v)
	return string(text)
}

// live returns the objects of the new manifests, without what every write changes.
func (p place) live(t *testing.T) any {
	t.Helper()
	var got any
	if err := json.Unmarshal([]byte(p.must(t, p.kubectl, "get", "-f", "new.yaml", "-o", "json").stdout), &got); err != nil {
		t.Fatal(err)
	}
	items, isList := got.(map[string]any)["items"].([]any)
	if !isList {
		items = []any{got}
	}
	for _, o := range items {
		delete(o.(map[string]any)["metadata"].(map[string]any), "resourceVersion")
	}
	return items
}

// releases returns the versions of the objects that store releases.
func (p place) releases(t *testing.T) string {
	t.Helper()
	return p.must(t, p.kubectl, "get", "secrets,configmaps", "-l", "owner=helm", "-o", "jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion} {end}").stdout
}

// helm is Helm in one namespace.
type helm struct {
	config     *action.Configuration
	namespace  string
	serverSide bool
}

func (p place) helm(t *testing.T, m mode) helm {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(true)
	cache := filepath.Join(p.folder, "cache")
	flags.KubeConfig, flags.Namespace, flags.CacheDir = &p.kubeconfig, &p.namespace, &cache
	h := helm{action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)), p.namespace, m.serverSide}
	if err := h.config.Init(flags, p.namespace, m.driver); err != nil {
		t.Fatal(err)
	}
	return h
}

// chartOf returns the old or the new form of a chart.
func chartOf(t *testing.T, parts map[string]string, form, version string) *chart.Chart {
	t.Helper()
	files := []*archive.BufferedFile{
		{Name: "Chart.yaml", Data: []byte("apiVersion: v2\nname: shop\nversion: " + version + "\n")},
		{Name: "templates/all.yaml", Data: []byte(parts[form])},
	}
	if crds := parts["crds.yaml"]; crds != "" {
		files = append(files, &archive.BufferedFile{Name: "crds/all.yaml", Data: []byte(crds)})
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (h helm) install(t *testing.T, parts map[string]string) {
	t.Helper()
	i := action.NewInstall(h.config)
	i.ReleaseName, i.Namespace, i.ServerSideApply, i.WaitStrategy, i.Timeout = releaseName, h.namespace, h.serverSide, kube.HookOnlyStrategy, timeout
	if _, err := i.Run(chartOf(t, parts, "old.yaml", "1.0.0"), nil); err != nil {
		t.Fatalf("helm install: %v", err)
	}
}

func (h helm) upgrade(t *testing.T, parts map[string]string) {
	t.Helper()
	if _, err := h.upgrading().Run(releaseName, chartOf(t, parts, "new.yaml", "1.0.1"), nil); err != nil {
		t.Errorf("helm upgrade: %v", err)
	}
}

func (h helm) upgrading() *action.Upgrade {
	u := action.NewUpgrade(h.config)
	u.Namespace, u.WaitStrategy, u.Timeout = h.namespace, kube.HookOnlyStrategy, timeout
	return u
}

// rendered returns the new manifests, as helm template prints them.
func (h helm) rendered(t *testing.T, parts map[string]string) string {
	t.Helper()
	u := h.upgrading()
	u.DryRunStrategy = action.DryRunClient
	r, err := u.Run(releaseName, chartOf(t, parts, "new.yaml", "1.0.1"), nil)
	if err != nil {
		t.Fatalf("helm upgrade --dry-run: %v", err)
	}
	return r.(*release.Release).Manifest
}

// ran is how a program has ended.
type ran struct {
	args           []string
	code           int
	stdout, stderr string
}

func (r ran) String() string {
	return fmt.Sprintf("%s: exit code %d\n%s%s", strings.Join(r.args, " "), r.code, r.stdout, r.stderr)
}

// runs runs a program in the namespace.
func (p place) runs(program string, args ...string) ran {
	var out, errs bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.folder, &out, &errs
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig, "HOME="+p.folder)
	_ = cmd.Run() // the code says it
	r := ran{append([]string{filepath.Base(program)}, args...), cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	if program == p.merge && secrets.MatchString(r.stdout+r.stderr) {
		p.t.Errorf("a Secret's value is printed: %s", r)
	}
	return r
}

// must is runs of what has to end well.
func (p place) must(t *testing.T, program string, args ...string) ran {
	t.Helper()
	r := p.runs(program, args...)
	if r.code != 0 {
		t.Fatal(r)
	}
	return r
}
