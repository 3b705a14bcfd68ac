package schema

import (
	"strings"
	"testing"
)

func TestRulesAboutWaiting(t *testing.T) {
	rules, err := ParseRules([]byte(`
- kind: Widget
  ready: .status.phase=Running
- kind: Gadget
  name: a*
  ready: '{.status.conditions[?(@.type=="Ready")].status}=True'
- kind: Probe
  ready: status.checks[0].url=http://a?b=c
- kind: Job
  name: nightly-*
  wait: false
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		object      Object
		skip        bool
		path, value string
	}{
		{Object{Kind: "Widget", Name: "w"}, false, "status.phase", "Running"},
		{Object{Kind: "Gadget", Name: "ab"}, false, "status.conditions[type=Ready].status", "True"},
		{Object{Kind: "Gadget", Name: "b"}, false, "", ""},
		{Object{Kind: "Probe", Name: "p"}, false, "status.checks[0].url", "http://a?b=c"},
		{Object{Kind: "Job", Name: "nightly-1"}, true, "", ""},
		{Object{Kind: "Job", Name: "daily"}, false, "", ""},
	} {
		skip, wanted := rules.Waits(c.object)
		path := ""
		if wanted.Path != nil {
			path = wanted.Path.String()
		}
		if skip != c.skip || path != c.path || wanted.Value != c.value {
			t.Errorf("%v: %v %q %q", c.object, skip, path, wanted.Value)
		}
	}
	if len(rules.Policy()) != 0 {
		t.Error("a rule about waiting decides no field")
	}
}

func TestRulesAboutWaitingThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"- {kind: A, ready: status.phase}":                              "expected a JSONPath and the value",
		"- {kind: A, ready: '{.items[*].x}=1'}":                         "is no path to one value",
		"- {kind: A, wait: true}":                                       "there is only false",
		"- {kind: A, wait: false, path: spec.replicas}":                 "has only these",
		"- {kind: A, wait: false, ready: status.phase=Running}":         "has only these",
		"- {kind: A, ready: status.phase=Running, winner: live}":        "has only these",
		"- {kind: A, ready: '=x'}":                                      "is no path to one value",
		"- {kind: A, ready: [a]}":                                       "expected a word",
		"- {kind: A, ready: '{.status.conditions[?(@.a>1)].status}=1'}": "is no path to one value",
	} {
		if _, err := ParseRules([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
