package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestRulesThatCanMatchNothing(t *testing.T) {
	deployment, _ := Builtin("apps", "v1", "Deployment")
	for _, tt := range []struct{ reason, rule, want string }{
		{"a field", "{path: spec.replicas, kind: Deployment, winner: live}", ""},
		{"any entry", "{path: 'spec.template.spec.containers[*].image', kind: Deployment, winner: live}", ""},
		{"an entry by a pattern", "{path: 'spec.template.spec.containers[name=web-*].env[*]', kind: Deployment, winner: live}", ""},
		{"a free key", "{path: 'metadata.annotations[*]', kind: Deployment, winner: live}", ""},
		{"a pattern of fields", "{path: 'spec.*', kind: Deployment, winner: live}", ""},
		{"a letter too few", "{path: spec.replica, kind: Deployment, winner: live}", "spec has no field replica (did you mean replicas?)"},
		{"no field at the top", "{path: spce.replicas, kind: Deployment, winner: live}", "there is no field spce (did you mean spec?)"},
		{"an index where names count, also for any kind", "{path: 'spec.template.spec.containers[0].image', winner: live}",
			"spec.template.spec.containers is a list whose entries are identified by name: write [name=…] or [*]"},
		{"a field of a list", "{path: spec.template.spec.containers.image, kind: Deployment, winner: live}", "spec.template.spec.containers is a list: write [name=…] or [*] before image"},
		{"below a scalar", "{path: spec.replicas.max, kind: Deployment, winner: live}", "spec.replicas has no parts"},
		{"another kind's field in a rule for any kind", "{path: spec.ports, winner: live}", ""},
		{"a letter too few, in a rule for any kind", "{path: spec.replica, winner: live}",
			"no kind of this run and no built-in one can have it: in a Deployment, spec has no field replica (did you mean replicas?); if it is for objects of another kind, add that: kind: NAME"},
		{"a rule for kinds of a group that is not built in", "{path: spec.replica, apiGroup: example.com, winner: live}", ""},
		{"a rule for some kinds", "{path: spec.replica, kind: 'Deploy*', winner: live}",
			"no kind of this run and no built-in one can have it: in a Deployment, spec has no field replica (did you mean replicas?); if it is for objects of another kind, add that: kind: NAME"},
		{"a list that is none", "{path: spec.replicas, kind: Deployment, list: set}", "rules: line 1: list: is for lists, and spec.replicas is none"},
		{"a key that is none", "{path: spec.template.spec.containers, kind: Deployment, list: keyed, keys: [name, nam]}",
			"rules: line 1: the entries have no field nam (did you mean name?)"},
		{"a list that is none, in a rule for any kind", "{path: spec.replicas,\n  list: atomic}",
			"rules: line 2: list: is for lists, and spec.replicas is none; if it is for objects of another kind, add that: kind: NAME"},
		{"a key that is none, in a rule for any kind", "{path: spec.template.spec.containers, list: keyed,\n  keys: [nam]}",
			"rules: line 2: the entries have no field nam (did you mean name?); if it is for objects of another kind, add that: kind: NAME"},
		{"another kind's rule", "{path: spec.replica, kind: Service, winner: live}", ""},
	} {
		rules, err := ParseRules([]byte("- " + tt.rule))
		if err != nil {
			t.Fatal(tt.reason, err)
		}
		err = rules.Check("rules", []Typed{{"apps", "Deployment", deployment}}, nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.reason, err, tt.want)
		}
	}
}

// TestRulesOfMisspeltKinds: a rule with no kind is for any, however short the name of one is.
func TestRulesOfMisspeltKinds(t *testing.T) {
	kinds := []Typed{{"example.com", "A", nil}}
	for rule, want := range map[string]string{
		"{path: spec.x, apiGroup: example.com, winner: live}": "",
		"{path: data.a, kind: ConfigMapp, winner: live}":      "rules: line 1: data.a (kind ConfigMapp): there is no such kind (did you mean ConfigMap?)",
		"{path: data.a, kind: a, winner: live}":               "",
	} {
		rules, err := ParseRules([]byte("- " + rule))
		if err != nil {
			t.Fatal(err)
		}
		if err := rules.Check("rules", kinds, nil); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: got %v, want %q", rule, err, want)
		}
		if err := rules.Check("rules", kinds, func(string) bool { return true }); err != nil {
			t.Errorf("%s: the server has it: %v", rule, err)
		}
	}
}

// TestExceptionsCanMatch holds the built-in rules to the same.
func TestExceptionsCanMatch(t *testing.T) {
	rules, err := Exceptions()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		if r.Kind != "" && !strings.Contains(r.Kind, "*") && !slices.ContainsFunc(BuiltinKinds(), func(k Kind) bool { return k.Kind == r.Kind }) {
			t.Errorf("%s: no such kind", r.Where())
		}
		for _, k := range BuiltinKinds() {
			if typ, ok := Builtin(k.Group, k.Version, k.Kind); ok && k.Resource != "" {
				if err := (Rules{r}).Check("", []Typed{{k.Group, k.Kind, typ}}, nil); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func TestRulesFound(t *testing.T) {
	deployment, _ := Builtin("apps", "v1", "Deployment")
	v, err := merge.ReadJSON([]byte(`{"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"web","image":"a"}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := ParseRules([]byte(`
- {path: spec.replicas, kind: Deployment, winner: live}
- {path: spec.paused, winner: live}
- {path: 'spec.template.spec.containers[*].image', winner: live}
- {path: 'spec.template.spec.containers[name=app].image', winner: live}
- {path: spec.replicas, name: 'shop-*', winner: live}
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	rules.Found(Object{Group: "apps", Kind: "Deployment", Name: "web", Triple: merge.Triple{Live: v}}, deployment, func(i int) { got = append(got, i) })
	if len(got) != 2 || got[0] != 0 || got[1] != 2 {
		t.Errorf("found %v, want 0 and 2", got)
	}
}
