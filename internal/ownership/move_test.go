package ownership_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

const annotated = `"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}`

// holdings spells managedFields as manager/operation/version: fields.
func holdings(t *testing.T, r *ownership.Rewrite) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, e := range r.Entries() {
		m := e.(map[string]any)
		sub, _ := m["subresource"].(string)
		got[m["manager"].(string)+"/"+m["operation"].(string)+"/"+m["apiVersion"].(string)+sub] = show(t, m["fieldsV1"])
	}
	return got
}

func configMap(t *testing.T, managed string) map[string]any {
	t.Helper()
	v, _ := read(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","managedFields":[`+managed+`]},"data":{"a":"1","b":"2","c":"3"}}`).(map[string]any)
	return v
}

func TestMove(t *testing.T) {
	const (
		csa  = `{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","fieldsV1":{` + annotated + `,"f:data":{"f:a":{},"f:b":{}}}}`
		old  = `{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v0","fieldsV1":{"f:data":{"f:c":{}}}}`
		sub  = `{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","subresource":"status","fieldsV1":{"f:status":{}}}`
		bob  = `{"manager":"bob","operation":"Update","apiVersion":"v0","fieldsV1":{"f:data":{"f:c":{},"f:gone":{}}}}`
		ssa  = `{"manager":"kubectl","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:c":{}}}}`
		kept = `{"manager":"kubectl-last-applied","operation":"Apply","apiVersion":"v1","fieldsV1":{` + annotated + `}}`
	)
	typ, _ := schema.Builtin("", "v1", "ConfigMap")
	t.Run("what was applied is the applier's, and all else of the manager ends, but subresources", func(t *testing.T) {
		r := ownership.RewriteOf(configMap(t, csa+","+old+","+sub+","+ssa), "kubectl")
		fields, _ := read(t, `{"f:data":{"f:a":{}}}`).(map[string]any)
		if err := r.Adopt(fields, []string{"kubectl-client-side-apply"}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"kubectl/Apply/v1": `{"f:data":{"f:a":{},"f:c":{}}}`, "kubectl-client-side-apply/Update/v1status": `{"f:status":{}}`}
		if d := cmp.Diff(want, holdings(t, r)); d != "" {
			t.Error(d)
		}
	})
	t.Run("back, with the annotation", func(t *testing.T) {
		r := ownership.RewriteOf(configMap(t, ssa+","+kept+","+bob), "kubectl")
		if err := r.Release("kubectl-client-side-apply"); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"kubectl-client-side-apply/Update/v1": `{"f:data":{"f:c":{}},` + annotated + `}`, "bob/Update/v0": `{"f:data":{"f:c":{},"f:gone":{}}}`}
		if d := cmp.Diff(want, holdings(t, r)); d != "" {
			t.Error(d)
		}
	})
	t.Run("a version that is not served any more becomes live's, with what live has", func(t *testing.T) {
		live := configMap(t, bob+","+ssa)
		r := ownership.RewriteOf(live, "kubectl")
		names := r.Convert(live, typ, func(version string) bool { return version != "v0" })
		if d := cmp.Diff([]string{"bob"}, names); d != "" {
			t.Error(d)
		}
		want := map[string]string{"bob/Update/v1": `{"f:data":{"f:c":{}}}`, "kubectl/Apply/v1": `{"f:data":{"f:c":{}}}`}
		if d := cmp.Diff(want, holdings(t, r)); d != "" {
			t.Error(d)
		}
	})
	t.Run("the annotation follows the applier to another version", func(t *testing.T) {
		live := configMap(t, ssa+","+kept+","+bob)
		live["apiVersion"] = "v2"
		live["metadata"].(map[string]any)["annotations"] = map[string]any{lastapplied.Annotation: ""}
		r := ownership.RewriteOf(live, "kubectl")
		r.Convert(live, typ, func(string) bool { return true })
		want := map[string]string{"bob/Update/v0": `{"f:data":{"f:c":{},"f:gone":{}}}`, "kubectl/Apply/v2": `{"f:data":{"f:c":{}}}`, "kubectl-last-applied/Apply/v2": `{` + annotated + `}`}
		if d := cmp.Diff(want, holdings(t, r)); d != "" {
			t.Error(d)
		}
	})
	t.Run("an annotation that is removed has no owner", func(t *testing.T) {
		r := ownership.RewriteOf(configMap(t, ssa+","+kept), "ci")
		if err := r.Drop(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(map[string]string{"kubectl/Apply/v1": `{"f:data":{"f:c":{}}}`}, holdings(t, r)); d != "" {
			t.Error(d)
		}
	})
	t.Run("what is as it should be is not rewritten", func(t *testing.T) {
		r := ownership.RewriteOf(configMap(t, ssa), "kubectl")
		if err := r.Adopt(map[string]any{}, nil); err != nil {
			t.Fatal(err)
		}
		if got := r.Entries(); got != nil {
			t.Errorf("rewritten: %v", got)
		}
	})
}
