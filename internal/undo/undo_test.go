package undo

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/live"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/record"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// world holds live objects. It is there for the plans of undo alone: what a server does is
// tested on a real one.
type world struct {
	run.API // nothing of it is called while plans are made
	objects map[string]map[string]any
	unknown string // a kind that is not served
	deleted []string
	refuse  func() error // asked before a deletion
	notes   []string
}

func (w *world) Resolve(_ context.Context, objects []object.Object) ([]live.Located, error) {
	var all []live.Located
	for _, o := range objects {
		t, _ := w.Find(context.Background(), o.Group(), o.Version(), o.Kind())
		all = append(all, live.Located{Object: o, Target: cluster.Target{Resource: t, Namespace: o.Namespace(), Name: o.Name()}})
	}
	return all, nil
}

func (w *world) Get(_ context.Context, t cluster.Target) (map[string]any, error) {
	return w.objects[t.String()], nil
}

func (w *world) Find(_ context.Context, group, version, kind string) (cluster.Resource, error) {
	if kind == w.unknown {
		return cluster.Resource{}, &cluster.UnknownKindError{Kind: kind}
	}
	return cluster.Resource{Group: group, Version: version, Kind: kind, Namespaced: kind != "Namespace"}, nil
}

func (w *world) Declare(map[string]any) {}

func (w *world) FindKind(ctx context.Context, group, kind string) (cluster.Resource, error) {
	return w.Find(ctx, group, "v1", kind)
}

func (w *world) Delete(_ context.Context, t cluster.Target, d cluster.Deletion) (map[string]any, error) {
	w.deleted = append(w.deleted, t.String()+" "+d.UID+" "+d.ResourceVersion)
	if w.refuse != nil {
		return nil, w.refuse()
	}
	return nil, nil
}

// read reads YAML objects, by name.
func read(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	all, err := source.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for _, o := range all {
		out[o.String()] = o.Value
	}
	return out
}

// job is a run over a world by a policy.
func (w *world) job(t *testing.T, policy string) *run.Job {
	t.Helper()
	p, err := merge.PolicyNamed(policy)
	if err != nil {
		t.Fatal(err)
	}
	return &run.Job{Live: w, Concurrency: 1, Needs: run.Changes, Planner: &apply.Planner{Policy: p, Manager: "kubectl-client-side-apply"}}
}

// recorded merges local into the world and returns the record of it. The world has then what
// was written, in version 2.
func (w *world) recorded(t *testing.T, local string, secrets bool) *plandoc.Document {
	t.Helper()
	objects, err := source.Parse("local.yaml", []byte(local))
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.job(t, "apply").Resolve(t.Context(), objects)
	if err != nil {
		t.Fatal(err)
	}
	p.Merge(t.Context())
	if err := p.Failed(); err != nil {
		t.Fatal(err)
	}
	store := &record.Memory{}
	j, err := record.Open(store, plandoc.Header{Cluster: plandoc.Cluster{UID: "c"}, Spelling: plandoc.Spelling{Salt: []byte("salt and more"), Record: true, ShowSecrets: secrets}})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range p.Items {
		end, err := j.Begin(item, item.Planned)
		if err != nil {
			t.Fatal(err)
		}
		stored := maps.Clone(item.Planned.Final)
		meta := maps.Clone(stored["metadata"].(map[string]any))
		meta["uid"], meta["resourceVersion"] = "uid-"+item.Target.Name, "2"
		stored["metadata"] = meta
		w.objects[item.Target.String()] = stored
		end(stored, nil)
	}
	if err := j.Close(p, false); err != nil {
		t.Fatal(err)
	}
	doc, err := plandoc.Parse("run.yaml", store.Text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, store.Text)
	}
	return doc
}

// undone is a plan of undo: actions with the data that result, and what is left.
type undone struct {
	items, left []string
	err         string
}

func (w *world) undo(t *testing.T, doc *plandoc.Document, policy string) (undone, *run.Plan) {
	t.Helper()
	job := w.job(t, policy)
	u := &Undo{Record: doc, API: w, Live: w, Planner: job.Planner, Contents: func(_ context.Context, all []applyset.Decision) applyset.Contents {
		in := applyset.Contents{Objects: map[string][]applyset.Member{}}
		for _, d := range all {
			if d.Contains() {
				in.Objects[d.UID] = []applyset.Member{{GroupKind: applyset.GroupKind{Kind: "Pod"}, Name: "web", UID: "another"}}
			}
		}
		return in
	}, Note: func(_ cluster.Target, text string) { w.notes = append(w.notes, text) }}
	p, err := u.Plan(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	p.Merge(t.Context())
	var out undone
	for _, item := range slices.Concat(p.Items, p.Others) {
		text, err := json.Marshal(item.Planned.Final["data"])
		if err != nil {
			t.Fatal(err)
		}
		out.items = append(out.items, item.Action().String()+" "+item.Target.String()+" "+string(text))
	}
	for _, l := range u.Left() {
		out.left = append(out.left, strings.Join(slices.DeleteFunc([]string{l.Target.String(), l.Value, l.Reason}, func(s string) bool { return s == "" }), ": "))
	}
	if err := p.Failed(); err != nil {
		out.err = err.Error()
	}
	return out, p
}

func (u undone) is(t *testing.T, reason string, want undone) {
	t.Helper()
	if d := cmp.Diff(want, u, cmp.AllowUnexported(undone{})); d != "" {
		t.Errorf("%s: %s", reason, d)
	}
}

const (
	before = `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: shop, uid: uid-conf, resourceVersion: "1"}, data: {a: "1", gone: x}}`
	local  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: shop}, data: {a: "2", new: z}}`
)

// TestChange: the values that the run wrote become those that were there before; what others
// have done since stays, and is a conflict where both did.
func TestChange(t *testing.T) {
	for _, tt := range []struct {
		reason, policy string
		since          func(data map[string]any)
		want           undone
	}{
		{"nothing was done since", "strict", func(map[string]any) {}, undone{items: []string{`change configmap/conf {"a":"1","gone":"x"}`}}},
		{"others have added a value", "strict", func(data map[string]any) { data["others"] = "z" }, undone{items: []string{`change configmap/conf {"a":"1","gone":"x","others":"z"}`}}},
		{"others have changed the value", "strict", func(data map[string]any) { data["a"] = "3" }, undone{items: []string{`held configmap/conf {"a":"3","gone":"x"}`}}},
		{"theirs stays", "live", func(data map[string]any) { data["a"] = "3" }, undone{items: []string{`change configmap/conf {"a":"3","gone":"x"}`}}},
		{"theirs is overwritten", "apply", func(data map[string]any) { data["a"] = "3" }, undone{items: []string{`change configmap/conf {"a":"1","gone":"x"}`}}},
		{"it is back already", "strict", func(data map[string]any) { delete(data, "new"); data["a"] = "1" }, undone{items: []string{`change configmap/conf {"a":"1","gone":"x"}`}}},
	} {
		w := &world{objects: read(t, before)}
		doc := w.recorded(t, local, false)
		obj := maps.Clone(w.objects["configmap/conf"])
		data := maps.Clone(obj["data"].(map[string]any))
		tt.since(data)
		obj["data"] = data
		w.objects["configmap/conf"] = obj
		got, p := w.undo(t, doc, tt.policy)
		got.is(t, tt.reason, tt.want)
		if meta := p.Items[0].Planned.Final["metadata"].(map[string]any); meta["annotations"] != nil {
			t.Errorf("%s: the object had no last-applied configuration before: %v", tt.reason, meta["annotations"])
		}
	}
}

// TestElsewhere: an object that is not the one any more that the run wrote is left alone.
func TestElsewhere(t *testing.T) {
	for _, tt := range []struct {
		reason string
		since  func(w *world)
		want   undone
	}{
		{"deleted", func(w *world) { delete(w.objects, "configmap/conf") }, undone{items: []string{"nothing configmap/conf null"}, left: []string{"configmap/conf: was deleted since: merge its file to create it again"}}},
		{"made again", func(w *world) { w.objects = read(t, strings.Replace(before, "uid-conf", "uid-2", 1)) },
			undone{items: []string{"nothing configmap/conf null"}, left: []string{"configmap/conf: was deleted, and another one of that name was made since: change that one by its file"}}},
		{"on its way out", func(w *world) {
			w.objects = read(t, strings.Replace(before, "uid:", "deletionTimestamp: now, uid:", 1))
		}, undone{items: []string{"nothing configmap/conf null"}, left: []string{"configmap/conf: is being deleted: undo again when it is gone"}}},
		{"of a kind that is not served any more", func(w *world) { w.unknown = "ConfigMap" }, undone{left: []string{"configmap/conf: " + (&cluster.UnknownKindError{Kind: "ConfigMap"}).Error()}}},
	} {
		w := &world{objects: read(t, before)}
		doc := w.recorded(t, local, false)
		tt.since(w)
		got, _ := w.undo(t, doc, "strict")
		got.is(t, tt.reason, tt.want)
	}
}

// TestCreated: what the run has created is deleted, unless others have changed it, or it may
// hold something of others.
func TestCreated(t *testing.T) {
	const claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: conf, namespace: shop}, spec: {}}`
	const ns = `{apiVersion: v1, kind: Namespace, metadata: {name: conf}}`
	change := func(w *world) {
		for name, obj := range w.objects {
			obj = maps.Clone(obj)
			meta := maps.Clone(obj["metadata"].(map[string]any))
			meta["resourceVersion"] = "3"
			obj["metadata"], obj["data"] = meta, map[string]any{"a": "by hand"}
			w.objects[name] = obj
		}
	}
	for _, tt := range []struct {
		reason, local, policy string
		since                 func(w *world)
		want                  undone
	}{
		{"it was not changed", local, "strict", nil, undone{items: []string{"delete configmap/conf null"}}},
		{"others have changed it", local, "strict", change, undone{left: []string{"configmap/conf: was created by the run, and changed by others since: data.a, data.new: --policy=apply deletes it all the same"}}},
		{"it is to be deleted all the same", local, "apply", change, undone{items: []string{"delete configmap/conf null"}}},
		{"it is gone", local, "strict", func(w *world) { w.objects = map[string]map[string]any{} }, undone{}},
		{"it was made again", local, "strict", func(w *world) { w.objects = read(t, strings.Replace(before, "uid-conf", "uid-2", 1)) },
			undone{left: []string{"configmap/conf: was deleted, and another one of that name was made since"}}},
		{"it may hold data", claim, "strict", nil, undone{left: []string{"persistentvolumeclaim/conf: was created by the run, and may hold data by now: delete it with kubectl, or undo with --policy=apply"}}},
		{"it holds something of others", ns, "strict", nil, undone{left: []string{"namespace/conf: was created by the run, and stays: holds pod/web, which would be deleted with it"}}},
	} {
		w := &world{objects: map[string]map[string]any{}}
		doc := w.recorded(t, tt.local, false)
		if tt.since != nil {
			tt.since(w)
		}
		got, _ := w.undo(t, doc, tt.policy)
		got.is(t, tt.reason, tt.want)
	}
}

// TestSecrets: a value that the record hides can be put back only where live still has what the
// run wrote beside a record that shows it.
func TestSecrets(t *testing.T) {
	const was = `{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: shop, uid: uid-login, resourceVersion: "1"}, data: {password: b25l}}`
	const local = `{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: shop}, data: {password: dHdv}}`
	hidden := &world{objects: read(t, was)}
	got, _ := hidden.undo(t, hidden.recorded(t, local, false), "strict")
	if len(got.left) == 0 || !strings.Contains(got.left[0], "secret/login: data.password: what was there before is hidden in the record") || strings.Contains(strings.Join(got.items, ""), "b25l") {
		t.Errorf("%+v", got)
	}
	shown := &world{objects: read(t, was)}
	got, _ = shown.undo(t, shown.recorded(t, local, true), "strict")
	got.is(t, "a record that shows it", undone{items: []string{`change secret/login {"password":"b25l"}`}})
}

// TestDown: a server that cannot be reached ends undo before anything is planned.
func TestDown(t *testing.T) {
	w := &world{objects: read(t, before)}
	doc := w.recorded(t, local, false)
	job := w.job(t, "strict")
	down := &cluster.Unreachable{}
	if _, err := (&Undo{Record: doc, API: &downAPI{w, down}, Live: w, Planner: job.Planner}).Plan(t.Context(), job); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
}

type downAPI struct {
	*world
	err error
}

func (d *downAPI) Find(context.Context, string, string, string) (cluster.Resource, error) {
	return cluster.Resource{}, d.err
}
