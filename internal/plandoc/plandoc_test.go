package plandoc

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func value(t *testing.T, text string) map[string]any {
	t.Helper()
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := f.Documents()[0].Value().(map[string]any)
	return m
}

var spelling = Spelling{Salt: []byte("0123456789abcdef")}

func header() Header { return Header{Cluster: Cluster{UID: "u"}, Spelling: spelling} }

// planned is a change from live to final.
func planned(live, final map[string]any) apply.Planned {
	return apply.Planned{Live: live, Final: final, Action: apply.Change}
}

const secretLive = `{apiVersion: v1, kind: Secret, metadata: {name: s, uid: "7", resourceVersion: "9"}, data: {a: b2xkc2VjcmV0, b: c2FtZXNhbWU=}}`

// written is a document of the items.
func written(t *testing.T, items ...Item) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, header())
	for _, i := range items {
		if err == nil {
			var text []byte
			if text, err = i.Encode(); err == nil {
				w.Count(i.Action)
				err = w.Raw(text)
			}
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func items(t *testing.T) []Item {
	secret := value(t, strings.Replace(secretLive, "b2xkc2VjcmV0", "bmV3c2VjcmV0", 1))
	return []Item{
		spelling.Item(Subject{Action: apply.Change, Identity: Identity{"v1", "Secret", "n", "s"}, Planned: planned(value(t, secretLive), secret)}),
		spelling.Item(Subject{Action: apply.Create, Identity: Identity{"v1", "ConfigMap", "n", "c"}, Planned: planned(nil, value(t, "{data: {text: \"a\\n\\n b\\n\", \"on\": \"1\", $sha256: x}}"))}),
		spelling.Item(Subject{Action: apply.Delete, Reason: "not in the input", Identity: Identity{"v1", "ConfigMap", "n", "d"}, Planned: planned(value(t, "{metadata: {uid: x}, data: {}}"), nil)}),
		{Action: apply.Keep, Identity: Identity{"v1", "ConfigMap", "n", "e"}, Reason: "marked", Notes: []string{"is installed by Helm"}},
		{Action: apply.Held, Identity: Identity{"v1", "ConfigMap", "n", "f"}, Conflicts: []ConflictAt{{"data.a", "live has x"}}},
		{Action: apply.Change, Identity: Identity{"v1", "Service", "n", "g"}, UID: "1", LastApplied: &Sides{Before: merge.Some("{}\n"), After: merge.Some("{}")},
			Changes: []ChangeOf{{Path: "spec.ports", Order: &Order{[]string{"[port=1]", "[port=2]"}, []string{"[port=2]", "[port=1]"}}}, {Path: "spec.x", Sides: Sides{Before: merge.Some(nil)}}}},
	}
}

// TestRoundTrip: what is written is read as the same, whether it is laid out as written or not.
func TestRoundTrip(t *testing.T) {
	all := items(t)
	text := written(t, all...)
	for _, text := range [][]byte{text, bytes.Replace(text, []byte("\nobjects:\n"), []byte("\nobjects:   # all of them\n"), 1)} {
		doc, err := Parse("plan.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(doc.Header, header()) || doc.Summary == nil || doc.Summary.Counts[apply.Change] != 2 {
			t.Errorf("got %+v %+v", doc.Header, doc.Summary)
		}
		for i, got := range doc.Items {
			got.Line = 0
			if !reflect.DeepEqual(got, all[i]) {
				t.Errorf("got  %+v\nwant %+v\n%s", got, all[i], text)
			}
		}
	}
	if len(written(t)) == 0 {
		t.Error("a plan without objects is a document, too")
	}
	if doc, err := Parse("plan.yaml", written(t)); err != nil || len(doc.Items) != 0 {
		t.Errorf("%v, %v", doc, err)
	}
}

// TestHidden: no value of a Secret is in a plan, and two values of one place are known apart.
func TestHidden(t *testing.T) {
	i := items(t)[0]
	text := string(written(t, i))
	for _, secret := range []string{"b2xk", "bmV3", "c2Ft"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in\n%s", secret, text)
		}
	}
	if len(i.Changes) != 1 || !IsHash(i.Changes[0].Before.Value) || reflect.DeepEqual(i.Changes[0].Before, i.Changes[0].After) {
		t.Errorf("got %+v", i.Changes)
	}
	literal := items(t)[1].Changes[0].After.Value.(map[string]any)["data"].(map[string]any)
	if IsHash(literal) {
		t.Errorf("a value of the object reads as a hash: %v", literal)
	}
	if mark := value(t, "{data: {$sha256: x}}"); !reflect.DeepEqual(spelling.Item(Subject{Action: apply.Create, Planned: planned(nil, mark)}).Changes[0].After.Value.(map[string]any)["data"],
		spelling.Hash(Identity{}, "/data", mark["data"])) {
		t.Error("a map that looks like a hash must be hashed")
	}
}

// TestEveryCut: a plan that is cut off anywhere is refused, or known by its missing summary.
func TestEveryCut(t *testing.T) {
	text := written(t, items(t)...)
	summary := bytes.Index(text, []byte("summary:"))
	for n := range text {
		doc, err := Parse("plan.yaml", text[:n])
		if err == nil && doc.Summary != nil && n < summary {
			t.Fatalf("cut at %d of %d: taken for whole", n, len(text))
		}
		if err != nil && !strings.HasPrefix(err.Error(), "plan.yaml: ") {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// TestHostile: an error names file and line, and what is wrong.
func TestHostile(t *testing.T) {
	text := string(written(t, items(t)...))
	for _, tt := range []struct{ old, new, want string }{
		{"kind: Plan", "kind: Pan", "is neither a plan nor a record of a run"},
		{"v1alpha1", "v7", "line 1: apiVersion: must be " + APIVersion},
		{"secrets: hashed", "secrets: maybe", "line 5: secrets: must be shown or hashed"},
		{"cluster:\n  uid: u", "cluster: {}", "cluster: must have the uid"},
		{"  uid: u\n", "  uid: 7\n", "line 4: cluster.uid: must be text"},
		{"- action: change", "- action: explode", "line 8: action: must be one of create, change, recreate, delete, keep, held"},
		{"- action: change", "- action: chnage", "held; did you mean change?"},
		{"- action: change", "- action: change\n  extra: 1", "line 9: extra: is no field of a plan"},
		{"- action: change", "- action: change\n  managedFields: {}", "line 9: managedFields: must be a list"},
		{"path: data.a\n", "path: data[\n", "line 16: changes[0].path: "},
		{"name: s\n", "name: s\n  name: t\n", "line 13: "},
		{"  uid: \"7\"\n", "", "line 8: must have the uid of the object"},
		{"summary:", "sumary:", "sumary: is no field of a plan; did you mean summary?"},
		{"\nobjects:", "\nobject:", "line 7: object: is no field of a plan; did you mean objects?"},
		{"unchanged: 0", "unchanged: -1", "unchanged: must be a number"},
		{"unchanged: 0", "unchanged: 0\n---\n{}", "more than one document"},
		{"salt: MDEyMzQ1Njc4OWFiY2RlZg==", "salt: MA==", "salt: must be at least 8 bytes"},
	} {
		changed := strings.Replace(text, tt.old, tt.new, 1)
		if changed == text {
			t.Fatalf("%q is not in the plan\n%s", tt.old, text)
		}
		if _, err := Parse("plan.yaml", []byte(changed)); err == nil || !strings.HasPrefix(err.Error(), "plan.yaml: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %s", tt.new, err, tt.want)
		}
	}
}

// TestSurplus: what is in the plan, or leads to it part by part, is no surplus.
func TestSurplus(t *testing.T) {
	live := `{apiVersion: v1, kind: X, metadata: {name: x, uid: "1"`
	changed := func(live, final string) Subject {
		return Subject{Action: apply.Change, Identity: Identity{"v1", "X", "", "x"}, Planned: planned(value(t, live), value(t, final))}
	}
	plan := spelling.Item(changed(live+`}, spec: {a: 1.50, s: [1]}}`, live+`, labels: {p: "1", q: "2"}}, spec: {a: 2, s: [1, 2]}}`))
	doc, err := Parse("p", written(t, plan))
	if err != nil {
		t.Fatal(err)
	}
	bound, err := Bind(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ reason, live, final, want string }{
		{"the same", live + `}, spec: {a: 1.50, s: [1]}}`, live + `, labels: {p: "1", q: "2"}}, spec: {a: 2, s: [1, 2]}}`, ""},
		{"a part is in place", live + `, labels: {q: "2"}}, spec: {a: 2, s: [1]}}`, live + `, labels: {p: "1", q: "2"}}, spec: {a: 2, s: [1, 2]}}`, ""},
		{"others have added something", live + `, labels: {z: "9"}}, spec: {a: 1.5, s: [1]}}`, live + `, labels: {p: "1", q: "2", z: "9"}}, spec: {a: 2, s: [1, 2]}}`, ""},
		{"more", live + `}, spec: {a: 1.5, s: [1]}}`, live + `}, spec: {a: 2, b: 1, s: [1]}}`, "spec.b: adding 1 is not in the plan"},
		{"from another value", live + `}, spec: {a: 7, s: [1]}}`, live + `}, spec: {a: 2, s: [1]}}`, "spec.a: 7 → 2, and the plan has 1.5 → 2"},
		{"to another value", live + `}, spec: {a: 1.5, s: [1]}}`, live + `}, spec: {a: 3, s: [1]}}`, "spec.a: 1.5 → 3, and the plan has 1.5 → 2"},
		{"another object", strings.Replace(live, `uid: "1"`, `uid: "2"`, 1) + `}, spec: {a: 1.5}}`, live + `}, spec: {a: 2}}`, "another UID"},
	} {
		got := strings.Join(bound.Surplus(changed(tt.live, tt.final)), "; ")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.reason, got, tt.want)
		}
	}
	other := Subject{Action: apply.Create, Identity: Identity{"v1", "X", "", "y"}}
	if got := bound.Surplus(other); len(got) != 1 {
		t.Errorf("an object that is not in the plan: %v", got)
	}
}
