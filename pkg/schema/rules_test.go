package schema

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestParseRules(t *testing.T) {
	tests := []struct {
		reason, text string
		want         []string // Rule.String of each
		wrong        []string // parts of the error
	}{
		{reason: "a list of rules", text: "- path: spec.replicas\n  winner: live\n- {path: spec.x, list: set}", want: []string{"spec.replicas: live", "spec.x: set"}},
		{reason: "under the key rules", text: "rules:\n- {path: a, winner: local}", want: []string{"a: local"}},
		{reason: "the short form, with a leading dot", text: "- .spec.replicas: live", want: []string{".spec.replicas: live"}},
		{reason: "several documents", text: "- a: live\n---\n- b: conflict\n", want: []string{"a: live", "b: conflict"}},
		{reason: "nothing is no rules", text: "# none\n"},
		{reason: "brackets in a plain block scalar", text: "- path: spec.containers[*].args\n  list: set\n- .spec.ports[port=80]: live\n", want: []string{"spec.containers[*].args: set", ".spec.ports[port=80]: live"}},
		{reason: "an anchor used twice", text: "- {path: a, list: keyed, keys: &k [name]}\n- {path: b, list: keyed, keys: *k}", want: []string{"a: keyed", "b: keyed"}},
		{reason: "a misspelt key is found with its line", text: "- path: a\n  winer: live", wrong: []string{`line 2: unknown key "winer": did you mean winner?`}},
		{reason: "an unknown value", text: "- path: a\n  winner: theirs", wrong: []string{`line 2: winner: "theirs" is none of conflict, live, local, original`}},
		{reason: "all that is wrong is reported", text: "- path: a\n  list: bag\n- winner: live\n", wrong: []string{"line 2: list:", "line 3: the rule has no path"}},
		{reason: "a text by lines", text: "- {path: 'data[\"a.conf\"]', text: lines}", want: []string{`data["a.conf"]: lines`}},
		{reason: "a text by something else", text: "- {path: a, text: words}", wrong: []string{`line 1: text: "words" is none of lines`}},
		{reason: "a text under a condition", text: "- {path: a, text: lines, when: {has: b}}", wrong: []string{"not how a text is merged"}},
		{reason: "no winner and no list", text: "- path: a", wrong: []string{"line 1: the rule has no effect"}},
		{reason: "keyed needs keys", text: "- {path: a, list: keyed}", wrong: []string{"keys: [name]"}},
		{reason: "keys need keyed", text: "- {path: a, list: set, keys: [b]}", wrong: []string{"list: keyed"}},
		{reason: "a list is split in all entries alike", text: `- {path: "a[name=x].b", list: set}`, wrong: []string{"write [*]"}},
		{reason: "a key twice is an error, as in every file", text: "- path: a\n  winner: live\n  winner: local", wrong: []string{`line 3: [0].winner: key "winner" is given twice: first on line 2`}},
		{reason: "a path that is none", text: "- {path: 'a[', winner: live}", wrong: []string{"line 1", "column"}},
		{reason: "an empty path", text: "- {path: '', winner: live}", wrong: []string{"line 1: is empty"}},
		{reason: "not a list", text: "spec: 1", wrong: []string{"expected a list of rules"}},
		{reason: "not a rule", text: "- spec.replicas", wrong: []string{"expected a rule"}},
		{reason: "not YAML", text: "- [", wrong: []string{"line"}},
		{reason: "a condition that is none", text: "- {path: a, winner: live, when: {hass: b}}", wrong: []string{"did you mean has?"}},
		{reason: "conditions are for winners", text: "- {path: a, list: set, when: {has: b}}", wrong: []string{"decides which side wins"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			rules, err := ParseRules([]byte(test.text))
			if (err != nil) != (len(test.wrong) > 0) {
				t.Fatalf("error %v, want %q", err, test.wrong)
			}
			for _, part := range test.wrong {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
			if len(rules) != len(test.want) {
				t.Fatalf("%d rules, want %d", len(rules), len(test.want))
			}
			for i, r := range rules {
				if r.String() != test.want[i] {
					t.Errorf("rule %d is %s, want %s", i, r, test.want[i])
				}
			}
		})
	}
}

func TestRulesFor(t *testing.T) {
	web := Object{Group: "apps", Kind: "Deployment", Namespace: "prod-1", Name: "web"}
	pod := Object{Kind: "Pod", Namespace: "dev", Name: "web-0"}
	tests := []struct {
		reason, rule string
		object       Object
		want         bool
	}{
		{"nothing asked for", "{path: a, winner: live}", web, true},
		{"kind, in any case", "{path: a, winner: live, kind: deployment}", web, true},
		{"another kind", "{path: a, winner: live, kind: StatefulSet}", web, false},
		{"a pattern in front", "{path: a, winner: live, kind: '*Set'}", web, false},
		{"namespace pattern", "{path: a, winner: live, namespace: prod-*}", web, true},
		{"namespace pattern of another", "{path: a, winner: live, namespace: prod-*}", pod, false},
		{"pattern in the middle", "{path: a, winner: live, name: 'w*-*0'}", pod, true},
		{"group", "{path: a, winner: live, apiGroup: apps}", web, true},
		{"the core group is the empty one", "{path: a, winner: live, apiGroup: ''}", pod, true},
		{"the core group is no other", "{path: a, winner: live, apiGroup: ''}", web, false},
		{"any group", "{path: a, winner: live, apiGroup: '*'}", web, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			rules, err := ParseRules([]byte("- " + test.rule))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(rules.For(test.object)) == 1; got != test.want {
				t.Errorf("holds: %v", got)
			}
		})
	}
}

func TestRulePaths(t *testing.T) {
	tests := []struct {
		reason, pattern, path string
		want                  bool
	}{
		{"itself", "spec.replicas", "spec.replicas", true},
		{"what is below is the merge's affair", "spec", "spec.replicas", false},
		{"any field", "spec.*", "spec.replicas", true},
		{"part of a name", `metadata.annotations["team/*"]`, `metadata.annotations["team/owner"]`, true},
		{"part of another name", `metadata.annotations["team/*"]`, `metadata.annotations["x/team/owner"]`, false},
		{"any entry", "spec.containers[*].image", "spec.containers[name=web].image", true},
		{"any entry of a set", "spec.zones[*]", `spec.zones[="a"]`, true},
		{"an entry by a pattern", "spec.containers[name=istio-*]", "spec.containers[name=istio-proxy]", true},
		{"some of the keys", "spec.ports[port=53]", "spec.ports[port=53,protocol=UDP]", true},
		{"another key", "spec.ports[port=80]", "spec.ports[port=53,protocol=UDP]", false},
		{"a key that the entry does not have", "spec.ports[name=x]", "spec.ports[port=53]", false},
		{"a member by a pattern", `metadata.finalizers[="*/x"]`, `metadata.finalizers[="a.b/x"]`, true},
		{"an index", "spec.rules[0]", "spec.rules[1]", false},
		{"everything", ".", "spec", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			pattern, err := merge.ParsePath(test.pattern)
			if err != nil {
				t.Fatal(err)
			}
			path, err := merge.ParsePath(test.path)
			if err != nil {
				t.Fatal(err)
			}
			if got := (Rule{Path: pattern}).matches(path); got != test.want {
				t.Errorf("%s fits %s: %v", test.pattern, test.path, got)
			}
		})
	}
}

func TestExceptions(t *testing.T) {
	rules, err := Exceptions()
	if err != nil {
		t.Fatal(err)
	}
	aggregated := map[string]any{"aggregationRule": map[string]any{}}
	plain := map[string]any{"rules": []any{}}
	tests := []struct {
		reason string
		triple merge.Triple
		want   int
	}{
		{"local aggregates", merge.Triple{Local: aggregated}, 1},
		{"only live aggregates, and goes on to", merge.Triple{Local: plain, Original: plain, Live: aggregated}, 1},
		{"local gives aggregation up: the rules are its own again", merge.Triple{Local: plain, Original: aggregated, Live: aggregated}, 0},
		{"an ordinary role", merge.Triple{Local: plain, Live: plain}, 0},
	}
	for _, test := range tests {
		o := Object{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "admin", Triple: test.triple}
		if got := rules.For(o).Policy(); len(got) != test.want {
			t.Errorf("%s: %d rules, want %d", test.reason, len(got), test.want)
		}
	}
}

func TestShape(t *testing.T) {
	deployment, _ := Builtin("apps", "v1", "Deployment")
	containers := "spec.template.spec.containers"
	tests := []struct {
		reason, rules, path string
		typ                 *merge.Type
		want                merge.Kind
		keys                string
	}{
		{"an atomic list made a set", "- {path: '" + containers + "[*].args', list: set}", containers + "[*].args", deployment, merge.Set, ""},
		{"a keyed list made atomic", "- {path: " + containers + ", list: atomic}", containers, deployment, merge.List, ""},
		{"other keys, the default with them", "- {path: '" + containers + "[*].ports', list: keyed, keys: [protocol]}", containers + "[*].ports", deployment, merge.Keyed, "protocol=TCP"},
		{"any field", "- {path: spec.template.spec.*, list: atomic}", "spec.template.spec.tolerations", deployment, merge.List, ""},
		{"an object is left alone", "- {path: spec.template, list: set}", "spec.template", deployment, merge.Object, ""},
		{"a path that is not there", "- {path: spec.nowhere.args, list: set}", "spec.replicas", deployment, merge.Scalar, ""},
		{"no type at all", "- {path: spec.peers, list: keyed, keys: [id]}", "spec.peers", nil, merge.Keyed, "id"},
		{"lists in lists, the inner one first", "- {path: 'spec.peers[*].tags', list: set}\n- {path: spec.peers, list: keyed, keys: [id]}", "spec.peers[*].tags", nil, merge.Set, ""},
		{"the first rule counts", "- {path: spec.a, list: set}\n- {path: spec.a, list: atomic}", "spec.a", nil, merge.Set, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			rules, err := ParseRules([]byte(test.rules))
			if err != nil {
				t.Fatal(err)
			}
			path, err := merge.ParsePath(test.path)
			if err != nil {
				t.Fatal(err)
			}
			got := walk(rules.Shape(test.typ), path)
			if got == nil || got.Kind != test.want {
				t.Fatalf("%s is %+v, want kind %d", test.path, got, test.want)
			}
			var keys []string
			for _, k := range got.Keys {
				if keys = append(keys, k.Name); k.Default != nil {
					keys[len(keys)-1] += "=" + k.Default.(string)
				}
			}
			if strings.Join(keys, ",") != test.keys {
				t.Errorf("keys %q, want %q", keys, test.keys)
			}
		})
	}
	if walk(deployment, merge.Path{merge.Named("spec"), merge.Named("template"), merge.Named("spec"), merge.Named("containers")}).Kind != merge.Keyed {
		t.Error("the compiled-in type was modified")
	}
}

// walk follows fields and entries; [*] stands for the entries of a list.
func walk(t *merge.Type, p merge.Path) *merge.Type {
	for _, s := range p {
		switch {
		case t == nil:
			return nil
		case t.Kind == merge.Object:
			t = t.Fields[s.Name].Type
		default:
			t = t.Elem
		}
	}
	return t
}
