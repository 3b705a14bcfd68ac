package apply_test

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestAdvice: a value of the wrong type is an error with what to do about it, and with nothing of
// a Secret.
func TestAdvice(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":true,"b":1}}`,
			"data.a: must be a string, and is the boolean true: quote it; data.b: must be a string, and is the number 1: quote it"},
		{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":"3","paused":"true"}}`,
			"spec.paused: must be true or false: write true; spec.replicas: must be a number: write 3"},
		{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"A","value":1}]}]}}}}`,
			"spec.template.spec.containers[name=web].env[name=A].value: must be a string, and is the number 1: quote it"},
		{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":"three"}}`, "spec.replicas: must be a number, and is a string"},
		{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":1.5}}`, "spec.replicas: must be a whole number, and is the number 1.5"},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"false":1}}`,
			"data.false: must be a string, and is the number 1: quote it"},
		{`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"a":1}}`, "stringData.a: must be a string: quote it"},
		{`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"a":"hunter2!","b":"aGk=","c":""}}`,
			"data.a: must be base64: encode it, or write it as it is under stringData"},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"binaryData":{"a":"aGk"}}`, "binaryData.a: must be base64: encode it, or write it as it is under data"},
		{`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"100 m","memory":"2Gb"},"requests":{"cpu":0.1,"memory":"2Gi"}}}]}}`,
			"spec.containers[name=c].resources.limits.cpu: must be a quantity, as 100m, 0.5 or 2Gi: write 100m; " +
				"spec.containers[name=c].resources.limits.memory: must be a quantity, as 100m, 0.5 or 2Gi, and is \"2Gb\""},
		{`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"},"spec":{"acquireTime":"2026-01-01T00:00:00Z","renewTime":"2026-01-01T00:00:00.000000Z"}}`,
			"spec.acquireTime: must be a time with six decimals, as 2026-01-31T08:00:00.000000Z: write 2026-01-01T00:00:00.000000Z"},
	} {
		v, err := merge.ReadJSON([]byte(tt.object))
		if err != nil {
			t.Fatal(err)
		}
		local := object.Object{Value: v.(map[string]any)}
		_, err = (&apply.Planner{}).Plan(t.Context(), apply.Subject{Object: local}, nil)
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
