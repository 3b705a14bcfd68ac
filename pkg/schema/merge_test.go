package schema

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestTypesInAMerge plays what the types are for, one case for each thing that
// the table, the facts or the rules say.
func TestTypesInAMerge(t *testing.T) {
	tests := []struct {
		reason                string
		group, kind           string
		original, local, live string
		want                  string // "" is live, untouched
	}{
		{reason: "all keys identify: UDP stays when TCP is stated", kind: "Service",
			original: `{"spec":{"ports":[{"port":53}]}}`, local: `{"spec":{"ports":[{"port":53,"name":"a"}]}}`,
			live: `{"spec":{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}}`,
			want: `{"spec":{"ports":[{"name":"a","port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}}`},
		{reason: "an allocated field stated as empty is not set", kind: "Service",
			local: `{"spec":{"clusterIP":"","ports":[{"port":80,"nodePort":0}]}}`, live: `{"spec":{"clusterIP":"10.0.0.7","ports":[{"port":80,"protocol":"TCP","nodePort":30000}]}}`},
		{reason: "the other variant of a one-of goes", kind: "Pod",
			local: `{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"}}]}}`, live: `{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}`,
			want: `{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"}}]}}`},
		{reason: "a discriminator displaces what belongs to another value", group: "apps", kind: "Deployment",
			local: `{"spec":{"strategy":{"type":"Recreate"}}}`, live: `{"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}}`,
			want: `{"spec":{"strategy":{"type":"Recreate"}}}`},
		{reason: "an empty string in a pointer field is a value", kind: "PersistentVolumeClaim",
			local: `{"spec":{"storageClassName":""}}`, live: `{"spec":{}}`, want: `{"spec":{"storageClassName":""}}`},
		{reason: "in a plain one it is absence", kind: "PersistentVolumeClaim",
			local: `{"spec":{"volumeName":""}}`, live: `{"spec":{}}`},
		{reason: "a quantity in another spelling", kind: "ResourceQuota",
			local: `{"spec":{"hard":{"cpu":1,"memory":"1024Mi"}}}`, live: `{"spec":{"hard":{"cpu":"1000m","memory":"1Gi"}}}`},
		{reason: "a boolean where a schema stood", group: "apiextensions.k8s.io", kind: "CustomResourceDefinition",
			local: `{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":true}}}]}}`,
			live:  `{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":{"type":"string"}}}}]}}`,
			want:  `{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":true}}}]}}`},
	}
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			typ, ok := Builtin(test.group, "v1", test.kind)
			if !ok {
				t.Fatal("no such type")
			}
			live := read(t, test.live)
			plan := merge.Three(merge.Triple{Original: read(t, test.original), Local: read(t, test.local), Live: live}, typ, policy, false)
			if test.want == "" {
				test.want = test.live
				if len(plan.Changes) > 0 {
					t.Errorf("changes %+v, want none", plan.Changes)
				}
			}
			if got, want := text(t, plan.Result), text(t, read(t, test.want)); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

func TestRulesInAMerge(t *testing.T) {
	typ, _ := Builtin("apps", "v1", "Deployment")
	tests := []struct{ reason, rules, want string }{
		{"the policy, where no rule holds", "- {path: spec.replicas, kind: StatefulSet, winner: live}", `{"spec":{"replicas":1}}`},
		{"live wins", "- .spec.replicas: live", `{"spec":{"replicas":5}}`},
		{"a rule holds for what is below its path", "- .spec: live", `{"spec":{"replicas":5}}`},
		{"the original value comes back", "- .spec.replicas: original", `{"spec":{"replicas":2}}`},
	}
	for _, test := range tests {
		rules, err := ParseRules([]byte(test.rules))
		if err != nil {
			t.Fatal(err)
		}
		policy, err := merge.PolicyNamed("apply")
		if err != nil {
			t.Fatal(err)
		}
		o := Object{Group: "apps", Kind: "Deployment", Name: "web"}
		policy.Rules = rules.For(o).Policy()
		plan := merge.Three(merge.Triple{
			Original: read(t, `{"spec":{"replicas":2}}`), Local: read(t, `{"spec":{"replicas":1}}`), Live: read(t, `{"spec":{"replicas":5}}`),
		}, rules.Shape(typ), policy, false)
		if got := text(t, plan.Result); got != test.want {
			t.Errorf("%s: got %s, want %s", test.reason, got, test.want)
		}
	}
}

// text is a value as JSON with sorted keys.
func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
