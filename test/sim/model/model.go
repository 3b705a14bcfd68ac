// Package model is an API server in memory. It is held to the real one: the same random requests
// go to both, and their answers are equal. What the model does not cover it refuses by Uncovered; it
// never invents an answer.
package model

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

// Uncovered is a request that the model knows no answer to.
type Uncovered string

// Error names what is not covered.
func (u Uncovered) Error() string { return "the model does not cover " + string(u) }

// Model is an API server with one namespace.
type Model struct {
	namespace string

	mu       sync.Mutex
	revision int
	uids     int
	objects  map[string]map[string]runtime.Object // by resource, then name
	managers map[string]*managedfields.FieldManager
	pages    map[string][]runtime.Object // what is left of a list, by its token
	history  []Event
	times    []time.Time
	changed  chan struct{}             // closed by the next change
	texts    map[runtime.Object][]byte // of what was stored
	hook     func(metav1.Object)       // a mutating admission hook; may be nil
}

// New is a server without objects.
func New(namespace string) (*Model, error) {
	m := &Model{
		namespace: namespace, objects: map[string]map[string]runtime.Object{}, managers: map[string]*managedfields.FieldManager{},
		pages: map[string][]runtime.Object{}, changed: make(chan struct{}), texts: map[runtime.Object][]byte{},
	}
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	for resource, k := range kinds {
		manager, err := managedfields.NewDefaultFieldManager(converter, scheme.Scheme, scheme.Scheme, scheme.Scheme, k.GroupVersionKind, k.GroupVersion(), "", k.reset)
		if err != nil {
			return nil, err
		}
		m.managers[resource], m.objects[resource] = manager, map[string]runtime.Object{}
	}
	return m, nil
}

// Admit has a mutating hook change each object that is written, in the metadata that no kind
// restricts. It is not held to a server's.
func (m *Model) Admit(hook func(metav1.Object)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hook = hook
}

// Copy is another server that is as this one is now.
func (m *Model) Copy() *Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Model{
		namespace: m.namespace, revision: m.revision, uids: m.uids, objects: map[string]map[string]runtime.Object{}, managers: m.managers, pages: maps.Clone(m.pages),
		history: slices.Clone(m.history), times: slices.Clone(m.times), changed: make(chan struct{}), texts: maps.Clone(m.texts),
	}
	for resource, objects := range m.objects {
		c.objects[resource] = maps.Clone(objects)
	}
	return c
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
	only     string // the name of a field selector
	metadata bool   // the answer has metadata alone
	By       string // whom its Event names
}

// answer gives the code and the body of the answer to a request. The error is uncovered, or one
// of the model itself.
func (m *Model) answer(r request) (int, any, error) {
	out, code, err := m.do(r)
	if o, is := out.(runtime.Object); is && err == nil {
		var text json.RawMessage
		text, err = m.text(o)
		out = text
	}
	if err == nil && r.metadata {
		out, err = reduced(out)
	}
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

func (m *Model) do(r request) (any, int, error) {
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
	return nil, 0, Uncovered("the verb " + r.verb)
}

func group(r request) schema.GroupResource {
	return schema.GroupResource{Group: kinds[r.resource].Group, Resource: r.resource}
}

func (m *Model) found(r request) (runtime.Object, error) {
	if o := m.objects[r.resource][r.name]; o != nil {
		return o, nil
	}
	return nil, apierrors.NewNotFound(group(r), r.name)
}

func (m *Model) create(r request) (runtime.Object, error) {
	o, err := m.decoded(r.resource, r.body)
	if err != nil {
		return nil, err
	}
	in := of(o)
	if in.GetName() == "" || in.GetResourceVersion() != "" || in.GetUID() != "" || len(in.GetManagedFields()) > 0 {
		return nil, Uncovered("creating without a name, or with what the server sets")
	}
	carried(r, nil, o)
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

func (m *Model) update(r request) (runtime.Object, error) {
	o, err := m.decoded(r.resource, r.body)
	if err != nil {
		return nil, err
	}
	if of(o).GetName() != r.name {
		return nil, Uncovered("an update of another name")
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
func (m *Model) replaced(r request, live, o runtime.Object, owned func(runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
	was, is := of(live), of(o)
	if is.GetName() != was.GetName() || is.GetNamespace() != "" && is.GetNamespace() != was.GetNamespace() {
		return nil, Uncovered("a write that moves the object")
	}
	if v := is.GetResourceVersion(); v != "" && v != was.GetResourceVersion() {
		return nil, apierrors.NewConflict(group(r), r.name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	if uid := is.GetUID(); uid != "" && uid != was.GetUID() {
		return nil, Uncovered("a write with another object's uid")
	}
	is.SetNamespace(was.GetNamespace())
	is.SetUID(was.GetUID())
	is.SetCreationTimestamp(was.GetCreationTimestamp())
	is.SetResourceVersion(was.GetResourceVersion())
	carried(r, live, o)
	o, err := owned(o)
	if err != nil {
		return nil, err
	}
	is = of(o)
	is.SetDeletionTimestamp(was.GetDeletionTimestamp()) // an update without them takes them from their owner
	is.SetDeletionGracePeriodSeconds(was.GetDeletionGracePeriodSeconds())
	if o, err = m.admitted(r, live, o); err != nil {
		return nil, err
	}
	return m.stored(r, live, o)
}

// admitted is the object with defaults, if the model can say that the server takes it.
func (m *Model) admitted(r request, live, o runtime.Object) (runtime.Object, error) {
	var before []string
	if live != nil {
		before = of(live).GetFinalizers()
		if of(live).GetDeletionTimestamp() != nil && slices.ContainsFunc(of(o).GetFinalizers(), func(f string) bool { return !slices.Contains(before, f) }) {
			return nil, Uncovered("a new finalizer of an object that is being deleted")
		}
	}
	if m.hook != nil {
		m.hook(of(o))
	}
	if why := kinds[r.resource].strange(o); why != "" {
		return nil, Uncovered(why)
	}
	return o, nil
}

// carried keeps what a write of the object itself does not change.
func carried(r request, live, o runtime.Object) {
	if carry := kinds[r.resource].carry; carry != nil {
		carry(live, o)
	}
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

func (m *Model) empty(resource string) runtime.Object {
	o, err := scheme.Scheme.New(kinds[resource].GroupVersionKind)
	if err != nil {
		panic(err) // every kind of the table is in the scheme
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[resource].GroupVersionKind)
	return o
}

func (m *Model) decoded(resource string, doc []byte) (runtime.Object, error) {
	o := m.empty(resource)
	if err := json.Unmarshal(doc, o); err != nil {
		return nil, Uncovered("a body that is no object of its kind: " + err.Error())
	}
	o.GetObjectKind().SetGroupVersionKind(kinds[resource].GroupVersionKind)
	if fill := kinds[resource].defaults; fill != nil {
		fill(o) // the server fills in defaults before it tells owners
	}
	return o, nil
}
