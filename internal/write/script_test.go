package write

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

// script is an API server that answers as it is reported to, and records what it is asked. It
// is there for the logic of a write alone: what a server does is tested on a real one.
type script struct {
	live    map[string]any // nil: not there
	log     []string       // verbs
	answers []answer       // to the writes, in order; then all are done
	read    error          // what a read ends with
	version int
}

// answer is the outcome of a write, and what happens to the object before the answer arrives.
type answer struct {
	done  bool                                // the write is done
	by    func(map[string]any) map[string]any // what others make of the object; nil: nothing
	error error
}

func (s *script) Get(context.Context, cluster.Target) (map[string]any, error) {
	s.log = append(s.log, "get")
	switch {
	case s.read != nil:
		return nil, s.read
	case s.live == nil:
		return nil, &cluster.Refusal{Code: http.StatusNotFound, Text: "not found"}
	}
	return s.live, nil
}

func (s *script) write(verb string, w cluster.Write, obj map[string]any) (map[string]any, error) {
	s.log = append(s.log, verb)
	var a answer
	if a.done = true; len(s.answers) > 0 {
		a, s.answers = s.answers[0], s.answers[1:]
	}
	if a.done && !w.DryRun {
		s.store(obj)
	}
	if a.by != nil {
		s.store(a.by(s.live))
	}
	if a.error != nil {
		return nil, a.error
	}
	if w.DryRun {
		return obj, nil
	}
	return s.live, nil
}

// store makes a new version of the object, unless it is as it was.
func (s *script) store(obj map[string]any) {
	if obj == nil {
		s.live = nil
		return
	}
	if s.live != nil && merge.Equal(s.live, obj, nil) {
		return
	}
	s.version++
	s.live = set(obj, fmt.Sprint(100+s.version), "metadata", "resourceVersion")
}

func (s *script) Send(_ context.Context, _ cluster.Target, as cluster.Way, body any, w cluster.Write) (map[string]any, error) {
	if as == cluster.JSONPatch {
		return s.write("json patch", w, set(s.live, "by JSON patch", "data", "a"))
	}
	change, err := decoded(body)
	switch {
	case err != nil:
		return nil, err
	case as == cluster.Create:
		return s.write("create", w, change)
	case as == cluster.Replace:
		return s.write("update", w, change)
	case as == cluster.Apply:
		return s.write("apply", w, patched(s.live, change))
	}
	return s.write("patch", w, patched(s.live, change))
}

// Delete deletes the object unless the answer scripted for it is an error.
func (s *script) Delete(_ context.Context, _ cluster.Target, d cluster.Deletion) (map[string]any, error) {
	_, err := s.write("delete", cluster.Write{DryRun: true}, s.live)
	if err == nil && !d.DryRun {
		s.live = nil
	}
	return nil, err
}

func (s *script) Patience() time.Duration { return 5 * time.Second }

var decoded, patched = values.Sent, values.Patched

// patched is an object after a merge patch.
// set is an object with another value somewhere.
func set(obj map[string]any, v any, path ...string) map[string]any {
	for i := len(path) - 1; i >= 0; i-- {
		v = map[string]any{path[i]: v}
	}
	return patched(obj, v.(map[string]any))
}

// What servers, and what stands between, answer.
var (
	conflict  = &cluster.Refusal{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Text: "the object has been modified"}
	lost      = &cluster.Unreachable{Lost: true, Text: "its answer broke off"}
	failing   = &cluster.Refusal{Code: http.StatusInternalServerError, Text: "etcd has no leader"}
	busy      = &cluster.Refusal{Code: http.StatusTooManyRequests, Text: "too many requests", Pause: 2 * time.Second}
	noPatches = &cluster.Refusal{Code: http.StatusUnsupportedMediaType, Text: "no patches here"}
	missing   = &cluster.Refusal{Code: http.StatusNotFound, Text: "not found"}
	forbidden = &cluster.Refusal{Code: http.StatusForbidden, Text: "forbidden"}
)

var conf = cluster.Target{Resource: cluster.Resource{Version: "v1", Kind: "ConfigMap", Namespaced: true}, Namespace: "prod", Name: "conf"}

const manager = "kubectl-client-side-apply"

// local is the ConfigMap with a value.
func local(a string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "conf", "namespace": "prod"}, "data": map[string]any{"a": a}}
}

// applied is the live ConfigMap as it is after local was applied.
func applied(t *testing.T, a string) map[string]any {
	t.Helper()
	text, err := lastapplied.Encode(local(a), lastapplied.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return patched(local(a), map[string]any{"metadata": map[string]any{"resourceVersion": "7", "annotations": map[string]any{lastapplied.Annotation: text}}})
}

// task merges local with what the script holds.
func task(t *testing.T, s *script, a, policy string) Task {
	t.Helper()
	p, err := merge.PolicyNamed(policy)
	if err != nil {
		t.Fatal(err)
	}
	planner := &apply.Planner{Policy: p, Manager: manager}
	replan := func(ctx context.Context, live map[string]any) (apply.Planned, error) {
		return planner.Plan(ctx, apply.Subject{Object: object.Object{Value: local(a)}, Name: conf.String()}, live)
	}
	planned, err := replan(t.Context(), s.live)
	if err != nil {
		t.Fatal(err)
	}
	return Task{Target: conf, Planned: planned, Replan: replan}
}

// preparedTask is the same with its request in place of the plan's sides.
func preparedTask(t *testing.T, s *script, a, policy string) Task {
	t.Helper()
	out := task(t, s, a, policy)
	r, err := out.Planned.Request(false)
	if err != nil {
		t.Fatal(err)
	}
	out.Prepared = &r
	out.Planned.Live, out.Planned.Final, out.Planned.Result = nil, nil, nil
	return out
}

// with is another client's change of the object: another value of a field.
func with(v any, path ...string) func(map[string]any) map[string]any {
	return func(obj map[string]any) map[string]any { return set(obj, v, path...) }
}
