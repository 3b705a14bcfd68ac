package migrate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

const config = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"a":"1","d":"4"}}`

// recorder holds one object and records what it is asked for. It is there for the logic of a
// migration alone: what a server does is tested on a real one.
type recorder struct {
	write.API // what is not below is not called
	object    map[string]any
	log       []string
	refuse    map[string]error                    // by what is asked, once each
	stores    func(map[string]any) map[string]any // what an apply makes of the object; nil: nothing
	keeps     func(map[string]any) map[string]any // what is stored of a patched object; nil: all
	meanwhile map[string]func(*recorder)          // what others do before a request
	loses     bool                                // the answer to the next write, which is done
}

var lost = &cluster.Unreachable{Text: "cut off", Lost: true}

func (r *recorder) Resolve(_ context.Context, objects []object.Object) ([]live.Located, error) {
	var all []live.Located
	for _, o := range objects {
		all = append(all, live.Located{Object: o, Target: cluster.Target{
			Resource: cluster.Resource{Version: o.Version(), Kind: o.Kind(), Namespaced: true}, Namespace: o.Namespace(), Name: o.Name(),
		}})
	}
	return all, nil
}

// reader is a recorder that has no object without an error.
type reader struct{ *recorder }

func (r reader) Get(ctx context.Context, t cluster.Target) (map[string]any, error) {
	obj, err := r.recorder.Get(ctx, t)
	if cluster.IsNotFound(err) {
		return nil, nil
	}
	return obj, err
}

func (r *recorder) asked(what string, w cluster.Write) error {
	if w.DryRun {
		what = "try " + what
	}
	r.log = append(r.log, what)
	if do := r.meanwhile[what]; do != nil {
		delete(r.meanwhile, what)
		do(r)
	}
	err := r.refuse[what]
	delete(r.refuse, what)
	return err
}

func (r *recorder) Get(context.Context, cluster.Target) (map[string]any, error) {
	if err := r.asked("get", cluster.Write{}); err != nil {
		return nil, err
	}
	if r.object == nil {
		return nil, &cluster.Refusal{Code: http.StatusNotFound, Text: "not found"}
	}
	return r.object, nil
}

func (r *recorder) Send(_ context.Context, _ cluster.Target, as cluster.Way, patch any, w cluster.Write) (map[string]any, error) {
	if as == cluster.Apply {
		return r.apply(w)
	}
	if err := r.asked("patch as "+w.FieldManager, w); err != nil {
		return nil, err
	}
	change, err := values.Sent(patch)
	if err != nil {
		return nil, err
	}
	obj := values.Patched(r.object, change)
	if r.keeps != nil {
		obj = r.keeps(obj)
	}
	if !w.DryRun {
		obj = values.Patched(obj, map[string]any{"metadata": map[string]any{"resourceVersion": fmt.Sprint(100 + len(r.log))}})
		slices.Reverse(merge.At[[]any](obj, "metadata", "managedFields")) // a server orders them, too
		r.object = obj
	}
	if r.loses && !w.DryRun {
		r.loses = false
		return nil, lost
	}
	return obj, nil
}

func (*recorder) WaitEstablished(context.Context, cluster.Target, map[string]any) error { return nil }

func (*recorder) Patience() time.Duration { return time.Second }

func (r *recorder) apply(w cluster.Write) (map[string]any, error) {
	if err := r.asked("apply as "+w.FieldManager, w); err != nil {
		return nil, err
	}
	if r.stores != nil {
		return r.stores(r.object), nil
	}
	return r.object, nil
}

// change is the object with another value.
func (r *recorder) change(key, value string) {
	r.object = values.Patched(r.object, map[string]any{"metadata": map[string]any{"resourceVersion": "8"}, "data": map[string]any{key: value}})
}

// done is an item and its migration.
type done struct {
	*run.Item
	*Move
}

// moved plans, tries and writes the migration of the object.
func moved(t *testing.T, r *recorder, p Planner) (done, error) {
	t.Helper()
	m := New(r, reader{r}, p)
	err, reported := m.Read(t.Context(), []object.Object{{Value: read(t, config)}}), 0
	if err == nil {
		err = m.Try(t.Context())
	}
	if err == nil {
		m.Send(t.Context(), func(*run.Item) { reported++ })
		err = m.Errs()
		if reported != 1 {
			t.Errorf("%d objects reported", reported)
		}
	}
	return done{m.Items[0], m.Moves[m.Items[0]]}, err
}

func server(t *testing.T) *recorder { return &recorder{object: read(t, applied)} }

var toServer = Planner{To: ToServerSide, Manager: "kubectl"}

func TestMover(t *testing.T) {
	r := server(t)
	i, err := moved(t, r, toServer)
	if err != nil || i.Result.Outcome != write.Configured {
		t.Fatal(i.Result.Outcome, err)
	}
	if d := cmp.Diff([]string{"get", "try patch as kubectl", "try apply as kubectl", "patch as kubectl"}, r.log); d != "" {
		t.Error(d)
	}
	r.log = nil
	if i, err = moved(t, r, toServer); err != nil || i.Result.Outcome != write.Unchanged || len(r.log) != 1 {
		t.Errorf("again: %s, %v, %q", i.Result.Outcome, err, r.log)
	}
	r.log = nil
	if i, err = moved(t, r, Planner{To: ToClientSide, Manager: "kubectl"}); err != nil || i.Result.Outcome != write.Configured {
		t.Errorf("back: %s, %v", i.Result.Outcome, err)
	}
	if last := r.log[len(r.log)-1]; last != "patch as "+apply.DefaultManager {
		t.Errorf("back by %q", last)
	}
}

// TestRefused: what the server refuses, or would change, is not written.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		what string
		do   func(*recorder)
		want string
	}{
		{"the object cannot be read", func(r *recorder) {
			r.refuse = map[string]error{"get": &cluster.Refusal{Code: http.StatusForbidden, Text: "forbidden"}}
		}, "configmap/c: forbidden"},
		{"there is none", func(r *recorder) { r.object = nil }, "there is no such object in the namespace n"},
		{"it is being deleted", func(r *recorder) {
			r.object = values.Patched(r.object, map[string]any{"metadata": map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"}})
		}, "deleted"},
		{"the move is refused", func(r *recorder) {
			r.refuse = map[string]error{"try patch as kubectl": &cluster.Refusal{Code: http.StatusForbidden, Text: "no patch"}}
		}, "no patch"},
		{"the apply is refused", func(r *recorder) {
			r.refuse = map[string]error{"try apply as kubectl": &cluster.Refusal{Code: http.StatusConflict, Text: "owned by bob"}}
		}, "applying what the migration moves was refused: owned by bob"},
		{"the answer to the apply is lost", func(r *recorder) {
			r.refuse = map[string]error{"try apply as kubectl": lost}
		}, "gave no answer to a trial: cut off"},
		{"a webhook changes a value", func(r *recorder) {
			r.stores = func(obj map[string]any) map[string]any {
				return values.Patched(obj, map[string]any{"data": map[string]any{"a": "mutated"}})
			}
		}, "data.a: applying what the migration moves would change it"},
	} {
		r := server(t)
		tt.do(r)
		if _, err := moved(t, r, toServer); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.what, err)
		}
		for _, asked := range r.log {
			if strings.HasPrefix(asked, "patch") {
				t.Errorf("%s: written: %q", tt.what, r.log)
			}
		}
	}
}

// TestNotKept: a migration of which the server keeps no ownership, without an error, is one: nothing is written if that is
// seen in the trial, and else what to do is named.
func TestNotKept(t *testing.T) {
	drop := func(paths ...string) func(map[string]any) map[string]any {
		return func(obj map[string]any) map[string]any { return merge.Without(obj, paths...) }
	}
	back := Planner{To: ToClientSide, Manager: "kubectl"}
	for _, tt := range []struct {
		what string
		p    Planner
		keep func(map[string]any) map[string]any
		want string
	}{
		{"all owners go", toServer, drop("metadata", "managedFields"), "its answer has no managedFields: it drops all of them if it cannot convert the object to a version that they name (v1 by bob; v1 by kubectl; v1 by kubectl-last-applied)"},
		{"the applier's entry goes", toServer, func(obj map[string]any) map[string]any {
			return ownership.WithEntries(obj, ownership.Others(read(t, applied), ""))
		}, "its answer has no entry of kubectl in managedFields: look for an admission webhook or policy"},
		{"the annotation goes", back, drop("metadata", "annotations"), "its answer has no last-applied annotation as it was sent: look for an admission webhook or policy"},
		{"all owners go on the way back", back, drop("metadata", "managedFields"), "its answer has no managedFields"},
	} {
		for _, late := range []bool{false, true} {
			r, end := server(t), "nothing was written"
			if tt.p.To == ToClientSide {
				if _, err := moved(t, r, toServer); err != nil {
					t.Fatal(err)
				}
			}
			r.log, r.keeps = nil, tt.keep
			if late { // than the trial
				r.keeps, end = nil, "it was written: mend that"
				r.meanwhile = map[string]func(*recorder){"patch as kubectl": func(r *recorder) { r.keeps = tt.keep }, "patch as " + apply.DefaultManager: func(r *recorder) { r.keeps = tt.keep }}
			}
			_, err := moved(t, r, tt.p)
			if text := fmt.Sprint(err); !strings.Contains(text, tt.want) || !strings.Contains(text, end) || !strings.HasPrefix(text, "configmap/c: ") {
				t.Errorf("%s, late %t: %v", tt.what, late, err)
			}
			if wrote := slices.ContainsFunc(r.log, func(s string) bool { return strings.HasPrefix(s, "patch") }); wrote != late {
				t.Errorf("%s, late %t: %q", tt.what, late, r.log)
			}
		}
	}
}

// TestOvertaken: if another client writes in between, the migration is planned and tried
// again, and the other write stays.
func TestOvertaken(t *testing.T) {
	r := server(t)
	r.meanwhile = map[string]func(*recorder){"patch as kubectl": func(r *recorder) {
		r.change("e", "6")
		r.refuse = map[string]error{"patch as kubectl": &cluster.Refusal{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Text: "modified"}}
	}}
	if _, err := moved(t, r, toServer); err != nil {
		t.Fatal(err)
	}
	data, _ := r.object["data"].(map[string]any)
	if data["e"] != "6" {
		t.Errorf("%v", data)
	}
	again := strings.Join(r.log, ", ")
	if !strings.HasSuffix(again, "try patch as kubectl, try apply as kubectl, patch as kubectl") {
		t.Error(again)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := server(t)
	m := New(r, reader{r}, toServer)
	if err := m.Read(ctx, []object.Object{{Value: read(t, config)}}); err != nil {
		t.Fatal(err)
	}
	cancel(errors.New("interrupted"))
	m.Send(ctx, func(*run.Item) {})
	if err := m.Errs(); !errors.Is(err, run.ErrInterrupted) || !strings.Contains(err.Error(), "configmap/c: was not written") {
		t.Error(err)
	}
}

// TestLostAnswer: a migration whose answer is lost, and which the server has carried out, is reported as this run's,
// with what applying the file will do; what it has entered for other managers is not taken for a write of theirs.
func TestLostAnswer(t *testing.T) {
	alone := values.Patched(read(t, applied), map[string]any{"metadata": map[string]any{"managedFields": ownership.Others(read(t, applied), "bob")}})
	for name, obj := range map[string]map[string]any{"with bob's": read(t, applied), "alone": alone} {
		for _, p := range []Planner{toServer, {To: ToServerSide, Manager: "ci"}} {
			r := &recorder{object: obj, loses: true}
			i, err := moved(t, r, p)
			if err != nil || i.Result.Outcome != write.Configured || len(i.Rows) == 0 {
				t.Fatalf("%s, %s: %s, %v, %v", name, p.Manager, i.Result.Outcome, i.Rows, err)
			}
			if notes := strings.Join(i.Result.Notes, "; "); notes != "the server's answer to the write was lost; read again, the object is as it should be" {
				t.Errorf("%s, %s: %s", name, p.Manager, notes)
			}
			if writes := strings.Count(strings.Join(r.log, ","), ",patch as"); writes != 1 {
				t.Errorf("%s, %s: %d writes", name, p.Manager, writes)
			}
		}
	}
	r := server(t)
	r.meanwhile = map[string]func(*recorder){"patch as kubectl": func(r *recorder) { // it does not get there
		r.change("e", "6")
		r.refuse = map[string]error{"patch as kubectl": lost}
	}}
	if i, err := moved(t, r, toServer); err != nil || i.Result.Outcome != write.Configured || len(i.Result.Notes) > 0 {
		t.Errorf("not executed: %s, %v, %v", i.Result.Outcome, i.Result.Notes, err)
	}
}

// TestReport: the same rows as a table and as JSON.
func TestReport(t *testing.T) {
	r := server(t)
	m := New(r, reader{r}, toServer)
	if err := m.Read(t.Context(), []object.Object{{Value: read(t, config)}}); err != nil {
		t.Fatal(err)
	}
	want := []string{"NAMESPACE OBJECT WHAT FIELD BY", "n configmap/c moves data.a kubectl-client-side-apply", "n configmap/c moves data.b kubectl-client-side-apply",
		"n configmap/c removed data.b -", "n configmap/c conflict data.d bob", "n configmap/c unstated data.e kubectl-client-side-apply"}
	for i, row := range m.Table() {
		if got := strings.Join(row, " "); i >= len(want) || got != want[i] {
			t.Errorf("line %d: %q", i, got)
		}
	}
	report := m.Report()
	rows, _ := report["rows"].([]any)
	if report["kind"] != "MigrationReport" || report["to"] != ToServerSide || len(rows) != len(want)-1 {
		t.Error(report)
	}
	if rows := New(r, reader{r}, toServer).Table(); rows != nil {
		t.Errorf("nothing is %q", rows)
	}
}

// TestFrom: without an annotation, the applied fields are those of the managers that the user
// names.
func TestFrom(t *testing.T) {
	const installed = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n","resourceVersion":"7",
 "managedFields":[{"manager":"helm","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{},"f:x":{}}}}]},"data":{"a":"1","x":"2"}}`
	p := toServer
	p.From = []string{"helm"}
	m, err := plan(t, p, config, read(t, installed))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]any{"a": "1", "x": "2"}, m.Trial["data"]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"moves data.a helm", "moves data.x helm", "removed data.x "}, rows(m)); d != "" {
		t.Error(d)
	}
}
