package diff

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

// TestPairs: an entry that was removed and another that was added are not read as one that changed.
func TestPairs(t *testing.T) {
	for _, c := range []struct{ reason, from, to, want string }{
		{
			"rules of a role are what they are about", `[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]},{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]`,
			`[{"apiGroups":["apps"],"resources":["deployments"],"verbs":["get"]},{"apiGroups":[""],"resources":["secrets"],"verbs":["list"]}]`,
			`[resources=secrets].verbs: "get" removed; [resources=pods] removed; [resources=secrets].verbs: "list" added; [apiGroups=apps resources=deployments] added`,
		},
		{"without a name, one that has nothing in common", `[{"from":[{"a":1}],"ports":[1]},{"b":2}]`, `[{"to":[{"a":2}]},{"b":2}]`, `{"from":[{"a":1}],"ports":[1]} removed; {"to":[{"a":2}]} added`},
		{"and one that has", `[{"b":2},{"from":[{"a":1}],"ports":[1]}]`, `[{"b":2},{"from":[{"a":1}],"ports":[2]}]`, `entry 2.ports: 1 removed; entry 2.ports: 2 added`},
	} {
		if got := difference(merge.Some(values.Read(t, c.from)), merge.Some(values.Read(t, c.to)), mostParts); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.reason, got, c.want)
		}
	}
}
