package cluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWayOut: what is advised can be done in the run that was refused, and a rule about the
// whole object begins with what it says.
func TestWayOut(t *testing.T) {
	fixed := metav1.StatusCause{Field: "spec.selector", Message: "Invalid value: {}: field is immutable"}
	taken := metav1.StatusCause{Field: "spec.ports[0].nodePort", Message: "Invalid value: 30080: provided port is already allocated"}
	for _, tt := range []struct {
		reason string
		cause  metav1.StatusCause
		kind   string
		by     Purpose
		want   string
	}{
		{"a merge can recreate", fixed, "Deployment", Merging,
			"spec.selector: invalid value {}: field is immutable: set it back to what the cluster has, or have the object deleted and created again: --recreate=Deployment"},
		{"server-side apply cannot", fixed, "Deployment", Applying,
			"spec.selector: invalid value {}: field is immutable: set it back to what the cluster has, or delete the object with kubectl delete, and merge again"},
		{"nor can an undo", fixed, "Deployment", Undoing,
			"spec.selector: invalid value {}: field is immutable: it can be set only once: kubectl merge --recreate=Deployment, with the file as it was, deletes the object and creates it again; undo --partial undoes the other objects"},
		{"and what holds data is not to be deleted", fixed, "PersistentVolumeClaim", Undoing,
			"spec.selector: invalid value {}: field is immutable: it can be set only once: undo --partial undoes the other objects"},
		{"a port of another", taken, "Service", Applying,
			"spec.ports[0].nodePort: invalid value 30080: provided port is already allocated: another Service has it (kubectl get services -A shows which): free it there, or leave it out of the file, and the server chooses one"},
		{"a port that is given back", taken, "Service", Undoing,
			"spec.ports[0].nodePort: invalid value 30080: provided port is already allocated: another Service has it by now (kubectl get services -A shows which): free it there, and undo again; --partial undoes the other objects"},
		{"a policy's refusal", metav1.StatusCause{Message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"}, "ConfigMap", Merging,
			"ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"},
		{"a rule about a whole custom resource", metav1.StatusCause{Field: "<nil>", Message: `Invalid value: {"a":1}: one of a and b`}, "Gadget", Merging, "one of a and b"},
		{"one without words", metav1.StatusCause{Message: `Invalid value: {"a":1}`}, "Gadget", Merging, "invalid value"},
	} {
		r := &Refusal{Target: Target{Resource: Resource{Version: "v1", Kind: tt.kind}}, Code: 422, Causes: []metav1.StatusCause{tt.cause}, For: tt.by}
		r.Text = invalid(r.Causes, false, asItIs)
		if got := r.Error(); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.reason, got, tt.want)
		}
	}
}
