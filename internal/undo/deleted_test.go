package undo

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/record"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestDelete: a deletion is bound to what was decided about; where that has changed it is
// decided about again.
func TestDelete(t *testing.T) {
	conflict := &cluster.Refusal{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Text: "changed"}
	undried := &cluster.Refusal{Code: http.StatusBadRequest, Text: `admission webhook "a.example.com" does not support dry run`}
	var touched []string
	for version := range run.MostChanges + 1 {
		touched = append(touched, fmt.Sprintf("configmap/conf uid-conf %d", version+2))
	}
	forbidden := &cluster.Refusal{Code: http.StatusForbidden, Text: "you shall not"}
	for _, tt := range []struct {
		reason  string
		refuse  func(w *world) error
		deleted []string
		err     string
		notes   string
		action  apply.Action
	}{
		{"deleted", nil, []string{"configmap/conf uid-conf 2"}, "", "", apply.Delete},
		{"refused", func(*world) error { return forbidden }, []string{"configmap/conf uid-conf 2"}, "configmap/conf: was not deleted: you shall not", "", apply.Delete},
		{"gone meanwhile", func(w *world) error { w.objects = nil; return conflict }, []string{"configmap/conf uid-conf 2"}, "", "", apply.Delete},
		{"changed meanwhile", func(w *world) error {
			w.objects = read(t, strings.Replace(before, "resourceVersion: \"1\"", "resourceVersion: \"3\"", 1))
			return conflict
		}, []string{"configmap/conf uid-conf 2"}, "", "", apply.Keep},
		{"refused by others, as if it was a conflict", func(*world) error { return conflict }, []string{"configmap/conf uid-conf 2"}, "configmap/conf: was not deleted: changed", "", apply.Delete},
		{"changed all the time, and nothing of it counts", func(w *world) error { w.touch(); return conflict }, touched, "configmap/conf: was not deleted: is changed so often that it could not be deleted: run this again", "", apply.Delete},
		{"not tried", func(*world) error { return undried }, []string{"configmap/conf uid-conf 2"}, "", "its deletion was not tried first: " + undried.Text, apply.Delete},
	} {
		w := &world{objects: map[string]map[string]any{}}
		doc := w.recorded(t, local, false)
		_, p := w.undo(t, doc, "strict")
		if tt.refuse != nil {
			w.refuse = func() error { return tt.refuse(w) }
		}
		item := p.Others[0]
		var err error
		synctest.Test(t, func(t *testing.T) { err = p.Pruner.Delete(t.Context(), item, false) })
		if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s: %v, want %s", tt.reason, err, tt.err)
		}
		if notes := strings.Join(w.notes, "; "); notes != tt.notes {
			t.Errorf("%s: %q is noted, want %q", tt.reason, notes, tt.notes)
		}
		if d := cmp.Diff(tt.deleted, w.deleted); d != "" || item.Action() != tt.action {
			t.Errorf("%s: %s: %s", tt.reason, item.Action(), d)
		}
	}
}

// touch has another client write the objects, without a change that counts.
func (w *world) touch() {
	for _, obj := range w.objects {
		meta := obj["metadata"].(map[string]any)
		version, _ := strconv.Atoi(meta["resourceVersion"].(string))
		meta["resourceVersion"] = strconv.Itoa(version + 1)
	}
}

// TestDeleted: objects that the run has deleted are created again as they were configured, unless
// they exist again already, or their values are hidden.
func TestDeleted(t *testing.T) {
	const text = `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: shop, uid: uid-conf, resourceVersion: "1", annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"conf","namespace":"shop"},"data":{"a":"1"}}'}}, data: {a: "1"}}`
	record := func(text string) *plandoc.Document {
		w := &world{objects: read(t, text)}
		var item *run.Item
		for _, obj := range w.objects {
			target := cluster.Target{Resource: cluster.Resource{Version: "v1", Kind: obj["kind"].(string), Namespaced: true}, Namespace: "shop", Name: "conf"}
			item = &run.Item{Target: target, Surplus: &run.Surplus{}, UID: "uid-conf", Details: &run.Details{Planned: apply.Planned{Live: obj}}}
		}
		return deletion(t, item)
	}
	for _, tt := range []struct {
		reason, text, now string
		want              undone
	}{
		{"it is gone", text, "", undone{items: []string{`create configmap/conf {"a":"1"}`}}},
		{"it was made again as it was", text, strings.Replace(text, "uid-conf", "uid-2", 1), undone{items: []string{"nothing configmap/conf null"}}},
		{"it was made again, and has more by now", text, strings.NewReplacer("uid-conf", "uid-2", `data: {a: "1"}`, `data: {a: "1", b: "2"}`).Replace(text), undone{items: []string{"nothing configmap/conf null"}}},
		{"a Secret was made again as it was", strings.Replace(text, "ConfigMap", "Secret", 1), strings.NewReplacer("ConfigMap", "Secret", "uid-conf", "uid-2").Replace(text), undone{items: []string{"nothing secret/conf null"}}},
		{"another one was created", text, strings.NewReplacer("uid-conf", "uid-2", `data: {a: "1"}`, `data: {a: "2"}`).Replace(text), undone{items: []string{"nothing configmap/conf null"}, left: []string{"configmap/conf: was deleted by the run, and another one of that name was made since"}}},
		{"it was not deleted after all", text, text, undone{items: []string{"nothing configmap/conf null"}}},
		{"its values are hidden", strings.Replace(text, "ConfigMap", "Secret", 1), "", undone{items: []string{"nothing secret/conf null"}, left: []string{"secret/conf: was deleted, and has values that are hidden in the record: only a record of a run with --show-secrets has them"}}},
	} {
		w := &world{objects: map[string]map[string]any{}}
		if tt.now != "" {
			w.objects = read(t, tt.now)
		}
		got, p := w.undo(t, record(tt.text), "strict")
		got.is(t, tt.reason, tt.want)
		if len(got.left) == 0 && tt.now == "" {
			if out, err := json.Marshal(p.Items[0].Planned.Final["metadata"]); err != nil || !strings.Contains(string(out), "last-applied-configuration") || strings.Contains(string(out), "uid") {
				t.Errorf("%s: made again with %s", tt.reason, out)
			}
		}
	}
}

// deletion is the record of a run that has deleted an item.
func deletion(t *testing.T, item *run.Item) *plandoc.Document {
	t.Helper()
	store := &record.Memory{}
	j, err := record.Open(store, plandoc.Header{Cluster: plandoc.Cluster{UID: "c"}, Spelling: plandoc.Spelling{Salt: []byte("salt and more"), Record: true}})
	if err != nil {
		t.Fatal(err)
	}
	end, err := j.Begin(item, item.Planned)
	if err != nil {
		t.Fatal(err)
	}
	end(nil, nil)
	if err := j.Close(&run.Plan{Job: &run.Job{}, Others: []*run.Item{item}}, false); err != nil {
		t.Fatal(err)
	}
	doc, err := plandoc.Parse("run.yaml", store.Text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, store.Text)
	}
	return doc
}

// TestPut: a value is put at a path, or taken out there, without a change to what was there;
// what has nothing to hold it is left out.
func TestPut(t *testing.T) {
	const text = `{"list":[{"name":"a","v":1},{"name":"b","v":2}],"m":{"x":1},"s":"text"}`
	for _, tt := range []struct {
		path string
		to   merge.Opt
		want string
		ok   bool
	}{
		{"m.x", merge.Some("new"), `{"list":[{"name":"a","v":1},{"name":"b","v":2}],"m":{"x":"new"},"s":"text"}`, true},
		{"m.x", merge.Opt{}, `{"list":[{"name":"a","v":1},{"name":"b","v":2}],"m":{},"s":"text"}`, true},
		{"n.y", merge.Some("new"), `{"list":[{"name":"a","v":1},{"name":"b","v":2}],"m":{"x":1},"n":{"y":"new"},"s":"text"}`, true},
		{"n.y", merge.Opt{}, text, true},
		{"s.y", merge.Some("new"), text, false},
		{"list[name=b].v", merge.Some("new"), `{"list":[{"name":"a","v":1},{"name":"b","v":"new"}],"m":{"x":1},"s":"text"}`, true},
		{"list[name=b]", merge.Opt{}, `{"list":[{"name":"a","v":1}],"m":{"x":1},"s":"text"}`, true},
		{"list[name=c]", merge.Opt{}, text, true},
		{"list[name=c]", merge.Some("new"), `{"list":[{"name":"a","v":1},{"name":"b","v":2},"new"],"m":{"x":1},"s":"text"}`, true},
		{"list[name=c].v", merge.Some("new"), text, false},
		{"m[name=c]", merge.Some("new"), text, false},
	} {
		obj, err := merge.ReadJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := merge.ParsePath(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := put(obj, p, tt.to, nil)
		out, err := json.Marshal(got)
		if err != nil || ok != tt.ok || ok && string(out) != tt.want {
			t.Errorf("%s: %t %s, want %t %s", tt.path, ok, out, tt.ok, tt.want)
		}
		if is, err := json.Marshal(obj); err != nil || string(is) != text {
			t.Errorf("%s: the argument has become %s", tt.path, is)
		}
	}
}
