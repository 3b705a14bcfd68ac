package e2e

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rightsPlays plays the commands of docs/permissions.md, by how they stand there.
// Each has something to do: the ConfigMap old changes, new is not there yet.
var rightsPlays = map[string][]string{
	"kubectl merge -f FILE":                       {"-f", "both.yaml"},
	"kubectl merge -f FILE --dry-run=server":      {"-f", "both.yaml", "--dry-run=server"},
	"kubectl merge -f FILE --dry-run":             {"-f", "both.yaml", "--dry-run"},
	"kubectl merge diff -f FILE":                  {"diff", "-f", "both.yaml"},
	"kubectl merge diff -f FILE --dry-run=server": {"diff", "-f", "both.yaml", "--dry-run=server"},
	"kubectl merge diff -f FILE -o plan":          {"diff", "-f", "both.yaml", "-o", "plan"},
	"kubectl merge -f FILE --plan PLAN":           {"-f", "both.yaml", "--plan", "plan.yaml"},
	"kubectl merge -f FILE --record RECORD":       {"-f", "both.yaml", "--record", "new.yaml"},
	"kubectl merge undo RECORD":                   {"undo", "run.yaml"},
	"kubectl merge explain -f FILE":               {"explain", "-f", "both.yaml"},
	"kubectl merge drift -f FILE":                 {"drift", "-f", "both.yaml"},
	"kubectl merge absorb -f FILE":                {"absorb", "-f", "both.yaml"},
	"kubectl merge wait -f FILE":                  {"wait", "-f", "old.yaml"},
	"kubectl merge view-last-applied TYPE/NAME":   {"view-last-applied", "configmap/old"},
	"kubectl merge view-last-applied TYPE --all":  {"view-last-applied", "configmap", "--all"},
	"kubectl merge edit-last-applied TYPE/NAME":   {"edit-last-applied", "configmap/old"},
	"kubectl merge set-last-applied -f FILE":      {"set-last-applied", "-f", "old.yaml"},
	"kubectl merge disown TYPE/NAME FIELD":        {"disown", "configmap/old", "data.b"},

	"kubectl merge migrate -f FILE --to=server-side": {"migrate", "-f", "old.yaml", "--to=server-side"},

	"kubectl merge -f FILE --prune --applyset=configmaps/NAME":         {"-f", "both.yaml", "--prune", "--applyset=configmaps/shop"},
	"kubectl merge diff -f FILE --prune --applyset=configmaps/NAME":    {"diff", "-f", "both.yaml", "--prune", "--applyset=configmaps/shop"},
	"kubectl merge explain -f FILE --prune --applyset=configmaps/NAME": {"explain", "-f", "both.yaml", "--prune", "--applyset=configmaps/shop"},
	"kubectl merge drift -f FILE --applyset=configmaps/NAME":           {"drift", "-f", "both.yaml", "--applyset=configmaps/shop"},
	"kubectl merge absorb -f FILE --applyset=configmaps/NAME":          {"absorb", "-f", "both.yaml", "--applyset=configmaps/shop"},
	"kubectl merge applyset delete configmaps/NAME":                    {"applyset", "delete", "configmaps/shop"},
	"kubectl merge applyset list":                                      {"applyset", "list"},
	"kubectl merge applyset view configmaps/NAME":                      {"applyset", "view", "configmaps/shop"},
	"kubectl merge applyset verify configmaps/NAME --fix":              {"applyset", "verify", "configmaps/shop", "--fix"},
	"kubectl merge applyset adopt configmaps/NAME TYPE/NAME":           {"applyset", "adopt", "configmaps/shop", "configmap/loose"},
	"kubectl merge applyset disband configmaps/NAME":                   {"applyset", "disband", "configmaps/shop"},
}

const (
	rightsBefore = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: old}, data: {a: \"1\", b: x}}\n"
	rightsOld    = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: old}, data: {a: \"2\", b: x}}\n"
	rightsGone   = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: gone}}\n"
	rightsNew    = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}\n"
)

// TestRights holds docs/permissions.md to a real server: with the verbs that a
// command is said to need it does its work; without any one of them it names what
// is missing, and writes nothing.
func TestRights(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([a-z, ]+) \\|$").FindAllStringSubmatch(docs(t, "permissions.md"), -1)
	if len(rows) != len(rightsPlays) {
		t.Errorf("%d commands are documented, %d played", len(rows), len(rightsPlays))
	}
	for _, row := range rows {
		command, verbs := row[1], strings.Split(row[2], ", ")
		args, ok := rightsPlays[command]
		if !ok {
			t.Errorf("%s is not played", command)
			continue
		}
		t.Run(strings.ReplaceAll(strings.TrimPrefix(command, "kubectl merge "), " ", "-"), func(t *testing.T) {
			t.Parallel()
			for _, missing := range append([]string{""}, verbs...) {
				playRights(t, s, args, slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return v == missing }), missing)
			}
		})
	}
}

func playRights(t *testing.T, s *apiServer, args, verbs []string, missing string) {
	u := s.user(t, "rights")
	u.file("v1.yaml", rightsBefore)
	u.file("old.yaml", rightsOld)
	u.file("both.yaml", rightsOld+rightsNew)
	u.file("all.yaml", rightsBefore+rightsGone)
	u.merges("-f", "v1.yaml")
	if command := strings.Join(args, " "); strings.Contains(command, "applyset") {
		u.merges("-f", "all.yaml", "--prune", "--applyset=configmaps/shop")
		u.does("kubectl", "create", "configmap", "loose")
		u.does("kubectl", "annotate", "configmap", "shop", "--overwrite", "applyset.kubernetes.io/contains-group-kinds=ConfigMap,Pod")
		if strings.Contains(command, "--") || strings.Contains(command, "applyset delete") { // verify looks at each kind that is listed, deletions at what may name a ConfigMap
			u.does("kubectl", "create", "role", "pods", "--verb=list", "--resource=pods,replicasets.apps")
			u.does("kubectl", "create", "rolebinding", "pods", "--role=pods", "--user=user-of-few")
		}
		if !strings.Contains(command, "verify") {
			u.does("kubectl", "annotate", "configmap", "shop", "--overwrite", "applyset.kubernetes.io/contains-group-kinds=ConfigMap", "--field-manager=kubectl-applyset")
		}
	}
	playPlans(u, args)
	if len(verbs) > 0 {
		u.does("kubectl", "create", "role", "some", "--verb="+strings.Join(verbs, ","), "--resource=configmaps")
		u.does("kubectl", "create", "rolebinding", "some", "--role=some", "--user=user-of-few")
		u.allowed("user-of-few", verbs...)
	}
	u.file("touched.yaml", rightsOld+rightsNew+rightsGone)
	was := u.versions("touched.yaml")
	cmd := u.command(t.Context(), "kubectl-merge", append(args, "--as=user-of-few")...)
	cmd.Env = append(cmd.Env, "KUBE_EDITOR=sed -i s/x/z/")
	got := u.ends(cmd)
	differs := (args[0] == "diff" || args[0] == "drift" || args[0] == "absorb") && got.code == 1 // as they end that find a difference
	if missing == "" {
		if got.code != 0 && !differs {
			t.Errorf("with %v: %s", verbs, got)
		}
		return
	}
	if got.code == 0 || differs || !regexp.MustCompile(`cannot `+missing+` resource "configmaps"`).MatchString(got.stderr) {
		t.Errorf("without %s: want an error that names it\n%s", missing, got)
	}
	if now := u.versions("touched.yaml"); !maps.Equal(now, was) {
		t.Errorf("without %s: something was written or deleted: %v, was %v\n%s", missing, now, was, got)
	}
}

// playPlans makes what the arguments name: a plan, or a record, of a user who may not read
// the namespace kube-system either.
func playPlans(u *user, args []string) {
	uses := func(name string) bool { return slices.Contains(args, name) }
	if !uses("plan.yaml") && !uses("run.yaml") {
		return
	}
	u.does("kubectl", "create", "role", "maker", "--verb=get,create,patch", "--resource=configmaps")
	u.does("kubectl", "create", "rolebinding", "maker", "--role=maker", "--user=maker")
	u.allowed("maker", "get", "create", "patch")
	if uses("run.yaml") {
		u.merges("-f", "both.yaml", "--record", "run.yaml", "--as=maker")
	} else {
		u.file("plan.yaml", u.tries("kubectl-merge", "diff", "-f", "both.yaml", "-o", "plan", "--as=maker").stdout)
	}
}

// allowed waits until the server, which takes a moment to know a binding, permits the user
// these verbs on ConfigMaps.
func (u *user) allowed(who string, verbs ...string) {
	u.t.Helper()
	for _, verb := range verbs {
		u.awaits(func() bool {
			asked := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               who,
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: u.ns, Verb: verb, Resource: "configmaps"},
			}}
			got, err := u.server.client.AuthorizationV1().SubjectAccessReviews().Create(u.t.Context(), asked, metav1.CreateOptions{})
			if err != nil {
				u.t.Fatal(err)
			}
			return got.Status.Allowed
		})
	}
}

// TestRoles plays the roles of docs/permissions.md: with the one for looking one
// can look and not merge, with the other one both.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	u := s.user(t, "roles")
	u.file("both.yaml", rightsOld+rightsNew)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(docs(t, "permissions.md"), -1)
	for _, block := range blocks {
		u.file("role.yaml", block[1])
		name := strings.TrimPrefix(strings.TrimSpace(u.does("kubectl", "apply", "-f", "role.yaml", "-o", "name").stdout), "role.rbac.authorization.k8s.io/")
		u.does("kubectl", "create", "rolebinding", name, "--role="+name, "--user="+name)
	}
	for _, tt := range []struct {
		who, what string
		code      int
	}{
		{"merge-viewer", "diff", 1},
		{"merge-viewer", "", 1},
		{"merge-editor", "", 0},
		{"merge-viewer", "diff", 0},
	} {
		args := []string{"-f", "both.yaml", "--as=" + tt.who}
		if tt.what != "" {
			args = append([]string{tt.what}, args...)
		}
		if got := u.tries("kubectl-merge", args...); got.code != tt.code || strings.Contains(got.stderr, "cannot") != (tt.code == 1 && tt.what == "") {
			t.Errorf("%s: want exit %d\n%s", tt.who, tt.code, got)
		}
	}
}
