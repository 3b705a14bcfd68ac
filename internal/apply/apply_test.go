package apply

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

func widget(size any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "n"},
		"spec": map[string]any{"size": size},
	}}
}

// planned is a plan, and the live object that it leads to.
func planned(t *testing.T, local, live *unstructured.Unstructured, with ...Option) (Planned, *unstructured.Unstructured) {
	t.Helper()
	p, err := Plan(t.Context(), local, live, with...)
	if err != nil {
		t.Fatal(err)
	}
	u, err := p.Unstructured()
	if err != nil {
		t.Fatal(err)
	}
	u.SetResourceVersion("1")
	return p, u
}

func TestNumbersAreExact(t *testing.T) {
	for _, size := range []any{int64(math.MaxInt64), int64(math.MinInt64), int64(9007199254740993), 0.1, 3.0, 1e300, -2.5e-10} {
		p, u := planned(t, widget(size), nil)
		if got, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "size"); got != size && !(size == 3.0 && got == int64(3)) {
			t.Errorf("%v (%T) became %v (%T)", size, size, got, got)
		}
		if again, _ := planned(t, widget(size), u); p.Action != Create || again.Action != Nothing {
			t.Errorf("%v: %s, then %s", size, p.Action, again.Action)
		}
	}
}

func TestPlanRefusesWhatIsNotExact(t *testing.T) {
	for _, tt := range []struct {
		reason string
		size   any
		want   string
	}{
		{"2^53 + 1 decoded as float64", float64(9007199254740993), "local: widget.example.com/w: spec.size: float64: may have been rounded"},
		{"no number", math.NaN(), "spec.size: float64: is no number of JSON"},
		{"a Go type that unstructured does not hold", 3, "spec.size: is a Go int: unstructured holds"},
		{"inside a list", []any{"a", []string{"b"}}, "spec.size[1]: is a Go []string"},
	} {
		if _, err := Plan(t.Context(), widget(tt.size), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.want)
		}
		if _, err := Plan(t.Context(), widget(int64(1)), widget(tt.size)); err == nil || !strings.HasPrefix(err.Error(), "live: ") {
			t.Errorf("%s, in live: got %v", tt.reason, err)
		}
	}
}

func TestPlanRefusesOtherObjects(t *testing.T) {
	other := widget(int64(1))
	other.SetName("v")
	elsewhere := widget(int64(1))
	elsewhere.SetNamespace("m")
	for _, tt := range []struct {
		reason      string
		local, live *unstructured.Unstructured
		want        string
	}{
		{"another name", widget(int64(1)), other, "widget.example.com/w: live is widget.example.com/v"},
		{"another namespace", widget(int64(1)), elsewhere, "widget.example.com/w: live is widget.example.com/w"},
		{"nothing", nil, nil, "local: the object: apiVersion: is not set"},
		{"no name", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}, nil, "metadata.name: is not set"},
	} {
		if _, err := Plan(t.Context(), tt.local, tt.live); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.reason, err, tt.want)
		}
	}
	bare := widget(int64(1))
	bare.SetNamespace("")
	if _, err := Plan(t.Context(), bare, elsewhere); err != nil {
		t.Errorf("a namespace that local leaves out is live's: %v", err)
	}
}

func TestPlanNeverModifiesItsArguments(t *testing.T) {
	local, live := widget(int64(2)), widget(int64(1))
	l, v := local.DeepCopy(), live.DeepCopy()
	_, u := planned(t, local, live)
	if err := unstructured.SetNestedField(u.Object, int64(7), "spec", "size"); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(local, l) || !reflect.DeepEqual(live, v) {
		t.Error("an argument was modified")
	}
}

func TestOptions(t *testing.T) {
	_, live := planned(t, widget(int64(1)), nil)
	live.Object["spec"] = map[string]any{"size": int64(5)}
	live.Object["status"] = map[string]any{"ready": true}
	rules, err := schema.ParseRules([]byte("- path: spec.size\n  winner: live\n"))
	if err != nil {
		t.Fatal(err)
	}
	size := func(with ...Option) any {
		_, u := planned(t, widget(int64(2)), live, with...)
		v, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "size")
		return v
	}
	if got := size(); got != int64(2) {
		t.Errorf("local wins: %v", got)
	}
	if got := size(WithPolicy("live")); got != int64(5) {
		t.Errorf("the policy decides: %v", got)
	}
	if got := size(WithRules(rules)); got != int64(5) {
		t.Errorf("a rule decides: %v", got)
	}
	if got := size(WithStrategy("json"), WithValidation(Ignore), WithManager("me")); got != int64(2) {
		t.Errorf("strategy: %v", got)
	}
	asked := 0
	ask := func(context.Context, string, string, string) (*merge.Type, error) { asked++; return nil, nil }
	if size(WithSchemas(ask)); asked != 1 {
		t.Errorf("a custom resource's schema is asked for: %d", asked)
	}
	withStatus := widget(int64(1))
	withStatus.Object["status"] = map[string]any{"ready": false}
	for _, has := range []bool{true, false} {
		p, _ := planned(t, withStatus, live, WithStatus(has))
		if ignored := len(p.Ignored) > 0; ignored != has {
			t.Errorf("status subresource %t: ignored %v", has, p.Ignored)
		}
	}
	for _, bad := range []Option{WithPolicy("best"), WithStrategy("best")} {
		if _, err := Plan(t.Context(), widget(int64(1)), nil, bad); err == nil || !strings.Contains(err.Error(), `"best"`) {
			t.Errorf("got %v", err)
		}
	}
}

func TestConflictsNameNoValue(t *testing.T) {
	state := func(pw string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "s"}, "data": map[string]any{"pw": pw},
		}}
	}
	_, live := planned(t, state("b25l"), nil)
	live.Object["data"] = map[string]any{"pw": "dHdv"}
	p, _ := planned(t, state("dGhyZWU="), live, WithPolicy("strict"))
	err := p.Err()
	if err == nil || !strings.Contains(err.Error(), "configmap/s: local and live disagree: data.pw") {
		t.Fatalf("got %v", err)
	}
	for _, value := range []string{"b25l", "dHdv", "dGhyZWU="} {
		if strings.Contains(err.Error(), value) {
			t.Errorf("%v has a value in it", err)
		}
	}
	if p, _ = planned(t, state("dGhyZWU="), live); p.Err() != nil {
		t.Errorf("nothing is left to decide: %v", p.Err())
	}
}

func TestRequests(t *testing.T) {
	_, live := planned(t, widget(int64(1)), nil)
	same, _ := planned(t, widget(int64(1)), live)
	if r, err := same.Request(false); err != nil || r.Body != nil || r.Type != "" || r.Version != "1" {
		t.Errorf("nothing to write: %+v, %v", r, err)
	}
	if _, err := (Planned{Action: Create, Subject: Subject{Object: object.Object{}}, Final: map[string]any{"f": func() {}}}).Request(false); err == nil {
		t.Error("what JSON cannot hold must not be sent")
	}
}
