package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4" // the API server's own
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patch is each kind of patch, by the code that the API server has it from.
func (m *Model) patch(r request) (any, int, error) {
	live, err := m.found(r)
	if r.patch == types.ApplyPatchType {
		return m.applied(r, live)
	}
	if err != nil {
		return nil, 0, err
	}
	was, err := m.text(live)
	if err != nil {
		return nil, 0, err
	}
	var is []byte
	switch r.patch {
	case types.MergePatchType:
		is, err = jsonpatch.MergePatch(was, r.body)
	case types.StrategicMergePatchType:
		is, err = strategicpatch.StrategicMergePatch(was, r.body, m.empty(r.resource))
	case types.JSONPatchType:
		is, err = jsonPatched(was, r.body)
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			return nil, 0, err
		}
	default:
		err = Uncovered("a patch of type " + string(r.patch))
	}
	if err != nil {
		return nil, 0, Uncovered("a patch that fails: " + err.Error())
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
func (m *Model) applied(r request, live runtime.Object) (any, int, error) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(r.body); err != nil {
		return nil, 0, Uncovered("an apply that is no object: " + err.Error())
	}
	if u.GetName() != r.name {
		return nil, 0, Uncovered("an apply of another name")
	}
	from, code := live, 200
	if live == nil {
		from, code = m.empty(r.resource), 201
	}
	out, err := m.managers[r.resource].Apply(from, u, r.manager, r.force)
	if apierrors.IsConflict(err) {
		return nil, 0, err
	} else if err != nil {
		return nil, 0, Uncovered("an apply that fails: " + err.Error())
	}
	if uid := u.GetUID(); uid != "" && live == nil {
		return nil, 0, apierrors.NewConflict(group(r), r.name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
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
	carried(r, nil, o)
	if o, err = m.admitted(r, nil, o); err != nil {
		return nil, 0, err
	}
	if o, err = m.stored(r, nil, o); err == nil && r.dryRun {
		of(o).SetResourceVersion(u.GetResourceVersion()) // nothing has given it another
	}
	return o, code, err
}

// jsonPatched is an RFC 6902 patch. One whose operations fail, tests among them, is refused.
func jsonPatched(was, text []byte) ([]byte, error) {
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, err
	}
	is, err := patch.Apply(was)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return is, nil
}
