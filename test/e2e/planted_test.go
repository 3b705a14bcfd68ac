package e2e

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestPlanted plants values in every place that this project promises to hide, has every
// verb print in every form with every level of logs, and looks for the values in what comes
// out, in every file that is left or was written on the way, and in the arguments of what
// was run. It reports how many values stood in which place and how many commands were
// looked at; see the places below, and SECURITY.md for what is not promised.
func TestPlanted(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	g := newGarden(t, s)
	g.cluster(t)
	g.reports(t)
	g.files(t)
	g.configurations(t)
	g.mistakes(t)
	g.refusals(t)
	g.records(t)
	g.credentials(t)
	g.written(t)
	total := 0
	for _, n := range g.planted.counts {
		total += n
	}
	if total < 160 {
		t.Errorf("only %d values were planted", total)
	}
	t.Logf("%d values in %d places, %d commands, %d files looked at; %s", total, len(g.planted.counts), g.commands, g.looked, g.planted)
}

// garden is a folder, a namespace and a kubeconfig full of planted values.
type garden struct {
	*planter
	user     *user
	planted  *tally
	forms    []shownForm
	log      int // level of logs, the next one each time
	commands int
	looked   int
}

func newGarden(t *testing.T, s *apiServer) *garden {
	n := seed(t)
	u := s.user(t, "planted")
	u.home = t.TempDir()
	g := &garden{planter: &planter{Rand: rand.New(rand.NewPCG(n, n))}, user: u, planted: &tally{counts: map[string]int{}}}
	g.forms = shownForms(t, u)
	for _, dir := range []string{"tmp", "saved"} {
		if err := os.Mkdir(filepath.Join(u.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// in is a new value for a place.
func (g *garden) in(place string) string {
	g.planted.add(place, 1)
	return g.mark()
}

// shaped is a new value for a place, inside of a text.
func (g *garden) shaped(place, shape string) string { return fmt.Sprintf(shape, g.in(place)) }

// secret is a Secret with a value of every shape in data and in stringData.
func (g *garden) secret(name, whose string) map[string]any {
	data, text := map[string]any{}, map[string]any{}
	for i, shape := range shapes {
		data[fmt.Sprintf("d%d", i)] = encoded(g.shaped("data of a Secret, "+whose, shape))
		text[fmt.Sprintf("t%d", i)] = g.shaped("stringData of a Secret, "+whose, shape)
	}
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "data": data, "stringData": text}
}

// copied is a Secret with copies of itself in annotations.
func (g *garden) copied(name, whose string) map[string]any {
	s := g.secret(name, whose)
	notes := map[string]any{}
	for _, tool := range []string{"kapp.k14s.io/original", "kapp.k14s.io/original-diff-full", "objectset.rio.cattle.io/applied", "banzaicloud.com/last-applied"} {
		notes[tool] = fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":%q},"stringData":{"a":%q}}`, name, g.in("annotation of another tool, "+whose))
	}
	s["metadata"].(map[string]any)["annotations"] = notes
	return s
}

// deployment has passwords in the environment of its containers.
func (g *garden) deployment(name, whose string) map[string]any {
	env := func() any {
		var list []any
		for _, variable := range []string{"DB_PASSWORD", "API_TOKEN", "githubSecret", "AWS_SECRET_ACCESS_KEY"} {
			list = append(list, map[string]any{"name": variable, "value": g.in("environment variable, " + whose)})
		}
		return append(list, map[string]any{"name": "LEVEL", "value": whose})
	}
	pod := map[string]any{
		"containers":     []any{map[string]any{"name": "c", "image": "i", "env": env()}},
		"initContainers": []any{map[string]any{"name": "i", "image": "i", "env": env()}},
	}
	labels := map[string]any{"app": name}
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name}, "spec": map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels, "annotations": map[string]any{"example.com/address": g.in("field that a rule calls sensitive, " + whose)}}, "spec": pod},
	}}
}

// config is a ConfigMap with manifests of Secrets in it, and a value under a rule.
func (g *garden) config(name, whose string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{
		"a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData:\n  a: " + g.in("manifest in a ConfigMap, "+whose) + "\n",
		"b.json": fmt.Sprintf(`{"kind":"Secret","data":{"a":%q}}`, encoded(g.in("manifest in a ConfigMap, "+whose))),
		"ruled":  g.in("field that a rule calls sensitive, " + whose),
		"level":  whose,
	}}
}

const gardenRules = `- {path: 'data.ruled', kind: ConfigMap, sensitive: true}
- {path: 'spec.template.metadata.annotations["example.com/address"]', sensitive: true}
`

// commented is YAML with values in its comments too.
func (g *garden) commented(t *testing.T, whose string, all ...map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, m := range all {
		for line := range strings.Lines(yamlDocuments(t, m)) {
			b.WriteString(line)
			if strings.HasPrefix(line, "kind:") || strings.HasPrefix(line, "metadata:") {
				b.WriteString("# old: " + g.in("comment, "+whose) + "\n")
			}
		}
		b.WriteString("---\n")
	}
	return strings.TrimSuffix(b.String(), "---\n")
}

// run runs a command at the next level of logs, and searches what it prints; stdout only
// where it was not asked for the object as it is. Requests for other objects than Secrets
// are logged with their bodies at level 8 and above, which is documented.
func (g *garden) run(t *testing.T, asked bool, args ...string) said {
	t.Helper()
	g.log = (g.log + 1) % 11
	level := g.log
	if !onlySecrets(args) {
		level = g.log % 8
	}
	return g.at(t, g.user, level, asked, args...)
}

// onlySecrets: the command is about Secrets alone.
func onlySecrets(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "secret") }) && !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "other") })
}

func (g *garden) at(t *testing.T, u *user, level int, asked bool, args ...string) said {
	t.Helper()
	args = append(slices.Clone(args), fmt.Sprintf("-v=%d", level))
	cmd := u.command(t.Context(), "kubectl-merge", args...)
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(g.user.home, "tmp"), "KUBE_EDITOR=sed -i -e s/level/height/")
	got := u.ends(cmd)
	g.commands++
	g.search(t, got.line+": stderr", got.stderr)
	if !asked {
		g.search(t, got.line+": stdout", got.stdout)
	}
	return got
}

func (g *garden) search(t *testing.T, where, text string) {
	t.Helper()
	if found := g.find(text); found != "" {
		t.Errorf("%s: shows a planted value: …%q…", where, found)
	}
}

// cluster has objects in every state: applied by kubectl, whose annotation has the values,
// changed by others since, and not there at all.
func (g *garden) cluster(t *testing.T) {
	u := g.user
	u.file("rules.yaml", gardenRules)
	u.file("secret-v1.yaml", g.commented(t, "applied", g.copied("one", "applied"), g.secret("two", "applied")))
	u.file("secret-v2.yaml", g.commented(t, "local", g.copied("one", "local"), g.secret("two", "local"),
		map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{g.secret("new", "local")}}))
	u.file("other-v1.yaml", yamlDocuments(t, g.deployment("d", "applied"), g.config("c", "applied")))
	u.file("other-v2.yaml", yamlDocuments(t, g.deployment("d", "local"), g.config("c", "local"), g.deployment("e", "local")))
	u.file("secret-source.yaml", g.commented(t, "source", g.secret("one", "source")))
	u.file("secret-dest.yaml", g.commented(t, "dest", g.secret("one", "dest")))
	u.file("other-source.yaml", g.commented(t, "source", g.secret("one", "source"))+"---\n"+yamlDocuments(t, g.config("c", "source")))
	u.file("other-dest.yaml", g.commented(t, "dest", g.secret("one", "dest"))+"---\n"+yamlDocuments(t, g.config("c", "dest")))
	u.file("replace.yaml", "replacements:\n- source: {kind: Secret, name: one, fieldPath: stringData.t0}\n  targets: [{select: {kind: Secret, name: two}, fieldPaths: [stringData.t1]}]\n")
	u.does("kubectl", "apply", "-f", "secret-v1.yaml", "-f", "other-v1.yaml")
	for ref, theirs := range map[string]map[string]any{"secret/one": g.copied("one", "others"), "secret/two": g.secret("two", "others"), "deployment/d": g.deployment("d", "others"), "configmap/c": g.config("c", "others")} {
		u.does("kubectl", "patch", ref, "--field-manager=rival", "--type=merge", "-p", jsonOf(t, theirs))
	}
	u.file("secret-live.yaml", u.does("kubectl", "get", "secrets", "-o", "yaml", "--show-managed-fields").stdout)
	u.file("other-live.yaml", u.does("kubectl", "get", "deployments,configmaps", "-o", "yaml", "--show-managed-fields").stdout)
}

// files merges and rewrites files.
func (g *garden) files(t *testing.T) {
	u := g.user
	for _, how := range []string{"-o diff", "-o diff --policy=strict", "-o diff --notes=json --policy=diff3", "-o diff --policy=live"} {
		g.run(t, false, append(strings.Fields("files other-source.yaml other-dest.yaml --rules=rules.yaml --original secret-v1.yaml"), strings.Fields(how)...)...)
	}
	u.file("replace-bad.yaml", "replacements:\n- source: {kind: Secret, name: one, fieldPath: stringData.t0, options: {delimiter: '/', index: 7}}\n  targets: [{select: {kind: Secret, name: two}, fieldPaths: [stringData.t1]}]\n")
	g.run(t, false, "replacements", "replace-bad.yaml", "-f", "secret-v2.yaml", "-o", "diff")
}

// configurations looks after what was applied last.
func (g *garden) configurations(t *testing.T) {
	g.run(t, false, "view-last-applied", "deployment/d", "--rules=rules.yaml")
	g.run(t, false, "disown", "deployment/d", "spec.template.spec.containers[name=c].env[name=DB_PASSWORD].value", "-o", "diff", "--rules=rules.yaml")
	g.run(t, false, "disown", "-f", "other-v1.yaml", "-w", "data.ruled", "-o", "diff", "--rules=rules.yaml")
	g.run(t, false, "disown", "-f", "secret-v1.yaml", "-w", "stringData.t3", "-o", "diff")
	g.run(t, false, "set-last-applied", "-f", "secret-v1.yaml")
	g.run(t, false, "edit-last-applied", "secret/one")
}

// mistakes are inputs that cannot be read or built, with Secrets in them.
func (g *garden) mistakes(t *testing.T) {
	u := g.user
	for i, text := range []string{
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  a: !!%s\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nimmutable: %s\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringdata: {a: %s}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: \"not base64 %s\"}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: \"%s\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  a: %s: b\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: [%s]\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: %s\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a b: %s}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: {b: %s}}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: *%s}\n",
		"apiVersion: v1\nkind: secret\nmetadata: {name: s}\nstringData: {a: %s}\n",
		"apiVersion: core/v1\nkind: Secrets\nmetadata: {name: s}\nstringData: {a: %s}\n",
		"apiVersion: /v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: %s}\n",
		"kind: Secret\nmetadata: {name: s}\nstringData: {a: %s}\n",
		"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},\"stringData\":{\"a\":\"%s\"}",
		"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},\"stringData\":{\"a\":\"\\q%s\"}}",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n\ta: %s\n",
		"apiVersion: v1\nkind: Secret\ntype: kubernetes.io/dockerconfigjson\nmetadata: {name: s}\nstringData: {.dockerconfigjson: '{%s'}\n",
		"apiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nmetadata: {name: s}\nstringData: {tls.key: %s}\n",
	} {
		name := u.file(fmt.Sprintf("secret-bad-%d.yaml", i), fmt.Sprintf(text, g.in("file that is wrong")))
		g.run(t, false, "-f", name)
		g.run(t, false, "diff", "-f", name, "--live", "secret-live.yaml")
		g.run(t, false, "-f", "secret-v2.yaml", "--live", name, "--dry-run", "-o", "name")
		g.run(t, false, "files", name, "secret-v2.yaml", "-o", "diff")
		g.run(t, false, "set-last-applied", "-f", name)
	}
	for i, text := range []string{
		"secretGenerator: [{name: s, literals: ['%s']}]\n",
		"secretGenerator: [{name: s, literals: ['a=%s'], files: [missing.txt]}]\n",
		"secretGenerator: [{name: s, literals: ['a=%s']}, {name: s, literals: ['a=b']}]\n",
		"secretGenerator: [{name: s, literals: ['a=%s'], type: [wrong]}]\n",
		"resources: [missing.yaml]\nsecretGenerator: [{name: s, literals: ['a=%s']}]\n",
		"secretGenerator: [{name: s, envs: [env]}] # %s\n",
	} {
		dir := fmt.Sprintf("secret-k%d", i)
		if err := os.Mkdir(filepath.Join(u.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		u.file(dir+"/env", "A="+g.in("kustomization")+"\n!B C="+g.in("kustomization")+"\n")
		u.file(dir+"/kustomization.yaml", fmt.Sprintf(text, g.in("kustomization")))
		g.run(t, false, "-k", dir, "--dry-run=server")
		g.run(t, false, "diff", "-k", dir, "--live", "secret-live.yaml")
	}
	for _, form := range []string{"jsonpath={.metadata.name[0]}", "jsonpath={.data[0]}", "go-template={{.data.t0.x}}", "go-template={{index .data 1}}", "jsonpath={.missing}"} {
		g.run(t, true, "-f", "secret-v2.yaml", "--dry-run", "-o", form)
	}
}

// refusals have the server quote what was sent, in every kind of answer.
func (g *garden) refusals(t *testing.T) {
	p, err := newProxy(g.user.server.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	sick := g.user.proxied(p)
	value := g.in("what a server quotes")
	long := g.shaped("what a server quotes", "a sentence before %s, and some words that come after it")
	quoted := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "two"}, "stringData": map[string]any{"a": value, "b": long}}
	g.user.file("secret-live-quoted.yaml", yamlDocuments(t, quoted))
	g.user.does("kubectl", "apply", "-f", "secret-live-quoted.yaml")
	g.user.file("secret-quoted.yaml", yamlDocuments(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "two"},
		"stringData": map[string]any{"a": value, "b": long, "c": "new"}}))
	for _, said := range []string{value, encoded(value), fmt.Sprintf("%q", long), long[:30] + "…", long[:40] + "...", strings.ReplaceAll(jsonOf(t, map[string]any{"a": long}), `"`, `\"`), "field " + value + ": invalid"} {
		for _, code := range []int{400, 403, 404, 409, 413, 422, 429, 500, 503} {
			p.fails(fault{hits: of("WRITE", "DRYRUN"), do: refuse(code, "Invalid", "the value is "+said)})
			g.at(t, sick, g.log, false, "-f", "secret-quoted.yaml", "--notes=json")
			p.heals()
		}
		p.fails(fault{hits: of("READ", "WRITE", "DRYRUN"), do: warned("the value is " + said)})
		g.at(t, sick, g.log, false, "-f", "secret-quoted.yaml", "--dry-run=server", "-o", "name")
		g.at(t, sick, 9, false, "view-last-applied", "secret/two") // headers are logged before a value is known
		p.heals()
		g.log = (g.log + 1) % 11
	}
}

// warned has the server serve, and warn.
func warned(text string) harm {
	return func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
		server.ServeHTTP(w, r)
	}
}

// credentials are in kubeconfigs, URLs, flags, the environment, and what a plugin prints.
func (g *garden) credentials(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			http.Redirect(w, r, "http://127.0.0.1:1/?t="+r.URL.Query().Get("token"), http.StatusFound)
		case "/bad":
			fmt.Fprintf(w, "kind: Secret\nstringData: {a: !!%s}\n", r.URL.Query().Get("token"))
		default:
			http.Error(w, "no "+r.URL.String(), http.StatusForbidden)
		}
	}))
	defer web.Close()
	host := strings.TrimPrefix(web.URL, "http://")
	for _, scheme := range []string{"ftp", "s3"} {
		for _, flag := range []string{"-f", "-k"} {
			g.run(t, false, flag, fmt.Sprintf("%s://user:%s@%s/x?token=%s", scheme, g.in("URL"), host, g.in("URL")), "--dry-run")
		}
	}
	for _, path := range []string{"/gone", "/bad", "/none", "/no\x7fne", "/%zz"} {
		g.run(t, false, "-f", fmt.Sprintf("http://user:%s@%s%s?token=%s#%s", g.in("URL"), host, path, g.in("URL"), g.in("URL")), "--dry-run")
		g.run(t, false, "-k", fmt.Sprintf("http://user:%s@%s%s?token=%s", g.in("URL"), host, path, g.in("URL")), "--dry-run", "--request-timeout=2s")
	}
	for _, change := range []func(*clientcmdapi.Config){
		func(c *clientcmdapi.Config) {
			c.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: g.in("kubeconfig")}
		},
		func(c *clientcmdapi.Config) {
			c.AuthInfos["u"] = &clientcmdapi.AuthInfo{Username: "u", Password: g.in("kubeconfig")}
		},
		func(c *clientcmdapi.Config) {
			c.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientKeyData: []byte(g.in("kubeconfig")), ClientCertificateData: []byte(g.in("kubeconfig"))}
		},
		func(c *clientcmdapi.Config) {
			c.AuthInfos["u"] = &clientcmdapi.AuthInfo{TokenFile: g.user.file("token", g.in("kubeconfig"))}
		},
		func(c *clientcmdapi.Config) {
			c.AuthInfos["u"] = &clientcmdapi.AuthInfo{AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "oidc", Config: map[string]string{"id-token": g.in("kubeconfig"), "client-secret": g.in("kubeconfig")}}}
		},
		func(c *clientcmdapi.Config) {
			c.AuthInfos["u"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: "./plugin", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never",
				Env: []clientcmdapi.ExecEnvVar{{Name: "SECRET", Value: g.in("kubeconfig")}}, Args: []string{g.in("kubeconfig")}}}
		},
		func(c *clientcmdapi.Config) {
			c.Clusters[c.Contexts[c.CurrentContext].Cluster].ProxyURL = "http://u:" + g.in("kubeconfig") + "@127.0.0.1:1"
		},
		func(c *clientcmdapi.Config) {
			c.Clusters[c.Contexts[c.CurrentContext].Cluster].ProxyURL = "://" + g.in("kubeconfig") + "@x y"
		},
		func(c *clientcmdapi.Config) {
			cluster := c.Clusters[c.Contexts[c.CurrentContext].Cluster]
			cluster.Server = strings.Replace(cluster.Server, "://", "://u:"+g.in("kubeconfig")+"@", 1)
		},
	} {
		g.account(t, change)
	}
	for _, flag := range []string{"--token=%s", "--username=u --password=%s"} {
		g.run(t, false, append(strings.Fields(fmt.Sprintf(flag, g.in("flag"))), "-f", "secret-v2.yaml", "--dry-run", "-o", "name", "--cache-dir="+t.TempDir())...)
	}
}

// account runs commands by a changed kubeconfig, at the first and the last level of logs.
func (g *garden) account(t *testing.T, change func(*clientcmdapi.Config)) {
	t.Helper()
	other := *g.user
	g.user.file("plugin", "#!/bin/sh\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\""+g.in("credential plugin")+"\"}}'\n")
	if err := os.Chmod(filepath.Join(g.user.dir, "plugin"), 0o700); err != nil {
		t.Fatal(err)
	}
	other.kubeconfig = filepath.Join(g.user.dir, "kubeconfig-planted")
	other.rewrite(func(c *clientcmdapi.Config) {
		c.Contexts[c.CurrentContext].AuthInfo = "u"
		c.AuthInfos = map[string]*clientcmdapi.AuthInfo{"u": {}}
		change(c)
	})
	for _, level := range []int{0, 6, 10} {
		g.at(t, &other, level, false, "-f", "secret-v2.yaml", "--dry-run=server", "-o", "name", "--cache-dir="+filepath.Join(g.user.home, "cache-planted"))
		g.at(t, &other, level, false, "__complete", "view-last-applied", "secret/")
	}
}

// written looks at all that is left, and, where strace is there, at all that a command
// writes anywhere and starts.
func (g *garden) written(t *testing.T) {
	g.traced(t, "-f", "secret-v2.yaml", "-o", "name")
	g.traced(t, "diff", "-f", "secret-v1.yaml")
	g.traced(t, "edit-last-applied", "secret/two", "-o", "name")
	err := filepath.WalkDir(g.user.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		g.looked++
		g.search(t, path, string(text))
		return err
	})
	if err != nil || g.looked == 0 {
		t.Errorf("%d files looked at: %v", g.looked, err)
	}
	left, err := os.ReadDir(filepath.Join(g.user.home, "tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
	there, err := os.ReadDir(g.user.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range there {
		given := []string{"secret", "other", "rules", "replace", "plugin", "token", "kubeconfig", ".kubeconfig"}
		if !slices.ContainsFunc(given, func(name string) bool { return strings.HasPrefix(e.Name(), name) }) {
			t.Errorf("%s is left in the folder", e.Name())
		}
	}
}

// tracer is strace, where it is there and may trace: containers may forbid it.
func tracer(t *testing.T) (program string, ok bool) {
	t.Helper()
	program, err := exec.LookPath("strace")
	if err == nil && runtime.GOOS == "linux" {
		err = exec.Command(program, "-f", "-qq", "-o", filepath.Join(t.TempDir(), "probe"), "true").Run()
	}
	if err != nil || runtime.GOOS != "linux" {
		t.Logf("nothing can be traced here: %v", err)
		return "", false
	}
	return program, true
}

// traced runs a command under strace, and searches all that it and its children write to
// files, and the arguments that they are started with.
func (g *garden) traced(t *testing.T, args ...string) {
	t.Helper()
	tracer, ok := tracer(t)
	if !ok {
		return
	}
	program, err := exec.LookPath("kubectl-merge")
	if err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	options := []string{"-f", "-qq", "-x", "-s", "1000000", "-e", "trace=write,writev,pwrite64,execve", "-o", trace, program}
	cmd := g.user.command(t.Context(), tracer, append(options, args...)...)
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(g.user.home, "tmp"), "KUBE_EDITOR=sed -i -e s/level/height/")
	got := g.user.ends(cmd)
	g.commands++
	g.search(t, got.line, got.stdout+got.stderr)
	text, err := os.ReadFile(trace)
	if err != nil || !strings.Contains(string(text), "execve(") {
		t.Errorf("nothing was traced: %v", err)
	}
	g.looked++
	g.search(t, "what "+got.line+" writes", string(text))
}
