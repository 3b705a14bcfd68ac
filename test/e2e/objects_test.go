package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// objects reads and writes objects of any kind without a program in between, with
// exact numbers.
type objects struct {
	rest  rest.Interface
	kinds map[string]metav1.APIResource // by "group/version kind"
}

func newObjects(t *testing.T, s *apiServer) *objects {
	t.Helper()
	lists, err := s.client.Discovery().ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) { // of a group that another test has broken nothing is played
		t.Fatal(err)
	}
	_, more, err := s.client.Discovery().ServerGroupsAndResources() // other versions than the preferred ones
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		t.Fatal(err)
	}
	api := &objects{rest: s.client.Discovery().RESTClient(), kinds: map[string]metav1.APIResource{}}
	for _, list := range append(lists, more...) {
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") {
				api.kinds[list.GroupVersion+" "+r.Kind] = r
			}
		}
	}
	return api
}

func (api *objects) of(o map[string]any) metav1.APIResource {
	return api.kinds[fmt.Sprint(o["apiVersion"], " ", o["kind"])]
}

// path is where the objects of a kind are, in a namespace.
func (api *objects) path(o map[string]any, ns string) string {
	version := o["apiVersion"].(string)
	path := "/apis/" + version
	if !strings.Contains(version, "/") {
		path = "/api/" + version
	}
	r := api.of(o)
	if r.Namespaced {
		path += "/namespaces/" + ns
	}
	return path + "/" + r.Name
}

// list gives the objects of some kinds, of which one each is named, by their
// reference; of those without a namespace, the ones that have it in their name.
func (api *objects) list(t *testing.T, kinds []map[string]any, ns string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, kind := range kinds {
		text, err := api.rest.Get().AbsPath(api.path(kind, ns)).DoRaw(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v, err := decodeJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		items, _ := v.(map[string]any)["items"].([]any)
		for _, item := range items {
			o, ok := item.(map[string]any)
			if !ok {
				t.Fatalf("an item that is no object: %s", short(item))
			}
			o["apiVersion"], o["kind"] = kind["apiVersion"], kind["kind"]
			if d := drawn(o); api.of(o).Namespaced || strings.Contains(d.ref, ns) {
				all[keyOf(d)] = o
			}
		}
	}
	return all
}

// keyOf identifies an object in a list of all.
func keyOf(o object) string { return fmt.Sprint(o.value["apiVersion"], " ", o.ref) }

// create makes an object, as another client; nil where the server refuses it.
func (api *objects) create(t *testing.T, o map[string]any) any {
	t.Helper()
	return api.send(t, api.rest.Post().AbsPath(api.path(o, namespaceOf(o))), o, "kubectl-create")
}

// put replaces an object, as another client; not ok where the server refuses it.
func (api *objects) put(t *testing.T, o map[string]any, manager string) (live any, ok bool) {
	t.Helper()
	name, _ := o["metadata"].(map[string]any)["name"].(string)
	live = api.send(t, api.rest.Put().AbsPath(api.path(o, namespaceOf(o)), name), o, manager)
	return live, live != nil
}

// stripped removes an object's managedFields, as backup tools do, and gives the object; nil
// where there is none.
func (api *objects) stripped(t *testing.T, o map[string]any) any {
	t.Helper()
	name, _ := o["metadata"].(map[string]any)["name"].(string)
	text, err := api.rest.Patch(types.MergePatchType).AbsPath(api.path(o, namespaceOf(o)), name).Body([]byte(`{"metadata":{"managedFields":[{}]}}`)).DoRaw(t.Context())
	if err != nil {
		if !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
			t.Errorf("%s: removing managedFields: %v", name, err)
		}
		return nil
	}
	v, err := decodeJSON(text)
	if err != nil {
		t.Error(err)
	}
	return v
}

// made returns an object as the server would store it; nil where it refuses it.
func (api *objects) made(t *testing.T, o map[string]any) any {
	t.Helper()
	return api.send(t, api.rest.Post().AbsPath(api.path(o, namespaceOf(o))).Param("dryRun", "All"), o, "dry-run")
}

func (api *objects) send(t *testing.T, r *rest.Request, o map[string]any, manager string) any {
	body, err := json.Marshal(o)
	if err != nil {
		t.Error(err)
		return nil
	}
	text, err := r.Param("fieldManager", url.QueryEscape(manager)).SetHeader("Content-Type", "application/json").Body(body).DoRaw(t.Context())
	if err != nil {
		if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) && !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", short(o), err)
		}
		return nil
	}
	v, err := decodeJSON(text)
	if err != nil {
		t.Error(err)
	}
	return v
}

func namespaceOf(o map[string]any) string {
	meta, _ := o["metadata"].(map[string]any)
	ns, _ := meta["namespace"].(string)
	return ns
}
