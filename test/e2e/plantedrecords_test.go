package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// records writes plans and records in every way that a run can end, has others change the
// objects meanwhile, and takes the records back. The documents are searched, too.
func (g *garden) records(t *testing.T) {
	for _, what := range []string{"secret", "other"} {
		g.planned(t, what)
		g.undone(t, what)
	}
	g.recreations(t)
	g.rollbacks(t)
	g.deletions(t)
	g.shown(t)
	g.documents(t)
}

// loud runs a command at the highest level of logs that hides what it is about.
func (g *garden) loud(t *testing.T, args ...string) said {
	t.Helper()
	level := 9
	if !onlySecrets(args) {
		level = 7
	}
	return g.at(t, g.user, level, false, args...)
}

// kept stores a document that a command has printed.
func (g *garden) kept(name string, got said) string { return g.user.file(name, got.stdout) }

// others change objects of the garden: by an apply of their own, whose annotation has the
// values, and without one.
func (g *garden) others(t *testing.T, refs ...string) {
	t.Helper()
	for i, ref := range refs {
		kind, name, _ := strings.Cut(ref, "/")
		theirs := map[string]func(name, whose string) map[string]any{"secret": g.copied, "deployment": g.deployment, "configmap": g.config}[kind](name, "others")
		if name == "typed" {
			theirs["type"] = "example.com/a"
		}
		if i%2 == 0 {
			g.user.file("secret-theirs.yaml", yamlDocuments(t, theirs))
			g.user.does("kubectl", "apply", "-f", "secret-theirs.yaml", "--field-manager=rival")
			continue
		}
		g.user.does("kubectl", "patch", ref, "--field-manager=rival", "--type=merge", "-p", jsonOf(t, theirs))
	}
}

// changed are the objects of the garden's files that others change.
var changed = map[string][]string{"secret": {"secret/one", "secret/two"}, "other": {"deployment/d", "configmap/c"}}

// planned makes plans and has runs bound to them: that carry them out, that would do more
// since others have changed the objects or the input is another one, and that do nothing.
func (g *garden) planned(t *testing.T, what string) {
	v1, v2, plan := what+"-v1.yaml", what+"-v2.yaml", what+"-plan.yaml"
	for _, how := range [][]string{{}, {"--server-side", "--force-conflicts"}, {"--policy=live"}, {"--policy=strict"}} {
		args := append([]string{"--rules=rules.yaml"}, how...)
		g.user.does("kubectl", "apply", "-f", v1)
		g.others(t, changed[what]...)
		g.kept(plan, g.loud(t, append([]string{"diff", "-f", v2, "-o", "plan"}, args...)...))
		g.loud(t, append([]string{"-f", v1, "--plan", plan}, args...)...) // another input
		g.loud(t, append([]string{"-f", v2, "--plan", plan, "--dry-run"}, args...)...)
		g.loud(t, append([]string{"-f", v2, "--plan", plan, "--dry-run=server", "--notes=json"}, args...)...)
		g.others(t, changed[what][1], changed[what][0])
		g.loud(t, append([]string{"-f", v2, "--plan", plan}, args...)...) // they have other values now
		g.kept(plan, g.loud(t, append([]string{"-f", v2, "-o", "plan"}, args...)...))
		for range 2 { // the second time all of it is in place
			g.loud(t, append([]string{"-f", v2, "--plan", plan}, args...)...)
		}
	}
}

// undone records runs, has others change the objects, and undoes the records, which is
// recorded as well.
func (g *garden) undone(t *testing.T, what string) {
	for i, policy := range []string{"strict", "live", "apply"} {
		g.user.does("kubectl", "apply", "-f", what+"-v1.yaml")
		record, again := fmt.Sprintf("%s-record-%d.yaml", what, i), fmt.Sprintf("%s-record-undone-%d.yaml", what, i)
		g.loud(t, "-f", what+"-v2.yaml", "--rules=rules.yaml", "--record", record)
		g.others(t, changed[what][0])
		for _, how := range []string{"--dry-run=server", "--partial", "--notes=json"} {
			g.loud(t, "undo", record, how, "--dry-run")
		}
		for _, f := range g.forms {
			if len(f.verb) > 0 && f.verb[0] == "undo" {
				g.run(t, f.asked, append([]string{"undo", record, "--dry-run", "--policy=" + policy}, f.output()...)...)
			}
		}
		g.loud(t, "undo", record, "--policy="+policy, "--record", again)
		g.loud(t, "undo", record, "--policy="+policy, "--partial", "--record", "secret-partly-"+again)
		g.loud(t, "undo", again, "--dry-run", "-o=diff")
		g.loud(t, "undo", again, "--policy="+policy)
	}
}

// quotes has the server refuse, and quote a value of a Secret.
func quotes(code int, secret map[string]any) harm {
	return refuse(code, "Invalid", fmt.Sprint("the value is ", at(secret, []any{"stringData", "t0"})))
}

// typed is a Secret of a type, which can be set only once.
func (g *garden) typed(name, whose, kind string) map[string]any {
	s := g.secret(name, whose)
	s["type"] = "example.com/" + kind
	return s
}

// recreations delete Secrets and create them again, also where the server refuses to.
func (g *garden) recreations(t *testing.T) {
	p, err := newProxy(g.user.server.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	sick := g.user.proxied(p)
	was, local := g.typed("typed", "applied", "a"), g.typed("typed", "local", "b")
	old, now := g.user.file("secret-typed-v1.yaml", g.commented(t, "applied", was)), g.user.file("secret-typed-v2.yaml", g.commented(t, "local", local))
	for i, harm := range []harm{nil, quotes(422, local), quotes(403, local), cutBefore} {
		g.user.does("kubectl", "delete", "secret", "typed", "--ignore-not-found")
		g.user.does("kubectl", "apply", "-f", old)
		g.others(t, "secret/typed")
		g.kept("secret-plan.yaml", g.loud(t, "diff", "-f", now, "--recreate=Secret", "-o", "plan"))
		for _, how := range []string{"", "--recreate=ConfigMap", "--recreate=Secret --dry-run", "--recreate=Secret --dry-run=server", "--recreate=Secret -o=diff"} {
			g.loud(t, append([]string{"-f", now}, strings.Fields(how)...)...)
		}
		if harm != nil {
			p.fails(fault{hits: func(request string) bool {
				return strings.HasPrefix(request, "POST") && strings.Contains(request, "/secrets") && !strings.Contains(request, "dryRun")
			}, do: harm, most: 1 + i%2})
		}
		record := fmt.Sprintf("secret-recreated-%d.yaml", i)
		g.at(t, sick, 9, false, "-f", now, "--recreate=Secret", "--plan=secret-plan.yaml", "--record", record)
		p.heals()
		for _, how := range []string{"--dry-run", "--policy=live --dry-run -o=diff", "--policy=apply --record=secret-undone-" + record} {
			g.loud(t, append([]string{"undo", record}, strings.Fields(how)...)...)
		}
	}
}

// rollbacks are runs that fail and roll back what they wrote: what they keep in memory for
// that has the values.
func (g *garden) rollbacks(t *testing.T) {
	p, err := newProxy(g.user.server.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	sick := g.user.proxied(p)
	bad := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n"
	one := g.copied("one", "local")
	g.user.file("secret-rolled.yaml", g.commented(t, "local", one, g.secret("two", "local"), g.secret("added", "local"), g.typed("typed", "local", "c"))+bad)
	said := quotes(422, one)
	for i, f := range []*fault{
		nil,
		{hits: about("WRITE", "/secrets/one"), do: said, skip: 1},             // the rollback is refused
		{hits: about("WRITE", "/secrets/two"), do: cutAfter},                  // whether it was written is not known
		{hits: of("WRITE"), do: refuse(409, "Conflict", "modified"), most: 3}, // all is merged again
		{hits: of("WRITE"), do: said, skip: 3},
	} {
		g.others(t, changed["secret"]...)
		if f != nil {
			p.fails(*f)
		}
		g.at(t, sick, 9, false, "-f", "secret-rolled.yaml", "--preflight=false", "--rollback-on-failure", "--recreate=Secret", "--concurrency=1",
			"--record", fmt.Sprintf("secret-rolled-record-%d.yaml", i))
		p.heals()
	}
	g.at(t, sick, 9, false, "-f", "secret-rolled.yaml", "--preflight=false", "--rollback-on-failure", "--notes=json", "-o=name")
	// Records of what was rolled back as a whole are gone; this one stays.
	g.at(t, sick, 9, false, "-f", "secret-rolled.yaml", "--preflight=false", "--recreate=Secret", "--concurrency=1", "--record", "secret-failed-record.yaml")
}

// deletions prune Secrets, and take that back.
func (g *garden) deletions(t *testing.T) {
	g.user.file("secret-set.yaml", yamlDocuments(t, g.copied("member", "applied"), g.secret("pruned", "applied")))
	g.user.file("secret-set-less.yaml", yamlDocuments(t, g.copied("member", "local")))
	set := []string{"--prune", "--applyset=shop", "--yes"}
	g.loud(t, append([]string{"-f", "secret-set.yaml"}, set...)...)
	g.others(t, "secret/member", "secret/pruned")
	g.kept("secret-plan.yaml", g.loud(t, append([]string{"diff", "-f", "secret-set-less.yaml", "-o", "plan"}, set...)...))
	g.loud(t, append([]string{"-f", "secret-set-less.yaml", "--plan", "secret-plan.yaml", "--record", "secret-pruned.yaml"}, set...)...)
	for _, how := range []string{"--dry-run", "--policy=live --dry-run -o=diff", "--partial --record=secret-pruned-undone.yaml"} {
		g.loud(t, append([]string{"undo", "secret-pruned.yaml"}, strings.Fields(how)...)...)
	}
}

// shown undoes a record that has the values, without asking for them to be shown: they are
// restored, and printed nowhere.
func (g *garden) shown(t *testing.T) {
	was := g.typed("shown", "applied", "a")
	g.user.file("secret-shown-v1.yaml", yamlDocuments(t, was, g.copied("two", "applied")))
	g.user.file("secret-shown-v2.yaml", yamlDocuments(t, g.typed("shown", "local", "b"), g.copied("two", "local"), g.copied("new", "local")))
	for _, v := range []string{"secret-v2.yaml", "secret-shown-v1.yaml"} {
		g.user.does("kubectl", "delete", "-f", v, "--ignore-not-found")
	}
	g.user.does("kubectl", "apply", "-f", "secret-shown-v1.yaml")
	g.others(t, "secret/two")
	now := []string{"-f", "secret-shown-v2.yaml", "--recreate=Secret", "--show-secrets", "--record", "secret-values.yaml"}
	if got := g.at(t, g.user, 9, false, now...); got.code != 0 {
		t.Errorf("a record with the values: %s", got)
	}
	text, err := os.ReadFile(filepath.Join(g.user.dir, "secret-values.yaml"))
	if err != nil || g.find(string(text)) == "" {
		t.Errorf("the record of a run with --show-secrets does not have the values: %v", err)
	}
	g.others(t, "secret/two")
	for _, how := range []string{"", "--policy=live", "--policy=apply", "--policy=live -o=diff", "--policy=apply -o=plan", "--policy=apply -o=explain", "--policy=apply -o=markdown", "--notes=json"} {
		g.loud(t, append([]string{"undo", "secret-values.yaml", "--dry-run"}, strings.Fields(how)...)...)
	}
	p, err := newProxy(g.user.server.config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.http.Close()
	sick := g.user.proxied(p)
	p.fails(fault{hits: of("WRITE", "DRYRUN"), do: quotes(422, was)})
	g.at(t, sick, 9, false, "undo", "secret-values.yaml", "--policy=apply")
	g.at(t, sick, 9, false, "undo", "secret-values.yaml", "--policy=apply", "--partial")
	p.heals()
	if got := g.loud(t, "undo", "secret-values.yaml", "--policy=apply", "--record", "secret-values-undone.yaml"); got.code != 0 {
		t.Errorf("a record with the values is not undone: %s", got)
	}
	g.must(t, os.Remove(filepath.Join(g.user.dir, "secret-values.yaml")))
}

func (g *garden) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// documents searches all plans and records that are left.
func (g *garden) documents(t *testing.T) {
	found := 0
	there, err := os.ReadDir(g.user.dir)
	g.must(t, err)
	for _, e := range there {
		if e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(g.user.dir, e.Name()))
		g.must(t, err)
		if strings.HasPrefix(string(text), "apiVersion: kubectl-merge.dev/") {
			found++
			g.looked++
			g.search(t, e.Name(), string(text))
		}
	}
	if found < 20 {
		t.Errorf("only %d plans and records were searched", found)
	}
	t.Logf("%d plans and records searched", found)
}
