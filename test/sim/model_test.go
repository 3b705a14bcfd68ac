// Package sim holds a model of the API server, in memory, to the real one: the same random
// requests go to both, and their answers are equal. What the model does not cover it refuses by
// uncovered; it never invents an answer.
package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// uncovered is a request that the model knows no answer to.
type uncovered string

func (u uncovered) Error() string { return "the model does not cover " + string(u) }

// kinds are what the model stores, by resource.
var kinds = map[string]schema.GroupVersionKind{
	"configmaps": corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	"secrets":    corev1.SchemeGroupVersion.WithKind("Secret"),
}

// model is an API server with one namespace.
type model struct {
	namespace string
	revision  int
	uids      int
	objects   map[string]map[string]runtime.Object // by resource, then name
	managers  map[string]*managedfields.FieldManager
	pages     map[string][]runtime.Object // what is left of a list, by its token
}

func newModel(namespace string) (*model, error) {
	m := &model{namespace: namespace, objects: map[string]map[string]runtime.Object{}, managers: map[string]*managedfields.FieldManager{}, pages: map[string][]runtime.Object{}}
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	for resource, gvk := range kinds {
		manager, err := managedfields.NewDefaultFieldManager(converter, scheme.Scheme, scheme.Scheme, scheme.Scheme, gvk, gvk.GroupVersion(), "", nil)
		if err != nil {
			return nil, err
		}
		m.managers[resource], m.objects[resource] = manager, map[string]runtime.Object{}
	}
	return m, nil
}

// request is one of the requests that the model covers.
type request struct {
	verb     string // get, list, create, update, patch, delete
	resource string
	name     string
	manager  string          // fieldManager of a write
	patch    types.PatchType // of a patch
	body     []byte
	dryRun   bool
	force    bool // of a server-side apply
	limit    int
	token    string // continues a list
	selector string
}

// answer gives the code and the body of the answer to a request. The error is uncovered, or one
// of the model itself.
func (m *model) answer(r request) (int, any, error) {
	out, code, err := m.do(r)
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		s := status.Status()
		s.Kind, s.APIVersion = "Status", "v1"
		return int(s.Code), s, nil
	case err != nil:
		return 0, nil, err
	}
	return code, out, nil
}

func (m *model) do(r request) (any, int, error) {
	switch r.verb {
	case "get":
		out, err := m.found(r)
		return out, 200, err
	case "list":
		out, err := m.list(r)
		return out, 200, err
	case "create":
		out, err := m.create(r)
		return out, 201, err
	case "update":
		out, err := m.update(r)
		return out, 200, err
	case "patch":
		return m.patch(r)
	case "delete":
		out, err := m.delete(r)
		return out, 200, err
	}
	return nil, 0, uncovered("the verb " + r.verb)
}

func group(r request) schema.GroupResource { return schema.GroupResource{Resource: r.resource} }

func (m *model) found(r request) (runtime.Object, error) {
	if o := m.objects[r.resource][r.name]; o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(group(r), r.name)
}

// list is of one state, whatever is written between its pages.
func (m *model) list(r request) (any, error) {
	selector, err := labels.Parse(r.selector)
	if err != nil {
		return nil, uncovered("a selector that cannot be parsed")
	}
	rest, begun := m.pages[r.token]
	if r.token == "" {
		rest = slices.SortedFunc(maps.Values(m.objects[r.resource]), func(a, b runtime.Object) int { return strings.Compare(of(a).GetName(), of(b).GetName()) })
	} else if !begun {
		return nil, uncovered("a token that it has not given")
	}
	var items []runtime.Object
	for len(rest) > 0 && (r.limit == 0 || len(items) < r.limit) {
		if selector.Matches(labels.Set(of(rest[0]).GetLabels())) {
			items = append(items, rest[0])
		}
		rest = rest[1:]
	}
	gvk := kinds[r.resource]
	list := metav1.ListMeta{ResourceVersion: strconv.Itoa(m.revision)}
	if len(rest) > 0 { // whether the selector matches any of them or none
		list.Continue = fmt.Sprint("page-", len(m.pages)+1)
		m.pages[list.Continue] = rest
		if left := int64(len(rest)); r.selector == "" {
			list.RemainingItemCount = &left
		}
	}
	bare := []any{} // entries of a list of a built-in kind have no kind
	for _, o := range items {
		o = o.DeepCopyObject()
		o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		bare = append(bare, o)
	}
	return map[string]any{"kind": gvk.Kind + "List", "apiVersion": gvk.Version, "metadata": list, "items": bare}, nil
}

func (m *model) create(r request) (runtime.Object, error) {
	o, err := m.decoded(r.resource, r.body)
	if err != nil {
		return nil, err
	}
	in := of(o)
	if in.GetName() == "" || in.GetResourceVersion() != "" || in.GetUID() != "" || len(in.GetManagedFields()) > 0 {
		return nil, uncovered("creating without a name, or with what the server sets")
	}
	if o, err = m.admitted(r, nil, m.managers[r.resource].UpdateNoErrors(m.empty(r.resource), o, r.manager)); err != nil {
		return nil, err
	}
	if is := m.objects[r.resource][in.GetName()]; is != nil {
		exists := apierrors.NewAlreadyExists(group(r), in.GetName())
		if of(is).GetDeletionTimestamp() != nil {
			exists.ErrStatus.Message = "object is being deleted: " + exists.ErrStatus.Message
		}
		return nil, exists
	}
	return m.stored(r, nil, o)
}

func (m *model) update(r request) (runtime.Object, error) {
	o, err := m.decoded(r.resource, r.body)
	if err != nil {
		return nil, err
	}
	if of(o).GetName() != r.name {
		return nil, uncovered("an update of another name")
	}
	live, err := m.found(r)
	if err != nil {
		return nil, err
	}
	return m.replaced(r, live, o, func(o runtime.Object) (runtime.Object, error) {
		return m.managers[r.resource].UpdateNoErrors(live, o, r.manager), nil
	})
}

// replaced stores what a write makes of live: its preconditions are those of the object.
func (m *model) replaced(r request, live, o runtime.Object, owned func(runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
	was, is := of(live), of(o)
	if is.GetName() != was.GetName() || is.GetNamespace() != "" && is.GetNamespace() != was.GetNamespace() {
		return nil, uncovered("a write that moves the object")
	}
	if v := is.GetResourceVersion(); v != "" && v != was.GetResourceVersion() {
		return nil, apierrors.NewConflict(group(r), r.name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	if uid := is.GetUID(); uid != "" && uid != was.GetUID() {
		return nil, uncovered("a write with another object's uid")
	}
	is.SetNamespace(was.GetNamespace())
	is.SetUID(was.GetUID())
	is.SetCreationTimestamp(was.GetCreationTimestamp())
	is.SetDeletionTimestamp(was.GetDeletionTimestamp())
	is.SetDeletionGracePeriodSeconds(was.GetDeletionGracePeriodSeconds())
	is.SetResourceVersion(was.GetResourceVersion())
	o, err := owned(o)
	if err != nil {
		return nil, err
	}
	if o, err = m.admitted(r, live, o); err != nil {
		return nil, err
	}
	return m.stored(r, live, o)
}

// admitted is the object with defaults, if the model can say that the server takes it.
func (m *model) admitted(r request, live, o runtime.Object) (runtime.Object, error) {
	var before []string
	if live != nil {
		before = of(live).GetFinalizers()
		if of(live).GetDeletionTimestamp() != nil && slices.ContainsFunc(of(o).GetFinalizers(), func(f string) bool { return !slices.Contains(before, f) }) {
			return nil, uncovered("a new finalizer of an object that is being deleted")
		}
	}
	var keys []string
	switch o := o.(type) {
	case *corev1.ConfigMap:
		if o.Immutable != nil || len(o.BinaryData) > 0 {
			return nil, uncovered("immutable, binaryData")
		}
		for k := range o.Data {
			keys = append(keys, k)
		}
	case *corev1.Secret:
		if o.Immutable != nil || len(o.StringData) > 0 || o.Type != "" && o.Type != corev1.SecretTypeOpaque {
			return nil, uncovered("immutable, stringData, and types other than Opaque")
		}
		for k := range o.Data {
			keys = append(keys, k)
		}
	}
	if slices.ContainsFunc(keys, func(k string) bool { return len(validation.IsConfigMapKey(k)) > 0 }) {
		return nil, uncovered("an invalid key")
	}
	return o, nil
}

func of(o runtime.Object) metav1.Object {
	a, err := meta.Accessor(o)
	if err != nil {
		panic(err) // every kind of the table has metadata
	}
	return a
}

// timeless is the object without the times of its managers' entries.
func timeless(o runtime.Object) runtime.Object {
	o = o.DeepCopyObject()
	entries := of(o).GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	of(o).SetManagedFields(entries)
	return o
}

func (m *model) empty(resource string) runtime.Object {
	o, err := scheme.Scheme.New(kinds[resource])
	if err != nil {
		panic(err) // every kind of the table is in the scheme
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[resource])
	return o
}

func (m *model) decoded(resource string, doc []byte) (runtime.Object, error) {
	o := m.empty(resource)
	if err := json.Unmarshal(doc, o); err != nil {
		return nil, uncovered("a body that is no object of its kind: " + err.Error())
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[resource])
	if secret, ok := o.(*corev1.Secret); ok && secret.Type == "" {
		secret.Type = corev1.SecretTypeOpaque // the server fills in defaults before it tells owners
	}
	return o, nil
}
