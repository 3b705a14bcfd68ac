package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// sent is a run over manifests: what it asked the server for besides reads, what it
// reported in which order, and what it ended with.
type sent struct {
	requests, reported []string
	err                string
}

// send merges and sends a plan.
func send(ctx context.Context, p *Plan, m *memory) sent {
	p.Merge(ctx)
	var s sent
	s.reported = reported(func(report func(*Item)) { p.Send(ctx, report) })
	s.requests, s.err = m.writes(), text(p.Failed())
	return s
}

func (s sent) is(t *testing.T, reason string, want sent) {
	t.Helper()
	equal(t, reason+": requests", s.requests, want.requests)
	equal(t, reason+": reported", s.reported, want.reported)
	if s.err != want.err {
		t.Errorf("%s:\ngot  %s\nwant %s", reason, s.err, want.err)
	}
}

const pod = "  containers: [{name: web, image: web}]\n"

// TestOrder: what others need is written first, whatever the order of the input; what is
// reported keeps the order of the input.
func TestOrder(t *testing.T) {
	p, m := setup(t, conf("settings", "1")+manifest("ServiceAccount", "robot", ", namespace: prod}")+manifest("Namespace", "prod", "}"), "")
	send(t.Context(), p, m).is(t, "a namespace, and what is in it", sent{
		requests: []string{"try create namespace/prod", "create namespace/prod",
			"try create configmap/settings", "try create serviceaccount/robot",
			"create serviceaccount/robot", "create configmap/settings"},
		reported: []string{"settings created", "robot created", "prod created"},
	})
}

// TestPreflight: what the server refuses in a trial is never written, and neither is
// anything else; unless something in the run is why it is refused.
func TestPreflight(t *testing.T) {
	for _, tt := range []struct {
		reason string
		local  string
		refuse func(m *memory) func(verb string, t cluster.Target, trial bool) error
		want   sent
	}{
		{"a refusal for good ends the run before it writes", conf("a", "1") + conf("b", "1"),
			func(*memory) func(string, cluster.Target, bool) error {
				return func(verb string, t cluster.Target, trial bool) error {
					if verb == "create" && t.Name == "b" {
						return refused(422, "b is invalid")
					}
					return nil
				}
			},
			sent{requests: []string{"try create configmap/a", "try create configmap/b"}, reported: []string{"a failed", "b failed"},
				err: "configmap/a: was not written because of that: fix it, and merge again\nconfigmap/b: b is invalid"}},
		{"one that another object may put right waits for it", manifest("Pod", "web", ", namespace: prod}\nspec:\n  priorityClassName: vip\n"+pod) + manifest("scheduling.k8s.io/PriorityClass", "vip", "}\nvalue: 7"),
			func(m *memory) func(string, cluster.Target, bool) error {
				return func(verb string, t cluster.Target, _ bool) error {
					if verb == "create" && t.Kind == "Pod" && m.objects["priorityclass.scheduling.k8s.io/vip"] == nil {
						return refused(403, `pods "web" is forbidden: no PriorityClass with name vip was found`)
					}
					return nil
				}
			},
			sent{requests: []string{"try create pod/web", "try create priorityclass.scheduling.k8s.io/vip", "create priorityclass.scheduling.k8s.io/vip", "try create pod/web", "create pod/web"},
				reported: []string{"web created", "vip created"}}},
		{"a webhook that cannot do dry runs says nothing about the object", conf("a", "1") + conf("b", "1"),
			func(*memory) func(string, cluster.Target, bool) error {
				return func(verb string, t cluster.Target, trial bool) error {
					if verb == "create" && trial && t.Name == "a" {
						return refused(400, `admission webhook "x.example.com" does not support dry run`)
					}
					return nil
				}
			},
			sent{requests: []string{"try create configmap/a", "try create configmap/b", "create configmap/a", "create configmap/b"}, reported: []string{"a created", "b created"}}},
		{"one object is not tried first", conf("a", "1"),
			func(*memory) func(string, cluster.Target, bool) error { return nil },
			sent{requests: []string{"create configmap/a"}, reported: []string{"a created"}}},
	} {
		p, m := setup(t, tt.local, "")
		m.refuse = tt.refuse(m)
		send(t.Context(), p, m).is(t, tt.reason, tt.want)
	}
}

// TestFailureInAWrite: the other objects of its stage are written, since each has passed
// its trial; what comes later is not where others may need what failed.
func TestFailureInAWrite(t *testing.T) {
	p, m := setup(t, conf("a", "1")+conf("b", "1")+manifest("ServiceAccount", "robot", ", namespace: prod}"), "")
	m.refuse = func(verb string, t cluster.Target, trial bool) error {
		if verb == "create" && !trial && t.Name == "robot" {
			return errTest
		}
		return nil
	}
	send(t.Context(), p, m).is(t, "a service account cannot be written", sent{
		requests: []string{"try create configmap/a", "try create configmap/b", "try create serviceaccount/robot", "create serviceaccount/robot"},
		reported: []string{"a failed", "b failed", "robot failed"},
		err:      "configmap/a: was not written because of that: fix it, and merge again\nconfigmap/b: was not written because of that: fix it, and merge again\nserviceaccount/robot: no luck",
	})
	p, m = setup(t, conf("a", "1")+conf("b", "1"), "")
	m.refuse = func(verb string, t cluster.Target, trial bool) error {
		if verb == "create" && !trial && t.Name == "a" {
			return errTest
		}
		return nil
	}
	send(t.Context(), p, m).is(t, "a ConfigMap cannot be written", sent{
		requests: []string{"try create configmap/a", "try create configmap/b", "create configmap/a", "create configmap/b"},
		reported: []string{"a failed", "b created"},
		err:      "configmap/a: no luck",
	})
}

// TestOvertaken: an object that another client has changed meanwhile is read and merged again.
func TestOvertaken(t *testing.T) {
	p, m := setup(t, conf("a", "2"), applied(t, "a", "1", "1"))
	overtakes := 3
	m.refuse = func(verb string, _ cluster.Target, _ bool) error {
		if verb == "patch" && overtakes > 0 {
			overtakes--
			m.mu.Lock()
			defer m.mu.Unlock()
			m.objects["configmap/a"] = patched(m.objects["configmap/a"], map[string]any{"metadata": map[string]any{"resourceVersion": strings.Repeat("9", 4-overtakes)}})
			return conflict()
		}
		return nil
	}
	got := send(t.Context(), p, m)
	got.is(t, "three others were faster", sent{requests: []string{"patch configmap/a", "patch configmap/a", "patch configmap/a", "patch configmap/a"}, reported: []string{"a configured"}})
}

// TestInterrupted: no write is begun after an interrupt, and what is under way ends.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := setup(t, conf("a", "1")+conf("b", "1")+conf("c", "1"), "")
		ctx, stop := context.WithCancel(t.Context())
		m.refuse = func(verb string, t cluster.Target, trial bool) error {
			if verb == "create" && !trial && t.Name == "b" {
				stop()
			}
			return nil
		}
		got := send(ctx, p, m)
		stop()
		if !errors.Is(p.Items[2].Err, ErrInterrupted) {
			t.Errorf("%v", p.Items[2].Err)
		}
		got.is(t, "stopped in the second write", sent{
			requests: []string{"try create configmap/a", "try create configmap/b", "try create configmap/c", "create configmap/a", "create configmap/b"},
			reported: []string{"a created", "b created", "c failed"},
			err:      "configmap/c: was not written: the run was interrupted; merge again to finish it",
		})
	})
}

// TestNotServed: objects of a kind that the server does not come to serve are left out;
// everything else goes on.
func TestNotServed(t *testing.T) {
	crd := manifest("apiextensions.k8s.io/CustomResourceDefinition", "widgets.example.com", "}\nspec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true}]}")
	p, m := setup(t, crd+manifest("example.com/Widget", "w", ", namespace: prod}")+conf("a", "1"), "")
	m.gone["customresourcedefinition.apiextensions.k8s.io/widgets.example.com"] = true
	invalidated := false
	p.Invalidate = func() { invalidated = true }
	got := send(t.Context(), p, m)
	got.is(t, "a name is taken", sent{
		requests: []string{"try create customresourcedefinition.apiextensions.k8s.io/widgets.example.com", "try create configmap/a", "create customresourcedefinition.apiextensions.k8s.io/widgets.example.com", "create configmap/a"},
		reported: []string{"widgets.example.com created", "w failed", "a created"},
		err: "customresourcedefinition.apiextensions.k8s.io/widgets.example.com: is written, but its kind is not served\n" +
			"widget.example.com/w: was not written because customresourcedefinition.apiextensions.k8s.io/widgets.example.com is not served: fix that, and merge again",
	})
	if !invalidated {
		t.Error("schemas from before the definition was written are still in use")
	}
}

// TestServedAsBefore: a definition is waited for only if it is new, or defines something else
// than before.
func TestServedAsBefore(t *testing.T) {
	crd := func(name, more, spec string) string {
		return manifest("apiextensions.k8s.io/CustomResourceDefinition", name, more+"}\nspec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, "+spec+"}")
	}
	const (
		one, two    = "versions: [{name: v1, served: true, storage: true}]", "versions: [{name: v1, served: true, storage: true}, {name: v2, served: true}]"
		established = "\nstatus: {conditions: [{type: Established, status: 'True'}]}"
		another     = ", labels: {release: b}"
	)
	there := func(name, state string) string {
		return strings.TrimSuffix(crd(name, ", uid: u, resourceVersion: '1'", one), "\n---\n") + state + "\n---\n"
	}
	p, m := setup(t, crd("new", "", one)+crd("same", another, one)+crd("more", another, two)+crd("late", another, one),
		there("same", established)+there("more", established)+there("late", ""))
	policy, err := merge.PolicyNamed("apply")
	if err != nil {
		t.Fatal(err)
	}
	p.Planner.Policy = policy
	if got := send(t.Context(), p, m); got.err != "" {
		t.Fatal(got.err)
	}
	slices.Sort(m.waited)
	equal(t, "waited for", m.waited, []string{"late", "more", "new"})
}

// TestKindsTogether: all definitions are written before the first of them has to be served,
// however few requests are sent at once, and nothing else is written before all are.
func TestKindsTogether(t *testing.T) { synctest.Test(t, kindsTogether) }

func kindsTogether(t *testing.T) {
	const n = 20
	var local strings.Builder
	for i := range n {
		plural := fmt.Sprint("widgets", i)
		local.WriteString(manifest("apiextensions.k8s.io/CustomResourceDefinition", plural+".example.com", fmt.Sprintf("}\nspec: {group: example.com, scope: Namespaced, names: {kind: Widget%d, plural: %s}, versions: [{name: v1, served: true, storage: true}]}", i, plural)))
	}
	local.WriteString(manifest("example.com/Widget3", "w", ", namespace: prod}"))
	p, m := setup(t, local.String(), "")
	p.Preflight = false
	written := func() int {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.writes())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m.serve = func() {
		for written() < n && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if got := written(); got != n {
			t.Errorf("%d objects were written when a kind was served, want the %d definitions", got, n)
		}
	}
	if got := send(ctx, p, m); got.err != "" || len(m.waited) != n || m.writes()[n] != "create widget3.example.com/w" {
		t.Errorf("%v: %d were waited for, then %q", got.err, len(m.waited), m.writes()[n:])
	}
}

// TestPreview: in a dry run of the server one refusal stops no other, and what the run
// itself would make is not missed.
func TestPreview(t *testing.T) {
	p, m := setup(t, conf("bad", "1")+conf("a", "1")+manifest("Namespace", "prod", "}"), "")
	p.Write.DryRun = true
	m.refuse = func(verb string, t cluster.Target, _ bool) error {
		switch {
		case verb == "create" && t.Name == "bad":
			return errTest
		case verb == "create" && t.Name == "a":
			return refused(404, `namespaces "prod" not found`)
		}
		return nil
	}
	p.Merge(t.Context())
	equal(t, "reported", reported(func(report func(*Item)) { p.Preview(t.Context(), report) }), []string{"bad failed", "a created", "prod created"})
	if notes := p.Items[1].Result.Notes; len(notes) != 1 || notes[0] != `could not be tried by the server before namespace/prod is written: namespaces "prod" not found` {
		t.Errorf("%q", notes)
	}
}

// TestErrPlan: what is wrong with the input lets nothing be written.
func TestErrPlan(t *testing.T) {
	p, m := setup(t, conf("a", "1"), "")
	p.Err = errTest
	send(t.Context(), p, m).is(t, "a file cannot be read", sent{reported: []string{"a failed"}, err: "no luck\nconfigmap/a: was not written because of that: fix it, and merge again"})
}
