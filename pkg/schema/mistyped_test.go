package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestMistypedIn(t *testing.T) {
	for _, tt := range []struct{ reason, group, kind, object, want string }{
		{"as it should be", "apps", "Deployment", `{"spec":{"replicas":3,"paused":true,"strategy":{"rollingUpdate":{"maxSurge":"30%"}},"template":{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":1}}}]}}}}`, ""},
		{"null is of any type", "apps", "Deployment", `{"spec":{"replicas":null,"template":null}}`, ""},
		{"a number in quotes", "apps", "Deployment", `{"spec":{"replicas":"3"}}`, "spec.replicas: a number: 3"},
		{"a number in quotes where texts are legal too", "apps", "Deployment", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"3"}}}}`, "spec.strategy.rollingUpdate.maxSurge: : 3"},
		{"no number at all", "apps", "Deployment", `{"spec":{"replicas":"three"}}`, "spec.replicas: a number: "},
		{"a boolean in quotes", "apps", "Deployment", `{"spec":{"paused":"true"}}`, "spec.paused: true or false: true"},
		{"YAML's yes and numbers in a ConfigMap", "", "ConfigMap", `{"data":{"a":true,"b":1,"c":"x"}}`, `data.a: a string: "true" data.b: a string: "1"`},
		{"an entry by its key", "apps", "Deployment", `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"A","value":1}]}]}}}}`,
			`spec.template.spec.containers[name=web].env[name=A].value: a string: "1"`},
		{"a mapping for a list", "apps", "Deployment", `{"spec":{"template":{"spec":{"containers":{"name":"web"}}}}}`, "spec.template.spec.containers: a list: "},
		{"a list for a mapping", "", "ConfigMap", `{"data":[]}`, "data: a mapping: "},
		{"what cannot be rewritten for the user", "", "Secret", `{"data":{"a":1}}`, "data.a: a string: "},
	} {
		typ, ok := Builtin(tt.group, "v1", tt.kind)
		v, err := merge.ReadJSON([]byte(tt.object))
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		var got []string
		for _, m := range MistypedIn(typ, v) {
			got = append(got, fmt.Sprintf("%s: %s: %s", m.Path, m.Want, m.Fix))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.reason, s, tt.want)
		}
	}
}
