package prune

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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// memory holds objects and records what it is asked for. It is there for the logic of sets
// alone: what a server does is tested on a real one.
type memory struct {
	mu      sync.Mutex
	kinds   []cluster.Resource
	objects map[string]map[string]any // by what key says
	log     []string                  // "delete configmap/a", …
	version int                       // that the last write has given, as etcd's begins with 2
	refresh func()

	// fail is asked before anything is done; it may do something itself.
	fail func(request string) error
}

func resource(group, kind, plural string, namespaced bool) cluster.Resource {
	return cluster.Resource{Group: group, Version: "v1", Kind: kind, Plural: plural, Namespaced: namespaced}
}

var (
	secrets    = resource("", "Secret", "secrets", true)
	configMaps = resource("", "ConfigMap", "configmaps", true)
	claims     = resource("", "PersistentVolumeClaim", "persistentvolumeclaims", true)
	namespaces = resource("", "Namespace", "namespaces", false)
	crds       = resource("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false)
	things     = resource("example.com", "Thing", "things", true)
)

func newMemory() *memory {
	return &memory{version: 1, objects: map[string]map[string]any{}, kinds: []cluster.Resource{configMaps, crds, namespaces, claims, secrets, things}}
}

func target(r cluster.Resource, name string) cluster.Target {
	t := cluster.Target{Resource: r, Name: name}
	if r.Namespaced {
		t.Namespace = "ns"
	}
	return t
}

func key(t cluster.Target) string { return t.Namespace + " " + t.String() }

// put stores an object; change may alter its metadata.
func (m *memory) put(t cluster.Target, change func(meta map[string]any)) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	meta := map[string]any{"name": t.Name, "uid": "uid-" + t.String()}
	if t.Namespace != "" {
		meta["namespace"] = t.Namespace
	}
	if change != nil {
		change(meta)
	}
	return m.store(t, map[string]any{"metadata": meta})
}

func (m *memory) store(t cluster.Target, obj map[string]any) map[string]any {
	m.version++
	meta := maps.Clone(obj["metadata"].(map[string]any))
	meta["resourceVersion"] = fmt.Sprint(m.version)
	obj = maps.Clone(obj)
	obj["metadata"] = meta
	m.objects[key(t)] = obj
	return obj
}

func (m *memory) ask(request string) error {
	m.mu.Lock()
	m.log = append(m.log, request)
	m.mu.Unlock()
	if m.fail == nil {
		return nil
	}
	return m.fail(request)
}

func (m *memory) find(is func(cluster.Resource) bool, name string) (cluster.Resource, error) {
	if err := m.ask("find " + name); err != nil {
		return cluster.Resource{}, err
	}
	if i := slices.IndexFunc(m.kinds, is); i >= 0 {
		return m.kinds[i], nil
	}
	return cluster.Resource{}, &cluster.UnknownKindError{Kind: name}
}

func (m *memory) Find(_ context.Context, group, _, kind string) (cluster.Resource, error) {
	return m.find(func(r cluster.Resource) bool { return r.Group == group && r.Kind == kind }, kind)
}

func (m *memory) FindKind(ctx context.Context, group, kind string) (cluster.Resource, error) {
	return m.Find(ctx, group, "", kind)
}

func (m *memory) FindPlural(_ context.Context, group, plural string) (cluster.Resource, error) {
	return m.find(func(r cluster.Resource) bool { return r.Group == group && r.Plural == plural }, plural)
}

func (m *memory) Deletable(context.Context) ([]cluster.Resource, error) {
	return m.kinds, m.ask("discover")
}

func (m *memory) Refresh(context.Context) {
	if m.refresh != nil {
		m.refresh()
	}
}

func (m *memory) Get(_ context.Context, t cluster.Target) (map[string]any, error) {
	return m.get("get", t)
}

func (m *memory) GetMetadata(_ context.Context, t cluster.Target) (map[string]any, error) {
	return m.get("read", t)
}

func (m *memory) get(verb string, t cluster.Target) (map[string]any, error) {
	if err := m.ask(verb + " " + t.String()); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if obj, ok := m.objects[key(t)]; ok {
		return obj, nil
	}
	return nil, refusal(http.StatusNotFound, metav1.StatusReasonNotFound)
}

// ListMetadata knows the selectors key, key=value and "".
func (m *memory) ListMetadata(_ context.Context, r cluster.Resource, namespace, selector string) ([]map[string]any, error) {
	if err := m.ask(strings.TrimSpace("list " + r.Plural + " " + namespace)); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	label, value, exact := strings.Cut(selector, "=")
	var out []map[string]any
	for _, k := range slices.Sorted(maps.Keys(m.objects)) {
		ns, name, _ := strings.Cut(k, " ")
		kind, _, _ := strings.Cut(name, "/")
		labels := applyset.ReadMember(applyset.GroupKind{}, m.objects[k]).Labels
		have, labelled := labels[label]
		if kind == strings.ToLower(r.GroupKind().String()) && (namespace == "" || ns == namespace) && (selector == "" || labelled && (!exact || have == value)) {
			out = append(out, m.objects[k])
		}
	}
	return out, nil
}

func (m *memory) Send(_ context.Context, t cluster.Target, as cluster.Way, body any, w cluster.Write) (map[string]any, error) {
	if as == cluster.Apply {
		return m.apply(t, body, w)
	}
	return m.patch(t, body, w)
}

func (m *memory) patch(t cluster.Target, patch any, w cluster.Write) (map[string]any, error) {
	if err := m.ask(verb("patch", w.DryRun) + " " + t.String()); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	obj, ok := m.objects[key(t)]
	if !ok {
		return nil, refusal(http.StatusNotFound, metav1.StatusReasonNotFound)
	}
	change := patch.(map[string]any)["metadata"].(map[string]any)
	meta := maps.Clone(obj["metadata"].(map[string]any))
	if change["resourceVersion"] != meta["resourceVersion"] {
		return nil, conflict()
	}
	labels := map[string]any{}
	if has, ok := meta["labels"].(map[string]any); ok {
		maps.Copy(labels, has)
	}
	maps.Copy(labels, change["labels"].(map[string]any))
	maps.DeleteFunc(labels, func(_ string, v any) bool { return v == nil })
	meta["labels"] = labels
	if w.DryRun {
		return obj, nil
	}
	return m.store(t, map[string]any{"metadata": meta}), nil
}

// apply replaces labels and annotations: the parents in these tests have no others.
func (m *memory) apply(t cluster.Target, obj any, w cluster.Write) (map[string]any, error) {
	request := "apply " + t.String()
	if w.Force {
		request += " by force"
	}
	if err := m.ask(request); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	meta := maps.Clone(obj.(map[string]any)["metadata"].(map[string]any))
	if is, ok := m.objects[key(t)]; ok {
		now := is["metadata"].(map[string]any)
		if version, bound := meta["resourceVersion"]; bound && version != now["resourceVersion"] {
			return nil, conflict()
		}
		meta["uid"] = now["uid"]
	} else {
		meta["uid"] = "uid-" + t.String()
	}
	return m.store(t, map[string]any{"metadata": meta}), nil
}

func (m *memory) Delete(_ context.Context, t cluster.Target, d cluster.Deletion) (map[string]any, error) {
	if err := m.ask(verb("delete", d.DryRun) + " " + t.String()); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	obj, ok := m.objects[key(t)]
	if !ok {
		return nil, refusal(http.StatusNotFound, metav1.StatusReasonNotFound)
	}
	meta := obj["metadata"].(map[string]any)
	if d.UID != meta["uid"] || d.ResourceVersion != "" && d.ResourceVersion != meta["resourceVersion"] {
		return nil, conflict()
	}
	if d.DryRun {
		return nil, nil
	}
	if meta["finalizers"] != nil {
		left := maps.Clone(meta)
		left["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		return m.store(t, map[string]any{"metadata": left}), nil
	}
	delete(m.objects, key(t))
	return nil, nil
}

func verb(name string, dryRun bool) string {
	if dryRun {
		return "try " + name
	}
	return name
}

func refusal(code int, reason metav1.StatusReason) error {
	return &cluster.Refusal{Code: code, Reason: reason, Text: string(reason)}
}

func conflict() error { return refusal(http.StatusConflict, metav1.StatusReasonConflict) }

func forbidden() error { return refusal(http.StatusForbidden, metav1.StatusReasonForbidden) }

func silent() error {
	return refusal(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
}

// failing fails the request whose text it is, as often as there are errors.
func failing(request string, errs ...error) func(string) error {
	return func(r string) error {
		if r != request || len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
}

// shop is a set of a server, and what it notes.
func shop(t *testing.T, m *memory) (*Set, *[]string) {
	t.Helper()
	s, err := Read(t.Context(), m, target(secrets, "shop"), 1)
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	var mu sync.Mutex
	s.Note = func(about, text string) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, about+": "+text)
	}
	return s, &notes
}

// shopID is the id of secret/shop in the namespace ns.
var shopID = applyset.Set{GroupKind: secrets.GroupKind(), Namespace: "ns", Name: "shop"}.ID()

// parent stores the parent of secret/shop.
func (m *memory) parent(kinds string, more map[string]any) {
	m.put(target(secrets, "shop"), func(meta map[string]any) {
		annotations := map[string]any{applyset.ToolingAnnotation: applyset.Tooling, applyset.KindsAnnotation: kinds}
		maps.Copy(annotations, more)
		maps.DeleteFunc(annotations, func(_ string, v any) bool { return v == nil })
		meta["labels"], meta["annotations"] = map[string]any{applyset.IDLabel: shopID}, annotations
	})
}

// member stores a member of secret/shop.
func (m *memory) member(t cluster.Target, change func(meta map[string]any)) {
	m.put(t, func(meta map[string]any) {
		meta["labels"] = map[string]any{applyset.PartOfLabel: shopID}
		if change != nil {
			change(meta)
		}
	})
}

// asked are the requests with one of the verbs.
func (m *memory) asked(verbs ...string) []string {
	return slices.DeleteFunc(slices.Clone(m.log), func(r string) bool {
		return !slices.ContainsFunc(verbs, func(v string) bool { return strings.HasPrefix(r, v+" ") })
	})
}

// kinds are what the parent lists by now.
func (m *memory) lists() string {
	return applyset.ReadMember(applyset.GroupKind{}, m.objects["ns secret/shop"]).Annotations[applyset.KindsAnnotation]
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}

// fails says that an error has the text; "" that there is none.
func fails(t *testing.T, what string, err error, text string) {
	t.Helper()
	if (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%s: %v, want %q", what, err, text)
	}
}

var errLost = errors.New("lost")
