package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPrunedWebhooks: a webhook that refuses a deletion is quoted. If it does so in a trial,
// nothing is written; if only then, the object stays in its set, which the next run
// finishes.
func TestPrunedWebhooks(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	no := map[string]any{"allowed": false, "status": map[string]any{"message": "not on Fridays", "code": 403}}
	for _, tt := range []struct {
		reason string
		hook   admission
		code   int
		says   []string
		wrote  bool
	}{
		{"it refuses the trial", admission{operation: "DELETE", verdict: no}, 1,
			[]string{"configmap/old: was not pruned: ", "denied the request: not on Fridays"}, false},
		{"it looks like a conflict", admission{operation: "DELETE", verdict: map[string]any{"allowed": false, "status": map[string]any{"message": "not on Fridays", "code": 409, "reason": "Conflict"}}}, 1,
			[]string{"configmap/old: was not pruned: ", "not on Fridays"}, false},
		{"it refuses the deletion alone", admission{operation: "DELETE", lenient: true, verdict: no}, 1,
			[]string{"configmap/old: was not pruned: ", "denied the request: not on Fridays"}, true},
	} {
		t.Run(strings.ReplaceAll(tt.reason, " ", "-"), func(t *testing.T) {
			t.Parallel()
			p := &pruned{user: s.user(t, "pruned-hook"), counts: &tally{counts: map[string]int{}}}
			v1, v2 := []string{"configmap/a", "configmap/old"}, []string{"configmap/a", "configmap/new"}
			p.manifest("v1.yaml", v1, 1)
			p.manifest("v2.yaml", v2, 1)
			p.manifest("probe.yaml", []string{"configmap/probe"}, 1)
			p.runs("v1.yaml")
			p.does("kubectl", "create", "-f", "probe.yaml")
			p.webhook(tt.hook)
			p.awaits(func() bool {
				args := []string{"delete", "configmap/probe", "--dry-run=server"}
				if tt.hook.lenient {
					args = args[:2]
				}
				if p.tries("kubectl", args...).code != 0 {
					return true
				}
				p.does("kubectl", "apply", "-f", "probe.yaml")
				return false
			})
			got := p.tries("kubectl-merge", append([]string{"-f", "v2.yaml"}, prunedArgs...)...)
			if got.code != tt.code {
				t.Errorf("want exit %d\n%s", tt.code, got)
			}
			for _, says := range tt.says {
				if !strings.Contains(got.stderr, says) {
					t.Errorf("want %q on stderr\n%s", says, got)
				}
			}
			is := p.objects()
			if _, wrote := is["configmap/new"]; wrote != tt.wrote {
				t.Errorf("written: %t, want %t\n%s", wrote, tt.wrote, got)
			}
			if is["configmap/old"].Labels[partOf] == "" {
				t.Errorf("what was not deleted has left its set\n%s", got)
			}
			p.does("kubectl", "delete", "-f", "webhook.yaml")
			p.awaits(func() bool {
				return p.tries("kubectl", "delete", "configmap/probe", "--ignore-not-found").code == 0
			})
			p.runs("v2.yaml")
			p.exact("after the webhook is gone", v2)
			p.does("kubectl", "create", "-f", "webhook.yaml") // which the end of the test deletes
		})
	}
}

// TestPrunedTogether has two runs with different inputs work on one set at once. Whatever
// their outcome, no object outside the set is deleted, every member can be found by what the
// parent says, and the next run makes the set exact.
func TestPrunedTogether(t *testing.T) {
	t.Parallel()
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	n := seed(t)
	q := &prunedSequence{pruned: newPruned(t, server.need(t), counts), rand: rand.New(rand.NewPCG(n, 0))}
	q.does("kubectl", "create", "configmap", "theirs")
	for round := range 6 * *soak {
		inputs := [][]string{q.input(), q.input()}
		before := foreign(q.objects())
		var wait sync.WaitGroup
		printed := make([][]byte, len(inputs))
		for i, input := range inputs {
			file := q.manifest(fmt.Sprintf("input%d.yaml", i), input, round)
			wait.Go(func() {
				cmd := q.command(q.t.Context(), "kubectl-merge", append([]string{"-f", file}, prunedArgs...)...)
				out, err := cmd.CombinedOutput()
				if printed[i] = out; err != nil && cmd.ProcessState.ExitCode() != 1 && cmd.ProcessState.ExitCode() != 3 {
					t.Errorf("round %d: %v\n%s", round, err, out)
				}
			})
		}
		wait.Wait()
		counts.add("pairs of runs", 1)
		where := fmt.Sprintf("round %d", round)
		q.untouched(where, before, append(inputs[0], inputs[1]...))
		q.covered(where)
		q.runs("input1.yaml")
		q.exact(where, inputs[1])
		if t.Failed() {
			t.Fatalf("%s: two runs at once with %q and %q printed\n%s\nand\n%s", where, inputs[0], inputs[1], printed[0], printed[1])
		}
	}
}

// TestPrunedMadeAtOnce: two runs find no set, and the one whose write of the parent comes second
// does not take from it what the other, which has ended by then, has created members of.
// kubectl finds the parent owned as if it had made it.
func TestPrunedMadeAtOnce(t *testing.T) {
	t.Parallel()
	q := newPruned(t, server.need(t), &tally{counts: map[string]int{}})
	first, second := []string{"configmap/a", "serviceaccount/b"}, []string{"configmap/c"}
	q.manifest("first.yaml", first, 1)
	q.manifest("second.yaml", second, 1)
	p, err := newProxy(q.server.config)
	q.must(err)
	defer p.http.Close()
	p.times = 1
	p.rival = func(int) error {
		return q.command(t.Context(), "kubectl-merge", append([]string{"-f", "first.yaml"}, prunedArgs...)...).Run()
	}
	late := q.proxied(p)
	got := late.tries("kubectl-merge", append([]string{"-f", "second.yaml"}, prunedArgs...)...)
	if p.rivalled != 1 || p.rivalErr != nil {
		t.Fatalf("%d runs came first: %v\n%s", p.rivalled, p.rivalErr, got)
	}
	q.covered("after both")
	q.runs("second.yaml")
	q.exact("after the next run", second)
	q.manifest("more.yaml", []string{"configmap/c", "serviceaccount/d"}, 1)
	if theirs := q.appliesTheirs("more.yaml"); strings.Contains(theirs.stderr, "onflict") {
		t.Errorf("kubectl\n%s", theirs)
	}
}

// covered: the parent lists the kind of every member.
func (p *pruned) covered(where string) {
	p.t.Helper()
	parent, err := p.server.client.CoreV1().Secrets(p.ns).Get(p.t.Context(), "shop", metav1.GetOptions{})
	p.must(err)
	lists := "," + strings.ToLower(parent.Annotations["applyset.kubernetes.io/contains-group-kinds"]) + ","
	for ref, o := range p.objects() {
		kind, _, _ := strings.Cut(ref, "/")
		if o.Labels[partOf] != "" && !strings.Contains(lists, ","+kind+",") {
			p.t.Errorf("%s: %s is a member, and the parent lists %s", where, ref, lists)
		}
	}
}
