package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// subject is a desired object.
type subject struct {
	apply.Subject
	ignored []merge.Path // stated, and the server's
}

// asJSON returns an object as exact JSON values that share no memory with v; nil where v is none.
func asJSON(v any) (map[string]any, error) {
	var text []byte
	switch v := v.(type) {
	case *unstructured.Unstructured:
		o, err := object.FromUnstructured(v)
		return o.Value, err
	case unstructured.Unstructured:
		return asJSON(&v)
	case map[string]any:
		return asJSON(&unstructured.Unstructured{Object: v})
	case []byte:
		if text = v; v == nil {
			return nil, nil
		}
	default:
		var err error
		if text, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("a %T cannot be written as JSON: %w", v, err)
		}
	}
	read, err := merge.ReadJSON(text)
	if err != nil {
		return nil, errors.New("is not JSON") // the cause may quote a value
	}
	m, ok := read.(map[string]any)
	if !ok && read != nil {
		return nil, fmt.Errorf("a %T is not an object of the API", v)
	}
	return m, nil
}

// desired returns a desired object with the planner's labels and owners.
func (p *Planner) desired(v any) (subject, error) {
	m, err := asJSON(v)
	if err != nil {
		return subject{}, err
	}
	if typed, ok := v.(runtime.Object); ok && p.scheme != nil && m != nil && m["kind"] == nil {
		kinds, _, err := p.scheme.ObjectKinds(typed)
		if err != nil {
			return subject{}, err
		}
		m["apiVersion"], m["kind"] = kinds[0].GroupVersion().String(), kinds[0].Kind
	}
	obj := object.Object{Value: m}
	if err := obj.Check(); err != nil {
		return subject{}, err
	}
	s := subject{Subject: apply.Subject{Object: obj, Name: obj.String(), HasStatus: p.types.hasStatus(obj)}}
	stripped, ignored := lastapplied.Strip(m, s.HasStatus)
	s.ignored = ignored
	m, _ = stripped.(map[string]any)
	for k, v := range p.labels {
		if _, stated := merge.At[map[string]any](m, "metadata", "labels")[k]; !stated {
			m = merge.With(m, v, "metadata", "labels", k)
		}
	}
	s.Value, err = p.owned(m)
	return s, err
}

// owned returns an object with the planner's owner references. The API takes each owner once.
func (p *Planner) owned(obj map[string]any) (map[string]any, error) {
	if len(p.owners) == 0 {
		return obj, nil
	}
	read, err := asJSON(struct{ Owners any }{p.owners})
	if err != nil {
		return nil, err
	}
	all := slices.Clip(merge.At[[]any](obj, "metadata", "ownerReferences"))
	for _, ref := range merge.MapsAt(read, "Owners") {
		if !slices.ContainsFunc(all, func(e any) bool { return merge.At[any](e, "uid") == ref["uid"] }) {
			all = append(all, ref)
		}
	}
	return merge.With(obj, all, "metadata", "ownerReferences"), nil
}

// asLive returns the live form of an object, nil where there is none. A typed object from a cache
// has no apiVersion and no kind, and a client that finds none leaves it empty.
func asLive(s subject, v any) (map[string]any, error) {
	m, err := asJSON(v)
	if err != nil || merge.At[string](m, "metadata", "name") == "" {
		return nil, err
	}
	if m["kind"] == nil && m["apiVersion"] == nil {
		m["apiVersion"], m["kind"] = s.APIVersion(), s.Kind()
	}
	live := object.Object{Value: m}
	want, is := s.ID(), live.ID()
	if want.Namespace == "" {
		is.Namespace = ""
	}
	if want != is {
		return nil, fmt.Errorf("%s: is not %s: give the live form of the same object", live, s.Name)
	}
	if m["apiVersion"] != s.APIVersion() {
		return nil, fmt.Errorf("%s: is of the version %v, and desired of %s: read it in that version", live, m["apiVersion"], s.APIVersion())
	}
	return m, nil
}

// controlled returns a *ConflictError where another object controls live than the planner's owner:
// the API takes one controller.
func (p *Planner) controlled(s subject, live map[string]any) error {
	for _, ours := range p.owners {
		for _, ref := range merge.MapsAt(live, "metadata", "ownerReferences") {
			if ours.Controller != nil && *ours.Controller && ref["controller"] == true && ref["uid"] != string(ours.UID) {
				return &ConflictError{Object: s.Name, Conflicts: []Change{{
					Op: "set", Path: "metadata.ownerReferences",
					From: fmt.Sprintf("%v %v", ref["kind"], ref["name"]), To: ours.Kind + " " + ours.Name, Why: "another object controls it",
				}}}
			}
		}
	}
	return nil
}

// Types are the types of kinds that are not built in, by which their lists and maps are split. The
// zero value is empty and ready to use. It is safe for concurrent use, and may be shared.
type Types struct {
	// Fetch returns the OpenAPI v3 document of a group and version, nil where there is none. It is
	// asked once for each that is not built in and was not added; nil where no server is to be
	// asked. It must be set before the first use.
	Fetch func(ctx context.Context, group, version string) ([]byte, error)

	mu     sync.RWMutex
	added  apply.Definitions
	served *apply.Documents // as Fetch returned them; nil: none yet
}

// Add adds a CustomResourceDefinition, a list of them, or an OpenAPI document of an API server, in
// any form that Planner.Plan takes. A definition replaces an earlier one of its kind. It is an
// error if it is none of these, or cannot be read.
func (t *Types) Add(definition any) error {
	m, err := asJSON(definition)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.added.Add(m)
}

// Forget makes the next plan fetch again, as after a CustomResourceDefinition has changed.
func (t *Types) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.served = nil
}

// find is the engine's source of types; t may be nil.
func (t *Types) find(ctx context.Context, group, version, kind string) (*merge.Type, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.RLock()
	typ, err := t.added.Around(nil)(ctx, group, version, kind)
	t.mu.RUnlock()
	if typ != nil || err != nil || t.Fetch == nil {
		return typ, err
	}
	t.mu.Lock()
	if t.served == nil {
		t.served = &apply.Documents{Fetch: t.Fetch}
	}
	served := t.served
	t.mu.Unlock()
	if typ, err = served.Type(ctx, group, version, kind); err != nil {
		t.Forget() // a server that could not be reached is asked again
	}
	return typ, err
}

// hasStatus reports whether an object's status is written through a subresource of its own. Of a
// kind that is not known it is assumed: a status that the server drops would be written for ever.
func (t *Types) hasStatus(o object.Object) bool {
	if kind, known := schema.BuiltinKind(o.Group(), o.Version(), o.Kind()); known {
		return kind.HasStatus
	}
	if t == nil {
		return true
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	kind, known := t.added.Kind(o.Group(), o.Version(), o.Kind())
	return kind.HasStatus || !known
}
