package sim

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4" // the API server's own
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patch is each kind of patch, by the code that the API server has it from.
func (m *model) patch(r request) (any, int, error) {
	live, err := m.found(r)
	if r.patch == types.ApplyPatchType {
		return m.applied(r, live)
	}
	if err != nil {
		return nil, 0, err
	}
	was, err := json.Marshal(live)
	if err != nil {
		return nil, 0, err
	}
	var is []byte
	switch r.patch {
	case types.MergePatchType:
		is, err = jsonpatch.MergePatch(was, r.body)
	case types.StrategicMergePatchType:
		is, err = strategicpatch.StrategicMergePatch(was, r.body, m.empty(r.resource))
	default:
		err = uncovered("a patch of type " + string(r.patch))
	}
	if err != nil {
		return nil, 0, uncovered("a patch that fails: " + err.Error())
	}
	o, err := m.decoded(r.resource, is)
	if err != nil {
		return nil, 0, err
	}
	out, err := m.replaced(r, live, o, func(o runtime.Object) (runtime.Object, error) {
		return m.managers[r.resource].UpdateNoErrors(live, o, r.manager), nil
	})
	return out, 200, err
}

// applied is a server-side apply, which creates an object that is not there.
func (m *model) applied(r request, live runtime.Object) (any, int, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(r.body); err != nil {
		return nil, 0, uncovered("an apply that is no object: " + err.Error())
	}
	if u.GetName() != r.name || live == nil && u.GetResourceVersion() != "" || u.GetUID() != "" {
		return nil, 0, uncovered("an apply of another name, with a uid, or with the version of nothing")
	}
	from, code := live, 200
	if live == nil {
		from, code = m.empty(r.resource), 201
	}
	out, err := m.managers[r.resource].Apply(from, u, r.manager, r.force)
	if apierrors.IsConflict(err) {
		return nil, 0, err
	} else if err != nil {
		return nil, 0, uncovered("an apply that fails: " + err.Error())
	}
	doc, err := json.Marshal(out)
	if err != nil {
		return nil, 0, err
	}
	o, err := m.decoded(r.resource, doc)
	if err != nil {
		return nil, 0, err
	}
	if live != nil {
		if v := u.GetResourceVersion(); v != "" {
			of(o).SetResourceVersion(v) // compared once the owners are known to agree
		}
		o, err = m.replaced(r, live, o, func(o runtime.Object) (runtime.Object, error) { return o, nil })
		return o, code, err
	}
	if o, err = m.admitted(r, nil, o); err != nil {
		return nil, 0, err
	}
	o, err = m.stored(r, nil, o)
	return o, code, err
}
