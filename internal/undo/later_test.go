package undo

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// TestLaterApply: what a later apply has set is no value of the run, though the same manager has
// written it; and what is recorded as applied last does not contradict what becomes of it.
func TestLaterApply(t *testing.T) {
	const applied = `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: shop, uid: uid-conf, resourceVersion: "1", annotations: {` +
		lastapplied.Annotation + `: '{"apiVersion":"v1","data":{"x":"1","z":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"conf","namespace":"shop"}}'}}, data: {x: "1", z: "1"}}`
	for _, tt := range []struct{ policy, want, recorded string }{
		{"strict", `held configmap/conf {"x":"3","z":"1"}`, `{"x":"3","z":"1"}`},
		{"live", `change configmap/conf {"x":"3","z":"1"}`, `{"x":"3","z":"1"}`},
		{"apply", `change configmap/conf {"x":"1","z":"1"}`, `{"x":"1","z":"1"}`},
	} {
		w := &world{objects: read(t, applied)}
		doc := w.recorded(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: shop}, data: {x: "2", z: "2"}}`, false)
		obj := w.objects["configmap/conf"]
		meta := maps.Clone(obj["metadata"].(map[string]any))
		text := lastapplied.Read(obj).Text
		meta["annotations"] = map[string]any{lastapplied.Annotation: strings.Replace(text, `"x":"2"`, `"x":"3"`, 1)}
		meta["managedFields"] = []any{map[string]any{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:data": map[string]any{"f:x": map[string]any{}, "f:z": map[string]any{}}}}}
		w.objects["configmap/conf"] = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": map[string]any{"x": "3", "z": "2"}}
		got, p := w.undo(t, doc, tt.policy)
		got.is(t, tt.policy, undone{items: []string{tt.want}})
		if is := lastapplied.Read(p.Items[0].Planned.Final).Text; !strings.Contains(is, tt.recorded) {
			t.Errorf("%s: %s is recorded, want %s in it", tt.policy, is, tt.recorded)
		}
	}
}

// TestHiddenElsewhere: a secret value that the run has not changed does not have to be known to
// undo what it has changed, nor to restore what was applied last.
func TestHiddenElsewhere(t *testing.T) {
	const template = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, uid: uid-web, resourceVersion: "1"%s}, spec: {template: {spec: {containers: [{name: web, image: "web:%s",
  env: [%s{name: DIRECTORY_KEY, value: hunter22}]}]}}}}`
	const config = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"web","namespace":"shop"},"spec":{"template":{"spec":{"containers":[{"env":[{"name":"DIRECTORY_KEY","value":"hunter22"}],"image":"web:1","name":"web"}]}}}}`
	text := strings.NewReplacer("%s}, spec", ", annotations: {"+lastapplied.Annotation+": '"+config+"'}}, spec", "web:%s", "web:1", "[%s", "[").Replace(template)
	w := &world{objects: read(t, text)}
	local := strings.NewReplacer(`, uid: uid-web, resourceVersion: "1"%s`, "", "web:%s", "web:2", "[%s", "[{name: A, value: b}, ").Replace(template)
	doc := w.recorded(t, local, false)
	got, p := w.undo(t, doc, "strict")
	got.is(t, "hidden", undone{items: []string{"change deployment.apps/web null"}})
	if is := strings.TrimSpace(lastapplied.Read(p.Items[0].Planned.Final).Text); is != config {
		t.Errorf("is recorded: %s\nwant: %s", is, config)
	}
}

// TestUnanswered: of a write without an answer nothing is undone unless the object has some of it:
// a value that it removes may be missing because a later apply has removed it.
func TestUnanswered(t *testing.T) {
	const (
		applied = `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: shop, uid: uid-conf, resourceVersion: "1", annotations: {` +
			lastapplied.Annotation + `: '{"apiVersion":"v1","data":%s,"kind":"ConfigMap","metadata":{"annotations":{},"name":"conf","namespace":"shop"}}'}}, data: %[1]s}`
		first, ours, later = `{"x":"1","z":"1"}`, `{"x":"2"}`, `{"x":"3"}`
	)
	for _, tt := range []struct {
		reason, live string
		want         undone
	}{
		{"it was not executed", first, undone{items: []string{"nothing configmap/conf null"}}},
		{"it was executed", ours, undone{items: []string{"change configmap/conf " + first}}},
		{"another apply came first", later, undone{items: []string{"nothing configmap/conf null"},
			left: []string{"configmap/conf: has nothing of what the run wrote: its write was not executed, or others have overwritten all of it"}}},
	} {
		w := &world{objects: read(t, fmt.Sprintf(applied, first))}
		doc := w.recorded(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: shop}, data: `+ours+`}`, false)
		doc.Items[0].Outcome = plandoc.Begun
		w.objects = read(t, fmt.Sprintf(applied, tt.live))
		got, _ := w.undo(t, doc, "live")
		got.is(t, tt.reason, tt.want)
	}
}
