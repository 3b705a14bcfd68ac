package annotate

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

// record holds live objects by name and what it was asked for. It is there for the logic of this
// package alone: what a server does is tested on a real one.
type record struct {
	objects map[string]map[string]any
	log     []string
	before  func() // another client's write, before the next one
}

func (r *record) Get(_ context.Context, t cluster.Target) (map[string]any, error) {
	r.log = append(r.log, "get "+t.String())
	if obj := r.objects[t.String()]; obj != nil {
		return obj, nil
	}
	return nil, &cluster.Refusal{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Text: t.String() + " not found"}
}

func (r *record) Send(_ context.Context, t cluster.Target, as cluster.Way, patch any, w cluster.Write) (map[string]any, error) {
	if as != cluster.MergePatch {
		return nil, errUnused
	}
	if before := r.before; before != nil {
		r.before = nil
		before()
	}
	r.log = append(r.log, "patch "+t.String()+" as "+w.FieldManager)
	change, err := values.Sent(patch)
	if err != nil {
		return nil, err
	}
	now := r.objects[t.String()]
	version := func(o map[string]any) any { m, _ := o["metadata"].(map[string]any); return m["resourceVersion"] }
	if v := version(change); v != nil && v != version(now) {
		return nil, &cluster.Refusal{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Text: "the object has been modified"}
	}
	obj := values.Patched(now, change)
	if !w.DryRun {
		r.objects[t.String()] = obj
	}
	return obj, nil
}

var errUnused = errors.New("is not asked for")

func (r *record) Delete(context.Context, cluster.Target, cluster.Deletion) (map[string]any, error) {
	return nil, errUnused
}

func (r *record) WaitEstablished(context.Context, cluster.Target, map[string]any) error {
	return errUnused
}

func (r *record) Patience() time.Duration { return time.Second }

func (r *record) Find(_ context.Context, group, version, kind string) (cluster.Resource, error) {
	if version != "v1" && version != "v2" {
		return cluster.Resource{}, errors.New("no such version")
	}
	return cluster.Resource{Group: group, Version: version, Kind: kind, Namespaced: true}, nil
}

func (r *record) Resolve(_ context.Context, objects []object.Object) ([]live.Located, error) {
	var all []live.Located
	for _, o := range objects {
		all = append(all, live.Located{Object: o, Target: targetOf(o)})
	}
	return all, nil
}

func targetOf(o object.Object) cluster.Target {
	return cluster.Target{Resource: cluster.Resource{Group: o.Group(), Version: o.Version(), Kind: o.Kind(), Namespaced: true}, Namespace: "n", Name: o.Name()}
}

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"n"},"spec":{"replicas":3,"paused":false}}`

// room is a server with objects that were applied as the texts have them; live has a version.
func room(t *testing.T, texts ...string) (*record, []cluster.Found) {
	t.Helper()
	r := &record{objects: map[string]map[string]any{}}
	var all []cluster.Found
	for _, text := range texts {
		o := object.Object{Value: values.Object(t, text)}
		applied, err := lastapplied.Encode(o.Value, lastapplied.Options{})
		if err != nil {
			t.Fatal(err)
		}
		obj := lastapplied.With(o.Value, applied).(map[string]any)
		obj = values.Patched(obj, map[string]any{"metadata": map[string]any{"resourceVersion": "7"}})
		at := targetOf(o)
		r.objects[at.String()] = obj
		all = append(all, cluster.Found{Target: at})
	}
	return r, all
}

func (r *record) run(all ...cluster.Found) *Run {
	out := New(r, r, &apply.Planner{Policy: merge.Policies[0], Manager: "me", Validate: apply.Strict})
	out.Name(all)
	return out
}

// filed is a run over an object of a file.
func (r *record) filed(t *testing.T, text string) *Run {
	t.Helper()
	out := r.run()
	if err := out.Add(t.Context(), []object.Object{{Value: values.Object(t, text), Origin: object.Origin{File: "f", Document: 1}}}); err != nil {
		t.Fatal(err)
	}
	return out
}

func merged(t *testing.T, r *Run) *Run {
	t.Helper()
	r.Merge(t.Context())
	if err := r.Failed(); err != nil {
		t.Fatal(err)
	}
	return r
}

func recorded(r *record, name string) string { return lastapplied.Read(r.objects[name]).Text }

func TestRead(t *testing.T) {
	r, all := room(t, deployment)
	missing, listed := all[0], all[0]
	missing.Name, listed.Name, listed.Live = "nope", "listed", map[string]any{}
	got := r.run(all[0], missing, listed)
	got.Merge(t.Context())
	errs := object.Each(got.Items, func(i *run.Item) error { return i.Err })
	if errs[0] != nil || errs[1] == nil || !strings.HasPrefix(errs[1].Error(), "deployment.apps/nope: ") || errs[2] != nil || !got.Chosen(got.Items[2]) || got.Chosen(got.Items[0]) || len(r.log) != 2 {
		t.Errorf("%v, %q: each is read once, what a query listed is not, and what is missing is named", errs, r.log)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got = r.run(missing)
	if got.Merge(ctx); !errors.Is(got.Items[0].Err, run.ErrNotMerged) {
		t.Errorf("%v: an interrupted read is an error of each", got.Items[0].Err)
	}
}

func TestSet(t *testing.T) {
	r, all := room(t, deployment)
	name, more := all[0].String(), strings.Replace(deployment, "3", "5", 1)
	send := func(dry bool) *run.Item {
		a := r.filed(t, more)
		a.Write.DryRun = dry
		a.Set(false, nil)
		merged(t, a).Send(t.Context(), func(*run.Item) {})
		return a.Items[0]
	}
	if item := send(true); item.Err != nil || strings.Contains(recorded(r, name), `"replicas":5`) {
		t.Errorf("%v: a dry run wrote", item.Err)
	}
	item := send(false)
	if item.Err != nil || item.Result.Outcome == "" || !strings.Contains(recorded(r, name), `"replicas":5`) || !strings.HasSuffix(r.log[len(r.log)-1], "as me") {
		t.Errorf("%v, %v, %q: %s", item.Result.Outcome, item.Err, r.log, recorded(r, name))
	}
	r.objects[name] = lastapplied.Without(r.objects[name]).(map[string]any)
	plan := func(text string, create bool, validate apply.Validation) (warned string, err error) {
		a := r.filed(t, text)
		a.Planner.Validate = validate
		a.Set(create, func(_ *run.Item, text string) { warned = text })
		a.Merge(t.Context())
		if fields := a.Sensitive(a.Items[0], nil); fields != nil {
			t.Error("no rule calls a field sensitive")
		}
		return warned, a.Failed()
	}
	if _, err := plan(more, false, apply.Strict); err == nil || !strings.Contains(err.Error(), "--create-annotation") {
		t.Errorf("%v: an object without the annotation", err)
	}
	if _, err := plan(more, true, apply.Strict); err != nil {
		t.Errorf("%v: the annotation may be created", err)
	}
	wrong := strings.Replace(deployment, "paused", "pausd", 1)
	if _, err := plan(wrong, true, apply.Strict); err == nil || !strings.Contains(err.Error(), "pausd") {
		t.Errorf("%v: an unknown field", err)
	}
	if warned, err := plan(wrong, true, apply.Warn); err != nil || !strings.Contains(warned, "pausd") {
		t.Errorf("%v, %q: an unknown field, leniently", err, warned)
	}
}

// TestWriteAgain: if another client writes first, the plan is made again from the new state.
func TestWriteAgain(t *testing.T) {
	r, all := room(t, deployment)
	d := &Disowning{Run: r.run(all...), Fields: []merge.Path{values.Path(t, "spec.replicas")}}
	if err := d.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := all[0].String()
	r.before = func() {
		r.objects[name] = values.Patched(r.objects[name], values.Object(t, `{"metadata":{"resourceVersion":"8","labels":{"by":"others"}}}`))
	}
	d.Send(t.Context(), func(*run.Item) {})
	if err := d.Failed(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(recorded(r, name), "replicas") || !merge.Equal(values.Read(t, `"others"`), r.objects[name]["metadata"].(map[string]any)["labels"].(map[string]any)["by"], nil) {
		t.Errorf("%v: their change stays, the field is given up", r.objects[name])
	}
}

// TestInterrupted: what an interrupt reaches before its write has begun is reported as not written: a
// request sent then would be cut off, and its outcome unknown.
func TestInterrupted(t *testing.T) {
	r, all := room(t, deployment)
	d := &Disowning{Run: r.run(all...), Fields: []merge.Path{values.Path(t, "spec.replicas")}}
	if err := d.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.Send(ctx, func(*run.Item) {})
	if err := d.Failed(); !errors.Is(err, run.ErrInterrupted) || errors.Is(err, write.ErrUnknown) {
		t.Errorf("want not written, interrupted: %v", err)
	}
}

// TestApart: an object that others could depend on is refused, and the others are written.
func TestApart(t *testing.T) {
	account := strings.NewReplacer("apps/v1", "v1", "Deployment", "ServiceAccount").Replace(deployment)
	r, all := room(t, account, deployment)
	a := r.run(all...)
	a.Rewrite = func(_ context.Context, _ *run.Item, live map[string]any) (*lastapplied.Original, error) {
		conf := lastapplied.Read(live)
		conf.Value = merge.Without(merge.At[map[string]any](conf.Value), "spec")
		return &conf, nil
	}
	merged(t, a)
	r.objects[all[0].String()] = nil
	a.Send(t.Context(), func(*run.Item) {})
	if a.Items[0].Err == nil || a.Items[1].Err != nil || strings.Contains(recorded(r, all[1].String()), "spec") {
		t.Errorf("%v, %v: %s", a.Items[0].Err, a.Items[1].Err, recorded(r, all[1].String()))
	}
}

func TestDisown(t *testing.T) {
	const conf = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"n"},"data":{"a":"1","b":"2"}}`
	const login = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login","namespace":"n"},"stringData":{"user":"x","pass":"y"}}`
	for _, tt := range []struct {
		reason  string
		objects []string
		field   string
		changed []bool
		err     string
	}{
		{"a field", []string{deployment}, "spec.replicas", []bool{true}, ""},
		{"a field of one of two", []string{deployment, conf}, "data.a", []bool{false, true}, ""},
		{"a Secret's field by its other spelling", []string{login}, "stringData.user", []bool{true}, ""},
		{"a field that is not there", []string{deployment}, "spec.replcas", nil, "did you mean spec.replicas?"},
		{"a field that none of several has", []string{deployment, conf}, "spec.strategy", nil, "none of 2 objects"},
		{"the name", []string{deployment}, "metadata.name", nil, "cannot be given up"},
	} {
		r, found := room(t, tt.objects...)
		d := &Disowning{Run: r.run(found...), Fields: []merge.Path{values.Path(t, tt.field)}}
		err := d.Plan(t.Context())
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %q in it", tt.reason, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		for i, one := range d.All() {
			if got := one.Changes(); got != tt.changed[i] || got && len(one.Meanings) == 0 {
				t.Errorf("%s: %s: changed: %t, meanings %v", tt.reason, one.Target, got, one.Meanings)
			}
		}
	}
}

// TestDisownInFiles: the field is taken out of the file too, and every other byte stays.
func TestDisownInFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "web.yaml")
	text := "# ours\napiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web, namespace: \"n\"}\n  spec:\n    replicas: 3 # three\n    paused: false # not now\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	local, err := source.Read(t.Context(), source.Inputs{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := room(t, deployment)
	d := &Disowning{Run: r.run(), Fields: []merge.Path{values.Path(t, "spec.replicas")}, Files: true}
	if err := d.Add(t.Context(), local[:1]); err != nil {
		t.Fatal(err)
	}
	if err := d.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	edits, err := d.Edits(t.Context(), []string{dir})
	if err != nil || len(edits) != 1 || len(d.Taken(edits[0])) != 1 {
		t.Fatalf("%v, %v", edits, err)
	}
	d.Items[0].Err = errUnused
	if err := d.Writable(edits[0]); !errors.Is(err, ErrOthersFailed) {
		t.Errorf("%v: the file of an object that was not written", err)
	}
	d.Items[0].Err = nil
	if err := errors.Join(d.Writable(edits[0]), d.Replace(edits[0])); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := strings.Replace(text, "    replicas: 3 # three\n", "", 1); err != nil || string(got) != want {
		t.Errorf("%v:\n%s", err, got)
	}
	if err := d.Replace(edits[0]); err == nil || !strings.Contains(err.Error(), "take them out there") {
		t.Errorf("%v: the file has changed since", err)
	}
	d.Items[0].Object.Origin.File = filepath.Join(dir, "none.yaml")
	if _, err := d.Edits(t.Context(), []string{dir}); err == nil || !strings.Contains(err.Error(), "-f") {
		t.Errorf("%v: no file to write", err)
	}
}

func TestEdit(t *testing.T) {
	r, all := room(t, deployment)
	a := merged(t, r.run(all...))
	e, err := a.Edit(t.Context(), a.Items[0], false)
	if err != nil || !strings.Contains(string(e.Body), "replicas: 3\n") || e.Blank() {
		t.Fatalf("%v:\n%s", err, e.Body)
	}
	if head := e.Header([]string{"deployment.apps/web: kind: is wrong"}); !strings.Contains(head, "# * kind: is wrong\n") || string(Behind(head, append([]byte(head), e.Body...))) != string(e.Body) {
		t.Errorf("%s", head)
	}
	if err := e.Plan(t.Context(), nil); err != nil || !e.Same() {
		t.Errorf("%v: the same text is no change", err)
	}
	for text, want := range map[string]string{
		"x: [\n":                      "the text",
		"a: 1\n---\nb: 2\n":           "",
		"kind: Deployment\n":          "apiVersion",
		string(e.Body) + "extra: 1\n": "extra",
		strings.Replace(string(e.Body), "apps/v1", "apps/v9", 1):            "no such version",
		string(e.Body) + "---\n" + string(e.Body):                           "",
		strings.Replace(string(e.Body), "name: web", "name: other", 1):      "cannot be changed",
		strings.Replace(string(e.Body), "kind: Deployment", "kind: Job", 1): "",
	} {
		wrong := *e
		wrong.Body = []byte(text)
		if err := wrong.Plan(t.Context(), func(string) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
	}
	e.Body = []byte(strings.Replace(string(e.Body), "  replicas: 3\n", "", 1))
	if err := e.Plan(t.Context(), nil); err != nil || e.Same() {
		t.Fatal(err)
	}
	means, err := e.Meanings(t.Context())
	if err != nil || len(means) != 1 || !strings.HasPrefix(means[0].Text, "no longer yours") {
		t.Errorf("%v, %v", means, err)
	}
	r.before = func() {
		name := all[0].String()
		r.objects[name] = lastapplied.With(values.Patched(r.objects[name], values.Object(t, `{"metadata":{"resourceVersion":"8"}}`)), `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"n"}}`).(map[string]any)
	}
	if a.Send(t.Context(), func(*run.Item) {}); !errors.Is(e.Err, errOvertaken) {
		t.Errorf("%v: what was edited is there no more", e.Err)
	}
	blank := Edit{Body: []byte("# only\n\n# comments\n")}
	if !blank.Blank() {
		t.Error("comments are no text")
	}
}

func TestEditSecretAsJSON(t *testing.T) {
	r, all := room(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login","namespace":"n"},"data":{"password":"aHVudGVyMg=="}}`)
	a := merged(t, r.run(all...))
	e, err := a.Edit(t.Context(), a.Items[0], true)
	if err != nil || strings.Contains(string(e.Body), "aHVudGVyMg") || !strings.HasPrefix(string(e.Body), "{\n") {
		t.Fatalf("%v:\n%s", err, e.Body)
	}
	if e.Header(nil) != "" || !strings.Contains(e.Header([]string{"wrong"}), "never kept here") {
		t.Error("JSON has a header only where something is wrong")
	}
}
