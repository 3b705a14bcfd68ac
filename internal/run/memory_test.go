package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

// memory holds live objects and records what it is asked for. It is there for the
// logic of a run alone: what a server does is tested on a real one.
type memory struct {
	mu      sync.Mutex
	objects map[string]map[string]any // by name
	log     []string                  // "try create configmap/a", "create configmap/a", …
	waited  []string                  // definitions that were waited for

	// refuse is asked before anything is done; it may do something itself.
	refuse func(verb string, t cluster.Target, trial bool) error
	gone   map[string]bool // kinds that are not served after all
	serve  func()          // called while a kind is waited for; may be nil
}

func (m *memory) Resolve(_ context.Context, objects []object.Object) ([]live.Located, error) {
	var all []live.Located
	for _, o := range objects {
		o = o.InNamespace(o.Namespace())
		all = append(all, live.Located{Object: o, Target: cluster.Target{
			Resource:  cluster.Resource{Group: o.Group(), Version: o.Version(), Kind: o.Kind(), Namespaced: o.Namespace() != ""},
			Namespace: o.Namespace(), Name: o.Name(),
		}})
	}
	return source.Distinct(all, func(l live.Located) object.Object { return l.Object })
}

// Get is nil for what is not there, and is no *cluster.Refusal, as live.Reader says.
func (m *memory) Get(_ context.Context, t cluster.Target) (map[string]any, error) {
	if err := m.note("get", t, cluster.Write{}); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects[t.String()], nil
}

func (m *memory) Send(_ context.Context, t cluster.Target, as cluster.Way, body any, w cluster.Write) (map[string]any, error) {
	m.mu.Lock()
	was := m.objects[t.String()]
	m.mu.Unlock()
	change, err := decoded(body)
	switch {
	case as == cluster.JSONPatch:
		return nil, fmt.Errorf("%s: no test sends a JSON patch here", t)
	case err != nil:
		return nil, err
	case as == cluster.Create:
		return m.write("create", t, w, change)
	case as == cluster.Replace:
		return m.write("update", t, w, change)
	case as == cluster.Apply:
		return m.write("apply", t, w, change)
	}
	return m.write("patch", t, w, patched(was, change))
}

func (m *memory) Delete(_ context.Context, t cluster.Target, d cluster.Deletion) (map[string]any, error) {
	if err := m.note("delete", t, cluster.Write{DryRun: d.DryRun}); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !d.DryRun {
		delete(m.objects, t.String())
	}
	return nil, nil
}

func (m *memory) Patience() time.Duration { return time.Second }

func (m *memory) WaitEstablished(_ context.Context, crd cluster.Target, _ map[string]any) error {
	m.mu.Lock()
	m.waited = append(m.waited, crd.Name)
	m.mu.Unlock()
	if m.serve != nil {
		m.serve()
	}
	if m.gone[crd.String()] {
		return fmt.Errorf("%s: is written, but its kind is not served", crd)
	}
	return nil
}

func (m *memory) note(verb string, t cluster.Target, w cluster.Write) error {
	name := verb
	if w.DryRun {
		name = "try " + verb
	}
	m.mu.Lock()
	m.log = append(m.log, name+" "+t.String())
	m.mu.Unlock()
	if m.refuse == nil {
		return nil
	}
	return m.refuse(verb, t, w.DryRun)
}

func (m *memory) write(verb string, t cluster.Target, w cluster.Write, obj map[string]any) (map[string]any, error) {
	if err := m.note(verb, t, w); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	meta := maps.Clone(obj["metadata"].(map[string]any))
	meta["resourceVersion"] = fmt.Sprint(len(m.log))
	obj = maps.Clone(obj)
	obj["metadata"] = meta
	if !w.DryRun {
		m.objects[t.String()] = obj
	}
	return obj, nil
}

var decoded, patched = values.Sent, values.Patched

// patched is an object after a merge patch.
// writes are the requests of the log except for reads, in its order.
func (m *memory) writes() []string {
	return slices.DeleteFunc(slices.Clone(m.log), func(s string) bool { return strings.HasPrefix(s, "get ") })
}

// refused is an answer of a server.
func refused(code int, text string) error {
	return &cluster.Refusal{Code: code, Message: text, Text: text}
}

// conflict is the answer to a write that another has overtaken.
func conflict() error {
	return &cluster.Refusal{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Text: "the object has been modified"}
}

// setup is a run over manifests; live are those that are there already.
func setup(t *testing.T, local, liveObjects string) (*Plan, *memory) {
	t.Helper()
	m := &memory{objects: map[string]map[string]any{}, gone: map[string]bool{}}
	for _, o := range objects(t, liveObjects) {
		m.objects[o.String()] = o.Value
	}
	policy, err := merge.PolicyNamed("strict")
	if err != nil {
		t.Fatal(err)
	}
	job := &Job{
		Live: m, API: m, Preflight: true, Concurrency: 1,
		Planner: &apply.Planner{Policy: policy, Manager: "kubectl-client-side-apply"},
	}
	p, err := job.Resolve(t.Context(), objects(t, local))
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

func objects(t *testing.T, text string) []object.Object {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	all, err := source.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// manifest is an object of the core group, or, with a slash, of another.
func manifest(kind, name, more string) string {
	apiVersion := "v1"
	if group, k, ok := strings.Cut(kind, "/"); ok {
		apiVersion, kind = group+"/v1", k
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s%s\n---\n", apiVersion, kind, name, more)
}

// conf is a ConfigMap with one value.
func conf(name, value string) string {
	return manifest("ConfigMap", name, fmt.Sprintf(", namespace: prod}\ndata: {a: %q}", value))
}

// applied is a live ConfigMap that was applied with one value and has another now.
func applied(t *testing.T, name, was, is string) string {
	t.Helper()
	text, err := lastapplied.Encode(objects(t, conf(name, was))[0].Value, lastapplied.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return manifest("ConfigMap", name, fmt.Sprintf(", namespace: prod, uid: uid-%s, resourceVersion: \"1\", annotations: {%s: %q}}\ndata: {a: %q}",
		name, lastapplied.Annotation, text, is))
}

// reported are the outcomes in the order in which they were reported.
func reported(run func(func(*Item))) []string {
	var all []string
	run(func(i *Item) {
		outcome := string(i.Result.Outcome)
		if i.Err != nil {
			outcome = "failed"
		}
		all = append(all, i.Target.Name+" "+outcome)
	})
	return all
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

var errTest = errors.New("no luck")
