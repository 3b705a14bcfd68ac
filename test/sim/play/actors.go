package play

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Who is not a run: others, and controllers.
const (
	others     = "others"
	controller = "controller"
)

// actors are those who write between two requests of a run.
var actors = map[string]func(w *world, e Event){
	"patches":  func(w *world, e Event) { w.patches(e, "helm") },
	"edits":    func(w *world, e Event) { w.patches(e, "kubectl-edit") },
	"our-name": func(w *world, e Event) { w.patches(e, "kubectl-client-side-apply") },
	"applies":  (*world).applies,
	"deletes":  func(w *world, e Event) { w.sends(http.MethodDelete, e.Object, "", nil, "kubectl") },
	"scales": func(w *world, e Event) {
		w.sends(http.MethodPatch, "deployment/web", types.MergePatchType, map[string]any{"spec": map[string]any{"replicas": 2 + e.N%3}}, "kube-controller-manager")
	},
	"keeps":     func(w *world, e Event) { w.annotates(e, keeps, "keep") },
	"leaves":    (*world).unlabels,
	"creates":   (*world).creates,
	"finalizes": (*world).finalizes,
	"admits":    (*world).admits,
	"runs":      func(w *world, e Event) { w.start(-1, Step{Verb: "merge", File: e.N, Concurrency: 1}) },
}

// actorNames are the kinds of events of actors, in an order that a seed can choose by.
var actorNames = slices.Sorted(maps.Keys(actors))

// sends has another client write an object.
func (w *world) sends(method, ref string, kind types.PatchType, body any, manager string) int {
	resource, name := split(ref)
	prefix := "http://sim/api/v1/namespaces/"
	if resource == "deployments" {
		prefix = "http://sim/apis/apps/v1/namespaces/"
	}
	url := prefix + namespace + "/" + resource + "/" + name + "?fieldManager=" + manager
	if method == http.MethodPost {
		url = prefix + namespace + "/" + resource + "?fieldManager=" + manager
	}
	content := []byte(text(body))
	if body == nil {
		content = []byte("{}")
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(content))
	if err != nil {
		panic(err) // made here
	}
	req.Header.Set("Content-Type", string(kind))
	by := others
	if manager == "kube-controller-manager" {
		by = controller
	}
	res, err := w.model.Serve(req, content, by)
	if err != nil {
		w.breaks("model", "%s %s: %v", method, url, err)
		return 0
	}
	w.say("       %s %s %s: %d", manager, method, ref, res.StatusCode)
	return res.StatusCode
}

// patches sets a value of the input, or one beside it.
func (w *world) patches(e Event, manager string) {
	value := fmt.Sprintf("edit%d-%d", e.Step, e.N)
	switch manager {
	case "kubectl-edit":
		value = fmt.Sprintf("edited%d-%d", e.Step, e.N)
	case "kubectl-client-side-apply":
		value = "as-" + value // what has the applier's name is the applier's
	}
	body := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"theirs": value}}}
	switch resource, _ := split(e.Object); {
	case e.N%3 == 0:
	case resource == "configmaps":
		body = map[string]any{"data": map[string]any{[]string{"v", "theirs", "only0", "only1"}[e.N%4]: value}}
	case resource == "secrets":
		body = map[string]any{"data": map[string]any{"v": encoded(value)}}
	case resource == "serviceaccounts":
		body["metadata"].(map[string]any)["annotations"] = map[string]any{"note": value}
	case resource == "deployments":
		body = map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": value}}}}}}
	}
	w.sends(http.MethodPatch, e.Object, types.StrategicMergePatchType, body, manager)
}

func (w *world) annotates(e Event, key, value string) {
	w.sends(http.MethodPatch, e.Object, types.MergePatchType, map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}}, "kubectl-annotate")
}

// finalizes keeps an object from being deleted for a while.
func (w *world) finalizes(e Event) {
	hold := func(all []string) {
		w.sends(http.MethodPatch, e.Object, types.MergePatchType, map[string]any{"metadata": map[string]any{"finalizers": all}}, "kubectl-patch")
	}
	hold([]string{"sim.example.com/hold"})
	time.AfterFunc(time.Duration(e.N%int(held/time.Second))*time.Second+time.Millisecond/2, func() { hold(nil) })
}

// held is how long a finalizer holds at most.
const held = 150 * time.Second

// admits is a webhook that is installed, and adds an annotation to whatever is written.
func (w *world) admits(Event) {
	w.model.Admit(func(o metav1.Object) {
		notes := maps.Clone(o.GetAnnotations())
		if notes == nil {
			notes = map[string]string{}
		}
		notes[admitted] = "by-a-hook"
		o.SetAnnotations(notes)
	})
}

// unlabels takes an object out of its set.
func (w *world) unlabels(e Event) {
	w.sends(http.MethodPatch, e.Object, types.MergePatchType, map[string]any{"metadata": map[string]any{"labels": map[string]any{partOf: nil}}}, "kubectl-label")
}

// creates makes an object of the input's names, or another one.
func (w *world) creates(e Event) {
	ref := e.Object
	if e.N%2 == 0 {
		ref = "configmap/theirs"
	}
	w.sends(http.MethodPost, ref, "application/json", manifest(ref, 100+e.N%100), "kubectl-create")
}

// applies is kubectl apply of a version that no file of ours has, by the code that kubectl has it
// from.
func (w *world) applies(e Event) {
	const manager = "kubectl-client-side-apply"
	wanted := manifest(e.Object, 100+e.N%100)
	meta1 := wanted["metadata"].(map[string]any)
	notes, _ := meta1["annotations"].(map[string]any)
	meta1["annotations"] = map[string]any{}
	maps.Copy(meta1["annotations"].(map[string]any), notes)
	configuration := text(wanted) + "\n"
	meta1["annotations"].(map[string]any)[applied] = configuration
	resource, name := split(e.Object)
	live := w.model.Object(resource, name)
	if live == nil {
		w.sends(http.MethodPost, e.Object, "application/json", wanted, manager)
		return
	}
	a, err := meta.Accessor(live)
	if err != nil {
		panic(err) // an object
	}
	struct1 := map[string]runtime.Object{"configmaps": &corev1.ConfigMap{}, "secrets": &corev1.Secret{}, "serviceaccounts": &corev1.ServiceAccount{}, "deployments": &appsv1.Deployment{}}[resource]
	schema, err := strategicpatch.NewPatchMetaFromStruct(struct1)
	if err == nil {
		var patch []byte
		original := []byte(a.GetAnnotations()[applied])
		if len(original) == 0 {
			original = []byte("{}")
		}
		if patch, err = strategicpatch.CreateThreeWayMergePatch(original, []byte(text(wanted)), []byte(text(live)), schema, true); err == nil {
			w.sends(http.MethodPatch, e.Object, types.StrategicMergePatchType, json.RawMessage(patch), manager)
			return
		}
	}
	w.breaks("model", "kubectl apply: %v", err)
}
