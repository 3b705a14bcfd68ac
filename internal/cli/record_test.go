package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// confServer is a server with the live object of localConf and with the namespace that a plan
// knows its cluster by.
func confServer() *answers {
	return &answers{by: map[string][]string{
		"GET " + confPath:                    {servedConf()},
		"GET /api/v1/namespaces/kube-system": {`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"cluster-1"}}`},
	}}
}

// written is confServer after localConf was merged.
func written() *answers {
	a := confServer()
	a.by["GET "+confPath] = []string{strings.Replace(served("ConfigMap", "conf", `{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"conf","namespace":"shop"}}`, `{"a":"2","others":"stays"}`), `"resourceVersion":"7"`, `"resourceVersion":"8"`, 1)}
	return a
}

// TestPlan: a merge with the plan of a diff writes what is in the plan, and nothing else.
func TestPlan(t *testing.T) {
	local, live := files(t)
	dir := t.TempDir()
	plan, other := filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "other.yaml")
	got := against(t, confServer(), "diff", "-f", local, "-o", "plan")
	got.is(t, "a plan", 1, "kind: Plan\n", "")
	if err := os.WriteFile(plan, []byte(got.out), 0o600); err != nil {
		t.Fatal(err)
	}
	a := confServer()
	against(t, a, "-f", local, "--plan", plan).is(t, "bound to it", 0, "configmap/conf configured\n", "")
	if len(a.writes()) == 0 {
		t.Error("nothing was sent")
	}
	if err := os.WriteFile(other, []byte(strings.Replace(localConf, `"2"`, `"3"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	former := filepath.Join(dir, "former.yaml")
	if err := os.WriteFile(former, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\ndata: {a: \"1\", gone: x}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	against(t, written(), "-f", local, "--plan", plan).is(t, "once more", 0, "configmap/conf unchanged\n", "")
	for _, tt := range []struct {
		reason string
		server func(a *answers)
		args   []string
		code   int
		err    string
	}{
		{"another value", nil, []string{"-f", other, "--plan", plan}, conflicted, "--plan: " + plan + " does not have what is listed"},
		{"the input has lost what was planned", func(a *answers) {
			a.by["GET "+confPath] = []string{served("ConfigMap", "conf", `{"apiVersion":"v1","data":{"a":"1","gone":"x"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"conf","namespace":"shop"}}`, `{"a":"1","gone":"x"}`)}
		}, []string{"-f", former, "--plan", plan}, conflicted, "configmap/conf: would be left as it is, and the plan has change: the input has changed"},
		{"another cluster", func(a *answers) {
			a.by["GET /api/v1/namespaces/kube-system"] = []string{`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"cluster-2"}}`}
		}, []string{"-f", local, "--plan", plan}, conflicted, "was made for another cluster"},
		{"a cluster that cannot be identified", func(a *answers) {
			a.by["GET /api/v1/namespaces/kube-system"] = []string{refusal(403, "Forbidden", "no")}
		}, []string{"-f", local, "--plan", plan}, conflicted, "and you cannot read this one's"},
		{"with a set", func(a *answers) {
			a.by["GET "+shopPath] = []string{parent("shop", "ConfigMap")}
			a.by["GET /api/v1/namespaces/shop/configmaps"] = []string{listOf()}
		}, []string{"-f", local, "--plan", plan, "--prune", "--applyset=shop", "--yes"}, conflicted, "was made without a set"},
		{"of standard input", nil, []string{"-f", local, "--plan", "-"}, failed, "is read from a file, and not from standard input"},
		{"no plan", nil, []string{"-f", local, "--plan", live}, failed, "--plan: " + live},
		{"not there", nil, []string{"-f", local, "--plan", live + "x"}, failed, "live.yamlx"},
	} {
		a := confServer()
		if tt.server != nil {
			tt.server(a)
		}
		against(t, a, tt.args...).is(t, tt.reason, tt.code, "", tt.err)
		for _, w := range a.writes() {
			if !strings.Contains(w, "?dryRun") {
				t.Errorf("%s: sent %s", tt.reason, w)
			}
		}
	}
	cut, _, _ := strings.Cut(got.out, "summary:")
	if err := os.WriteFile(other, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	against(t, confServer(), "-f", local, "--plan", other).is(t, "cut off", failed, "", ", its summary is missing: a plan is made by kubectl merge diff -o plan")
	if err := os.WriteFile(live, []byte(servedConf()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := offline(t, "diff", "-f", local, "--live", live, "-o", "plan")
	if code != 1 || !strings.Contains(out, "kind: Plan\n") {
		t.Errorf("of saved objects: code %d, %s%s", code, out, errs)
	}
	if err := os.WriteFile(other, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	against(t, confServer(), "-f", local, "--plan", other).is(t, "of saved objects", conflicted, "", "is bound to no cluster")
}

// TestRecordAndUndo: the values that a run has written are in its record, and are undone from it,
// except for those that others have changed since.
func TestRecordAndUndo(t *testing.T) {
	local, live := files(t)
	record := filepath.Join(t.TempDir(), "run.yaml")
	a := confServer()
	a.by["PATCH "+confPath] = written().by["GET "+confPath]
	against(t, a, "-f", local, "--record", record).is(t, "recorded", 0, "configmap/conf configured\n", "")
	against(t, confServer(), "-f", local, "--record", record).is(t, "the record is there", failed, "", "no record is written over")
	against(t, confServer(), "-f", local, "--record", record+"2", "--dry-run").is(t, "nothing is written", failed, "", "there is nothing to record")
	against(t, confServer(), "-f", local, "--plan", record).is(t, "a record is no plan", failed, "", "is a record of a run")

	stores := func(a *answers, value string) *answers { // what was there before the run, with this value
		a.by["PATCH "+confPath] = []string{strings.Replace(confServer().by["GET "+confPath][0], `"data":{"a":"1"`, `"data":{"a":"`+value+`"`, 1)}
		return a
	}
	b := stores(written(), "1")
	if code, _, errs := offline(t, "undo", record, "-n", "other"); code != failed || !strings.Contains(errs, "error: --namespace=other: "+record+": configmap/conf is of the namespace shop: leave -n out, since a record has the namespaces of its objects\n") {
		t.Errorf("another namespace: code %d, %s", code, errs)
	}
	against(t, b, "undo", record, "--dry-run").is(t, "shown", 0, "gone: x\n", "configmap/conf configured (dry run)\n")
	if w := b.writes(); len(w) > 0 {
		t.Errorf("a preview sent %q", w)
	}
	against(t, b, "undo", record).is(t, "taken back", 0, "configmap/conf configured\n", "")
	if w := b.writes(); len(w) != 1 || !strings.Contains(w[0], `"a":"1"`) || !strings.Contains(w[0], `"gone":"x"`) || strings.Contains(w[0], "others") {
		t.Errorf("sent %q", w)
	}

	since := func() *answers {
		a := written()
		a.by["GET "+confPath][0] = strings.Replace(a.by["GET "+confPath][0], `"data":{"a":"2"`, `"data":{"a":"by hand"`, 1)
		return a
	}
	c := since()
	against(t, c, "undo", record).is(t, "changed since", conflicted, "", `data.a: live has "by hand", the run wrote "2", and there was "1" before`)
	if w := c.writes(); len(w) > 0 {
		t.Errorf("with a conflict sent %q", w)
	}
	against(t, stores(since(), "by hand"), "undo", record, "--policy=live").is(t, "theirs stays", 0, "configmap/conf configured\n", `Warning: configmap/conf: data.a: "by hand" stays, as others have set it since`)
	against(t, stores(since(), "1"), "undo", record, "--policy=apply").is(t, "theirs is overwritten", 0, "configmap/conf configured\n", `note: configmap/conf: data.a: "by hand" is overwritten with what was there before`)

	elsewhere := written()
	elsewhere.by["GET /api/v1/namespaces/kube-system"] = []string{`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"cluster-2"}}`}
	gone := written()
	delete(gone.by, "GET "+confPath)
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	damaged := func(name, text string) string {
		name = filepath.Join(filepath.Dir(record), name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	entry, _, _ := strings.Cut(string(text), "  changes:")
	header, objects, _ := strings.Cut(string(text), "objects:\n")
	_, summary, _ := strings.Cut(objects, "summary:")
	for _, tt := range []struct {
		reason string
		server *answers
		args   []string
		code   int
		err    string
	}{
		{"of another cluster", elsewhere, []string{record}, conflicted, "error: the record was made for another cluster"},
		{"deleted since", gone, []string{record}, conflicted, "configmap/conf: is not undone: "},
		{"no record", written(), []string{live}, failed, "live.yaml"},
		{"two records", written(), []string{record, record}, failed, "name one record, as an argument, which is undone as a whole: "},
		{"a policy that is none", written(), []string{record, "--policy=no"}, failed, "--policy=no: must be strict, live or apply"},
		{"a policy of merges", since(), []string{record, "--policy=merge3"}, failed, "--policy=merge3: must be strict, live or apply"},
		{"cut off behind outcome and written", written(), []string{damaged("cut.yaml", entry)}, failed, ", its summary is missing: " + unrepeatable},
		{"without its objects", written(), []string{damaged("lost.yaml", header+"objects: []\nsummary:"+summary)}, failed, "summary.change: is 1, and 0 are listed: it was edited, or objects of it are lost: " + unrepeatable},
		{"broken", written(), []string{damaged("bad.yaml", entry+" x\n")}, failed, ": " + unrepeatable},
		{"of another version", written(), []string{damaged("v9.yaml", strings.Replace(string(text), "v1alpha1", "v9", 1))}, failed, "another version of kubectl merge has written it, and reads it: " + unrepeatable},
		{"no concurrency", written(), []string{record, "--concurrency=0"}, failed, "must be at least 1"},
		{"an unknown printer", written(), []string{record, "-o", "xml"}, failed, "xml"},
	} {
		against(t, tt.server, append([]string{"undo"}, tt.args...)...).is(t, tt.reason, tt.code, "", tt.err)
		if w := tt.server.writes(); len(w) > 0 {
			t.Errorf("%s: sent %q", tt.reason, w)
		}
	}
}

// TestRollback: a run that fails rolls back what it has written.
func TestRollback(t *testing.T) {
	local, _ := files(t)
	both := filepath.Join(t.TempDir(), "both.yaml")
	if err := os.WriteFile(both, []byte(localConf+"---\n"+strings.Replace(localConf, "conf", "new", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	const created = "/api/v1/namespaces/shop/configmaps"
	a := confServer()
	live, now := servedConf(), written().by["GET "+confPath][0]
	a.by["GET "+confPath] = []string{live, now}
	a.by["PATCH "+confPath] = []string{now, strings.Replace(live, `"resourceVersion":"7"`, `"resourceVersion":"9"`, 1)}
	a.by["POST "+created] = []string{refusal(403, "Forbidden", "exceeded quota")}
	got := against(t, a, "-f", both, "--rollback-on-failure", "--preflight=false", "--concurrency=1")
	got.is(t, "rolled back", failed, "configmap/conf configured\n", "note: configmap/conf: rolled back: configured\n")
	if !strings.Contains(got.err, "exceeded quota") {
		t.Errorf("the failure itself is not in\n%s", got.err)
	}
	if w := slices.DeleteFunc(a.writes(), func(w string) bool { return strings.Contains(w, "?dryRun") }); len(w) != 3 || !strings.HasPrefix(w[2], "PATCH ") || !strings.Contains(w[2], `"gone":"x"`) {
		t.Errorf("sent %q", w)
	}
	ok := confServer()
	ok.by["PATCH "+confPath] = []string{now}
	against(t, ok, "-f", local, "--rollback-on-failure").is(t, "nothing to take back", 0, "configmap/conf configured\n", "")
	if w := ok.writes(); len(w) != 1 {
		t.Errorf("sent %q", w)
	}
}
