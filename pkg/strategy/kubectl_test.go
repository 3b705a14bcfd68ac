package strategy_test

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/strategic"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

// sides are the three of a merge, of the Deployment web.
func sides(t *testing.T, name, original, local, live string) strategy.Input {
	t.Helper()
	by, err := strategy.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		t.Fatal(err)
	}
	typ, ok := schema.Builtin("apps", "v1", "Deployment")
	if !ok {
		t.Fatal("no Deployment")
	}
	in := strategy.Input{Group: "apps", Version: "v1", Kind: "Deployment", Schema: typ, Strategic: strategic.Of(appsv1.Deployment{}), HasStatus: true, Policy: policy, Strategy: by}
	in.Triple = merge.Triple{Local: values.Read(t, local), Live: values.Read(t, live), Appliers: []string{"kubectl-client-side-apply"}}
	if original != "" {
		in.Triple.Original = values.Read(t, original)
	}
	return in
}

// TestKubectlStrategies: the results of kubectl apply, by the type's lists for built-in kinds, and
// lists whole for others.
func TestKubectlStrategies(t *testing.T) {
	const containers = `{"kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[%]}}}}`
	with := func(entries string) string { return strings.Replace(containers, "%", entries, 1) }
	for _, tt := range []struct {
		reason, strategy, original, local, live, want string
	}{
		{"a list by its keys", "strategic", with(`{"name":"a","image":"1"}`), with(`{"name":"a","image":"2"}`), with(`{"name":"a","image":"1"},{"name":"mesh"}`), with(`{"image":"2","name":"a"},{"name":"mesh"}`)},
		{"a list whole", "json", with(`{"name":"a","image":"1"}`), with(`{"name":"a","image":"2"}`), with(`{"name":"a","image":"1"},{"name":"mesh"}`), with(`{"image":"2","name":"a"}`)},
		{"what was applied and is dropped is removed", "json", `{"metadata":{"name":"web"},"spec":{"a":{"b":1},"c":1}}`, `{"metadata":{"name":"web"},"spec":{"c":1}}`, `{"metadata":{"name":"web"},"spec":{"a":{"b":1,"theirs":2},"c":1}}`, `{"metadata":{"name":"web"},"spec":{"c":1}}`},
		{"null clears", "json", `{"metadata":{"name":"web"}}`, `{"metadata":{"name":"web"},"spec":{"a":null}}`, `{"metadata":{"name":"web"},"spec":{"a":1,"b":2}}`, `{"metadata":{"name":"web"},"spec":{"b":2}}`},
		{"a null that was applied before is not sent again", "json", `{"metadata":{"name":"web"},"spec":{"a":null}}`, `{"metadata":{"name":"web"},"spec":{"a":null}}`, `{"metadata":{"name":"web"},"spec":{"a":1}}`, `{"metadata":{"name":"web"},"spec":{"a":1}}`},
		{"nulls inside a list are left out", "json", "", `{"metadata":{"name":"web"},"spec":{"l":[{"a":null,"b":[{"c":null}]}]}}`, `{"metadata":{"name":"web"},"spec":{}}`, `{"metadata":{"name":"web"},"spec":{"l":[{"b":[{}]}]}}`},
		{"an equal list stays live's", "json", "", `{"metadata":{"name":"web"},"spec":{"l":[1,2]}}`, `{"metadata":{"name":"web"},"spec":{"l":[1,2]}}`, `{"metadata":{"name":"web"},"spec":{"l":[1,2]}}`},
		{"what others have set stays", "strategic", with(""), with(""), `{"kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":5,"template":{"spec":{"containers":[]}}}}`, `{"kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":5,"template":{"spec":{"containers":[]}}}}`},
	} {
		out, err := strategy.Plan(sides(t, tt.strategy, tt.original, tt.local, tt.live))
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		if got, err := json.Marshal(out.Result); err != nil || string(got) != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.reason, got, tt.want)
		}
	}
	broken := sides(t, "strategic", "", with(`{"image":"2"}`), with(`{"name":"a","image":"1"}`))
	if _, err := strategy.Plan(broken); err == nil {
		t.Error("an entry without its key was merged")
	}
	untyped := sides(t, "strategic", "", with(`{"name":"b"}`), with(`{"name":"a"}`))
	untyped.Strategic = nil
	if out, err := strategy.Plan(untyped); err != nil || !merge.Equal(out.Result, values.Read(t, with(`{"name":"b"}`)), nil) {
		t.Errorf("a kind that is not compiled in: %v, %v", out.Result, err)
	}
	if _, err := strategy.Named("nope"); err == nil || !strings.Contains(err.Error(), "auto") {
		t.Errorf("%v", err)
	}
}

// owners is who owns the value at a path.
type owners map[string]string

// At is nil for a path without an owner.
func (o owners) At(p merge.Path) []merge.Owner {
	if m, ok := o[p.String()]; ok {
		return []merge.Owner{{Manager: m, Operation: "Update"}}
	}
	return nil
}

// TestExtras: the fields that others have added to live, and about which nothing is decided; not
// those of the applier, the control plane or the server's defaults.
func TestExtras(t *testing.T) {
	const local = `{"kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}}`
	const live = `{"kind":"Deployment","metadata":{"name":"web","labels":{"team":"x","ours":"y","control":"z"}},"spec":{"replicas":5,"revisionHistoryLimit":10,"template":{"spec":{"containers":[{"name":"a"},{"name":"mesh"}]}}}}`
	in := sides(t, "auto", local, local, live)
	in.Compare = true
	in.Triple.Owners = owners{
		"metadata.labels.team": "rival", "metadata.labels.ours": "kubectl-client-side-apply", "metadata.labels.control": "kube-controller-manager",
		"spec.template.spec.containers[name=mesh]": "istio",
	}
	extras := func() string {
		t.Helper()
		out, err := strategy.Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range out.Extras {
			by := "?"
			if r.Owner != nil {
				by = r.Owner.Manager
			}
			got = append(got, r.Path.String()+" "+by)
		}
		return strings.Join(got, ", ")
	}
	if got, want := extras(), "metadata.labels.team rival, spec.template.spec.containers[name=mesh] istio"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	in.Triple.Owners = nil
	if got, want := extras(), "metadata.labels.control ?, metadata.labels.ours ?, metadata.labels.team ?, spec.template.spec.containers[name=mesh] ?"; got != want {
		t.Errorf("without managedFields: %s\nwant %s", got, want)
	}
	rules, err := schema.ParseRules([]byte("- path: metadata.labels\n  winner: live\n"))
	if err != nil {
		t.Fatal(err)
	}
	in.Rules = rules
	if got, want := extras(), "spec.template.spec.containers[name=mesh] ?"; got != want {
		t.Errorf("a rule gives the labels to live: %s\nwant %s", got, want)
	}
}
