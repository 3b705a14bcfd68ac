package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
)

const shopPath = "/api/v1/namespaces/shop/secrets/shop"

// setID is the id of the set of a Secret.
func setID(name string) string {
	return applyset.Set{GroupKind: applyset.GroupKind{Kind: "Secret"}, Namespace: "shop", Name: name}.ID()
}

// parent is the Secret of a set whose members are of these kinds.
func parent(name, kinds string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":%q,"namespace":"shop","uid":"uid-%s","resourceVersion":"7","labels":{%q:%q},"annotations":{%q:"kubectl/v1.36.0",%q:%q}}}`,
		name, name, applyset.IDLabel, setID(name), applyset.ToolingAnnotation, applyset.KindsAnnotation, kinds)
}

// member is a ConfigMap of a set; more is appended to its metadata.
func member(set, name, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":"shop","uid":"uid-%s","resourceVersion":"7","labels":{%q:%q}%s}}`,
		name, name, applyset.PartOfLabel, setID(set), more)
}

// shop is a server with the set shop: a member that can be pruned, and one that Helm keeps.
func shop(members ...string) *answers {
	if len(members) == 0 {
		members = []string{member("shop", "old", ""), member("shop", "held", `,"annotations":{"helm.sh/resource-policy":"keep"}`)}
	}
	return &answers{by: map[string][]string{
		"GET " + shopPath:                               {parent("shop", "ConfigMap")},
		"GET /api/v1/namespaces/shop/secrets":           {listOf(parent("shop", "ConfigMap"))},
		"GET /api/v1/namespaces/shop/configmaps":        {listOf(members...)},
		"GET /api/v1/configmaps":                        {listOf(members...)},
		"GET /api/v1/namespaces/shop/pods":              {listOf()},
		"GET /apis/apps/v1/deployments":                 {listOf()},
		"GET /apis/apps/v1/namespaces/shop/deployments": {listOf()},
	}}
}

// TestSetsListed: sets and their members, for people and for programs.
func TestSetsListed(t *testing.T) {
	sets := func() *answers {
		a := shop()
		a.by["GET /api/v1/namespaces/shop/configmaps"] = []string{listOf()} // none is a parent
		return a
	}
	against(t, sets(), "applyset", "list").exactly(t, "a table", ended{0,
		"NAMESPACE   SET           TOOLING           KINDS       NAMESPACES   PROBLEM\nshop        secret/shop   kubectl/v1.36.0   ConfigMap   shop         \n", ""})
	against(t, sets(), "applyset", "list", "-o", "name").exactly(t, "names", ended{0, "secret/shop\n", ""})
	against(t, sets(), "applyset", "list", "-o", "json").is(t, "for programs", 0, `"id": "`+setID("shop")+`"`, "")
	none := sets()
	none.by["GET /api/v1/namespaces/shop/secrets"] = []string{listOf()}
	against(t, none, "applyset", "list").is(t, "none", 0, "", "No sets found.\n")
	against(t, none, "applyset", "list", "-o", "xml").is(t, "an unknown form", failed, "", "error: --output=xml: must be name or json\n")

	got := against(t, shop(), "applyset", "view", "shop")
	got.is(t, "members", 0, "NAMESPACE   OBJECT           IF NOT IN THE INPUT\n", "")
	for _, line := range []string{"shop        configmap/old    pruned\n", "shop        configmap/held   kept: "} {
		if !strings.Contains(got.out, line) {
			t.Errorf("%q is not in\n%s", line, got.out)
		}
	}
	against(t, shop(), "applyset", "view", "shop", "-o", "name").is(t, "names of members", 0, "configmap/old\n", "")
	against(t, shop(), "applyset", "view", "shop", "-o", "json").is(t, "members for programs", 0, `"action": "keep"`, "")
	against(t, shop(), "applyset", "view", "shop", "-o", "xml").is(t, "an unknown form of members", failed, "", "must be name or json")
	against(t, shop(), "applyset", "view", "nothing").is(t, "a set that is not there", failed, "", "error: secret/nothing: ")
}

// TestSetVerified: what the parent lacks is printed, and written only with --fix.
func TestSetVerified(t *testing.T) {
	against(t, shop(), "applyset", "verify", "shop").exactly(t, "they agree", ended{0, "secret/shop is as it should be\n", ""})
	lacking := func() *answers {
		a := shop()
		a.by["GET "+shopPath] = []string{parent("shop", "Deployment.apps")}
		return a
	}
	a := lacking()
	against(t, a, "applyset", "verify", "shop").is(t, "a kind is missing", conflicted, "secret/shop: ", "")
	if w := a.writes(); len(w) > 0 {
		t.Errorf("sent %q", w)
	}
	a = lacking()
	against(t, a, "applyset", "verify", "shop", "--fix").is(t, "it is fixed", 0, "secret/shop fixed\n", "")
	if w := a.writes(); len(w) != 1 || !strings.HasPrefix(w[0], "PATCH "+shopPath) || !strings.Contains(w[0], `"`+applyset.KindsAnnotation+`":"ConfigMap"`) {
		t.Errorf("sent %q", w)
	}
}

// TestSetAdopts: objects get the label of their new set, those of another set only if it is named.
func TestSetAdopts(t *testing.T) {
	a := shop()
	a.by["GET "+confPath] = []string{servedConf()}
	against(t, a, "applyset", "adopt", "shop", "cm/conf", "--dry-run").exactly(t, "shown", ended{0, "configmap/conf adopted (dry run)\n", ""})
	if w := a.writes(); len(w) > 0 {
		t.Errorf("a preview sent %q", w)
	}
	against(t, a, "applyset", "adopt", "shop", "cm/conf").is(t, "named", 0, "configmap/conf adopted\n", "")
	if w := strings.Join(a.writes(), "\n"); !strings.Contains(w, "PATCH "+confPath+" ") || !strings.Contains(w, setID("shop")) {
		t.Errorf("sent %s", w)
	}
	other := func() *answers {
		a := shop()
		a.by["GET "+confPath] = []string{member("old", "conf", "")}
		a.by["GET /api/v1/namespaces/shop/secrets/old"] = []string{parent("old", "ConfigMap")}
		return a
	}
	against(t, other(), "applyset", "adopt", "shop", "cm/conf").is(t, "of another set", failed, "", "--from")
	against(t, other(), "applyset", "adopt", "shop", "cm/conf", "--from=old").is(t, "from the other set", 0, "configmap/conf adopted\n", "")
	against(t, other(), "applyset", "adopt", "shop", "cm/conf", "--from="+setID("old")).is(t, "from an id", 0, "configmap/conf adopted\n", "")
	against(t, other(), "applyset", "adopt", "shop", "--from="+setID("old")).is(t, "all of an id", failed, "", "an id alone does not locate the set's members")
	against(t, other(), "applyset", "adopt", "shop", "cm/old").is(t, "not there", failed, "", "configmap/old")
	mine := shop()
	mine.by["GET "+confPath] = []string{member("shop", "conf", "")}
	against(t, mine, "applyset", "adopt", "shop", "cm/conf").is(t, "a member already", 0, "", "note: secret/shop: 1 of the objects are part of the set already\n")
}

// TestSetDisbanded: the members lose their label and the parent is deleted, once the server has
// tried all of it.
func TestSetDisbanded(t *testing.T) {
	a := shop(member("shop", "old", ""))
	const list = "GET /api/v1/configmaps"
	a.by[list] = []string{a.by[list][0], a.by[list][0], listOf()}
	a.by["GET /api/v1/namespaces/shop/configmaps/old"] = []string{member("shop", "old", "")}
	against(t, a, "applyset", "disband", "shop", "--dry-run").exactly(t, "shown", ended{0, "configmap/old left (dry run)\nsecret/shop disbanded (dry run)\n", ""})
	if w := a.writes(); len(w) > 0 {
		t.Errorf("a preview sent %q", w)
	}
	against(t, a, "applyset", "disband", "shop").exactly(t, "disbanded", ended{0, "configmap/old left\nsecret/shop disbanded\n", ""})
	var order []string
	for _, w := range a.writes() {
		order = append(order, strings.Join(strings.Fields(w)[:2], " "))
	}
	want := "PATCH /api/v1/namespaces/shop/configmaps/old?dryRun, DELETE " + shopPath + "?dryRun, PATCH /api/v1/namespaces/shop/configmaps/old, DELETE " + shopPath
	if got := strings.Join(order, ", "); got != want {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
	again := shop(member("shop", "old", "")) // it is a member still, or another one is
	against(t, again, "applyset", "disband", "shop").is(t, "a member was added", failed, "configmap/old left\n", "error: secret/shop: another run has added members meanwhile: run this again\n")
	if w := again.writes(); len(w) != 5 || !strings.HasPrefix(w[4], "PATCH "+shopPath) || !strings.Contains(w[4], `"`+applyset.KindsAnnotation+`":"ConfigMap"`) {
		t.Errorf("the parent is not made again: sent %q", w)
	}
	refused := shop(member("shop", "old", ""))
	refused.by["PATCH /api/v1/namespaces/shop/configmaps/old"] = []string{refusal(403, "Forbidden", "you shall not")}
	against(t, refused, "applyset", "disband", "shop").is(t, "refused", failed, "", "you shall not")
	for _, w := range refused.writes() {
		if !strings.Contains(w, "?dryRun") {
			t.Errorf("sent %s though its trial was refused", w)
		}
	}
}

// TestDelete: what may be deleted is, what is kept is reported, and the set with it.
func TestDelete(t *testing.T) {
	one := func() *answers { return shop(member("shop", "old", "")) }
	a := one()
	against(t, a, "applyset", "delete", "shop", "--dry-run").exactly(t, "shown", ended{0, "configmap/old deleted (dry run)\nsecret/shop deleted (dry run)\n", ""})
	if w := a.writes(); len(w) > 0 {
		t.Errorf("a preview sent %q", w)
	}
	a = one()
	for _, path := range []string{"GET /api/v1/namespaces/shop/configmaps", "GET /api/v1/configmaps"} {
		a.by[path] = []string{listOf(member("shop", "old", "")), listOf()}
	}
	against(t, a, "applyset", "delete", "shop").exactly(t, "deleted", ended{0, "configmap/old deleted\nsecret/shop deleted\n", ""})
	if w := strings.Join(a.writes(), "\n"); !strings.Contains(w, `DELETE /api/v1/namespaces/shop/configmaps/old {"`) || !strings.Contains(w, `"uid":"uid-old"`) {
		t.Errorf("sent %s", w)
	}
	kept := shop()
	against(t, kept, "applyset", "delete", "shop").is(t, "one is kept", conflicted, "configmap/old deleted\n", "note: configmap/held: kept: ")
	for _, w := range kept.writes() {
		if strings.Contains(w, "DELETE "+shopPath+" ") || strings.Contains(w, "configmaps/held") {
			t.Errorf("sent %s", w)
		}
	}
	named := one()
	named.by["GET /api/v1/namespaces/shop/pods"] = []string{listOf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"p"},"spec":{"volumes":[{"name":"v","configMap":{"name":"old"}}]},"status":{"phase":"Running"}}`)}
	against(t, named, "applyset", "delete", "shop").is(t, "a pod names it", conflicted, "", "configmap/old: kept: is still named by pod/web: to have it removed, run this again when nothing names it any more")

	var many []string
	for i := range 26 {
		many = append(many, member("shop", fmt.Sprint("old-", i), ""))
	}
	unasked := shop(many...)
	against(t, unasked, "applyset", "delete", "shop").is(t, "many, without a terminal", conflicted, "", "nothing was written or deleted: look at them with --dry-run, and confirm with --yes")
	if w := unasked.writes(); len(w) > 0 {
		t.Errorf("unconfirmed, sent %q", w)
	}
	for _, tt := range []struct{ arg, err string }{
		{"--cascade=no", "must be background, foreground or orphan"},
		{"--prune-kinds=Secret", "must be PersistentVolumeClaim or PersistentVolume"},
		{"--dry-run=no", "--dry-run"},
	} {
		against(t, one(), "applyset", "delete", "shop", tt.arg).is(t, tt.arg, failed, "", tt.err)
	}
}

// TestPrune: a merge with a set deletes what the input does not have, after what it writes.
func TestPrune(t *testing.T) {
	local, _ := files(t)
	a := shop(member("shop", "old", ""))
	a.by["GET "+confPath] = []string{servedConf()}
	against(t, a, "-f", local, "--prune", "--applyset=shop", "--yes").is(t, "pruned", 0, "configmap/conf configured\nconfigmap/old pruned\n", "")
	w := strings.Join(a.writes(), "\n")
	if write, deletion := strings.LastIndex(w, "PATCH "+confPath+" "), strings.Index(w, "DELETE /api/v1/namespaces/shop/configmaps/old {"); write < 0 || deletion < write {
		t.Errorf("sent\n%s", w)
	}
	for _, tt := range []struct {
		args []string
		err  string
	}{
		{[]string{"--prune"}, "--prune needs --applyset: what is a member of the set and not in the input is deleted"},
		{[]string{"--prune", "-l", "a=b"}, "kubectl merge applyset adopt NAME -l a=b makes"},
		{[]string{"--applyset=shop"}, "--applyset needs --prune: "},
		{[]string{"--prune", "--applyset=shop", "-l", "a=b"}, "--applyset cannot be combined with --selector: "},
		{[]string{"--prune", "--applyset=shop", "--live", local}, "--live cannot be combined with --prune: it works without a server"},
		{[]string{"--prune-kinds=PersistentVolume"}, "--prune-kinds needs --prune: "},
		{[]string{"--prune", "--all"}, "--all: is not supported"},
		{[]string{"--prune", "--prune-allowlist=v1/Pod"}, "--prune-allowlist: is not supported"},
		{[]string{"--prune", "--applyset=shop", "--cascade=no"}, "--cascade=no: must be background, foreground or orphan"},
		{[]string{"--prune", "--applyset=shop", "--prune-kinds=Secret"}, "all other kinds are pruned anyway"},
		{[]string{"--prune", "--applyset=nope/shop"}, "invalid parent reference"},
	} {
		against(t, shop(), append([]string{"-f", local}, tt.args...)...).is(t, strings.Join(tt.args, " "), failed, "", tt.err)
	}
	empty := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(empty, []byte(strings.Replace(localConf, "conf", "new", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	most := shop(member("shop", "a", ""), member("shop", "b", ""), member("shop", "c", ""))
	against(t, most, "-f", empty, "--prune", "--applyset=shop").is(t, "more than half, without a terminal", conflicted, "", "confirm with --yes")
	against(t, most, "-f", empty, "--prune", "--applyset=shop", "--dry-run").is(t, "a preview reports that it would ask", 0, "name: new", "3 of the 4 objects of the set would be deleted, more than half: a run asks first, or needs --yes")
	if w := most.writes(); len(w) > 0 {
		t.Errorf("sent %q", w)
	}
}
