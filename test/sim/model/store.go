package model

import (
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// stored puts an object in live's place, unless that changes nothing or is tried only.
func (m *Model) stored(r request, live, o runtime.Object) (runtime.Object, error) {
	is := of(o)
	if live == nil {
		m.uids++
		is.SetNamespace(m.namespace)
		is.SetUID(types.UID(fmt.Sprint("model-", m.uids)))
		is.SetCreationTimestamp(metav1.Now())
		is.SetResourceVersion("")
	} else if equality.Semantic.DeepEqual(timeless(live), timeless(o)) {
		return live, nil
	}
	if r.dryRun {
		return o, nil
	}
	is.SetResourceVersion(strconv.Itoa(m.revision + 1))
	if is.GetDeletionTimestamp() != nil && len(is.GetFinalizers()) == 0 {
		m.happened(Event{Type: Deleted, Resource: r.resource, Was: live, Is: o.DeepCopyObject(), By: r.By})
		if r.verb != "delete" {
			is.SetResourceVersion(of(live).GetResourceVersion()) // it is removed instead of written
		}
		return o, nil
	}
	e := Event{Type: Modified, Resource: r.resource, Was: live, Is: o, By: r.By}
	if live == nil {
		e.Type = Added
	}
	m.happened(e)
	return o, nil
}

func (m *Model) delete(r request) (any, error) {
	live, err := m.found(r)
	if err != nil {
		return nil, err
	}
	var options metav1.DeleteOptions
	if err := json.Unmarshal(r.body, &options); err != nil {
		return nil, err
	}
	if options.PropagationPolicy != nil && *options.PropagationPolicy != metav1.DeletePropagationBackground {
		return nil, Uncovered("propagation other than background")
	}
	was, kind := of(live), schema.GroupResource{Group: group(r).Group, Resource: kinds[r.resource].Kind} // the server's words, too, name the kind here
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != was.GetUID() {
			return nil, apierrors.NewConflict(kind, r.name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, was.GetUID()))
		}
		if v := p.ResourceVersion; v != nil && *v != was.GetResourceVersion() {
			return nil, apierrors.NewConflict(kind, r.name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *v, was.GetResourceVersion()))
		}
	}
	if len(was.GetFinalizers()) > 0 {
		if was.GetDeletionTimestamp() != nil {
			return live, nil
		}
		o := live.DeepCopyObject()
		now, none := metav1.Now(), int64(0)
		of(o).SetDeletionTimestamp(&now)
		of(o).SetDeletionGracePeriodSeconds(&none)
		if n := was.GetGeneration(); n > 0 {
			of(o).SetGeneration(n + 1)
		}
		return m.stored(r, live, o)
	}
	gone := live
	if !r.dryRun {
		gone = live.DeepCopyObject()
		of(gone).SetResourceVersion(strconv.Itoa(m.revision + 1))
		m.happened(Event{Type: Deleted, Resource: r.resource, Was: live, Is: gone, By: r.By})
	}
	if kinds[r.resource].returned {
		return gone, nil
	}
	return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: r.name, Group: group(r).Group, Kind: r.resource, UID: was.GetUID()}}, nil
}
