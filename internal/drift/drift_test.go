package drift

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

// item is a merged item of a local and a live object.
func item(t *testing.T, local, live string, rules ...schema.Rule) *run.Item {
	t.Helper()
	o := object.Object{Value: read(t, local)}
	target := cluster.Target{Resource: cluster.Resource{Group: o.Group(), Version: o.Version(), Kind: o.Kind()}, Namespace: o.Namespace(), Name: o.Name()}
	p := &apply.Planner{Policy: merge.Policies[0], Manager: apply.DefaultManager, Validate: apply.Strict, Compare: true}
	if rules != nil {
		p.Rules = &apply.UserRules{Rules: rules}
	}
	planned, err := p.Plan(context.Background(), apply.Subject{Object: o, Name: target.String(), HasStatus: true}, read(t, live))
	if err != nil {
		t.Fatal(err)
	}
	return &run.Item{Object: o, Target: target, Details: &run.Details{Planned: planned}}
}

// said are the rows as the table prints them, without namespace and object.
func said(rows []Row) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.Join(r.cells(longest)[2:], " "))
	}
	return strings.Join(lines, "\n")
}

// managed is a managedFields entry.
func managed(manager, fields string) string {
	return fmt.Sprintf(`{"manager":%q,"operation":"Update","apiVersion":"v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":%s}`, manager, fields)
}

const ours = `{"f:data":{".":{},"f:a":{},"f:b":{}}}`

func TestOf(t *testing.T) {
	local := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"2"}}`
	live := func(meta, data string, entries ...string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"%s,"managedFields":[%s]},"data":%s}`, meta, strings.Join(entries, ","), data)
	}
	own := managed(apply.DefaultManager, ours)
	for _, tt := range []struct{ reason, local, live, want string }{
		{"no difference", local, live("", `{"a":"1","b":"2"}`, own), ""},
		{"no object", local, "", "missing - - - - -"},
		{"an object that is going", local, live(`,"deletionTimestamp":"2026-01-01T00:00:00Z"`, `{}`, own), "missing - - is being deleted since 2026-01-01T00:00:00Z - -"},
		{"the newest manager other than the applier", local, live("", `{"a":"9","b":"2"}`, own, managed("x", `{"f:data":{"f:a":{}}}`)), `changed data.a "1" "9" x 2026-01-02 03:04Z`},
		{"the applier, if no other manager has written it", local, live("", `{"a":"9","b":"2"}`, own), `changed data.a "1" "9" kubectl-client-side-apply 2026-01-02 03:04Z`},
		{"no manager is recorded for a removed value", local, live("", `{"a":"1"}`, own), `removed data.b "2" - - -`},
		{"what another manager has added", local, live("", `{"a":"1","b":"2","c":"3"}`, own, managed("x", `{"f:data":{"f:c":{}}}`)), `added data.c - "3" x 2026-01-02 03:04Z`},
		{"what the applier has added without a file", local, live("", `{"a":"1","b":"2","c":"3"}`, managed(apply.DefaultManager, `{"f:data":{"f:c":{}}}`)), ""},
		{"what a controller has added", local, live(`,"annotations":{"a":"b"}`, `{"a":"1","b":"2"}`, own, managed("kube-controller-manager", `{"f:metadata":{"f:annotations":{"f:a":{}}}}`)), ""},
		{"a map that only local has, entry by entry", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"a":"1","b":"2"}},"data":{"a":"1"}}`, live("", `{"a":"1"}`, own),
			"removed metadata.labels.a \"1\" - - -\nremoved metadata.labels.b \"2\" - - -"},
	} {
		if got := said(Of(item(t, tt.local, tt.live), apply.DefaultManager)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.reason, got, tt.want)
		}
	}
}

func TestOrder(t *testing.T) {
	pod := func(images ...string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"initContainers":[` + strings.Join(images, ",") + `]}}`
	}
	a, b, c := `{"name":"a","image":"i"}`, `{"name":"b","image":"i"}`, `{"name":"c","image":"i"}`
	if got := said(Of(item(t, pod(a, b, c), pod(c, a, b)), "")); !strings.HasPrefix(got, `changed spec.initContainers ["[name=a]","[name=b]","[name=c]"] ["[name=c]","[name=a]","[name=b]"]`) {
		t.Errorf("another order: %s", got)
	}
	if got := said(Of(item(t, pod(a, b, c), pod(b, c)), "")); got != `removed spec.initContainers[name=a] {"image":"i","name":"a"} - - -` {
		t.Errorf("the others are in the same order: %s", got)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	local := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n"},"stringData":{"a":"hunter2","b":"hunter3"}}`
	live := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n","managedFields":[` + managed("x", `{"f:data":{"f:a":{},"f:c":{}}}`) + `]},"data":{"a":"c3RhcGxl","c":"Y29ycmVjdA=="}}`
	r := &Report{}
	r.Add(item(t, local, live), apply.DefaultManager)
	for _, f := range Formats {
		var b strings.Builder
		if err := f.Write(&b, r, Options{Now: time.Unix(0, 0)}); err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{"hunter", "aHVudGVy", "c3RhcGxl", "staple", "Y29ycmVjdA", "correct"} {
			if strings.Contains(b.String(), value) {
				t.Errorf("%s shows %s:\n%s", f.Name, value, b.String())
			}
		}
		if f.Name == "json" && !strings.Contains(b.String(), `"counts":{"added":1,"changed":1,"removed":1}`) {
			t.Error(b.String())
		}
	}
}

func TestReportOfMany(t *testing.T) {
	r := &Report{Errors: []string{"configmap/x: `no`"}}
	for i := range 2000 {
		local := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d","namespace":"n\"\\"},"data":{"a":"|"}}`, i)
		r.Add(item(t, local, ""), "")
	}
	var b strings.Builder
	if err := writeMarkdown(&b, r, Options{}); err != nil || b.Len() > room+100 || !strings.Contains(b.String(), "more: the comment would be too long") {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	b.Reset()
	if err := writeMetrics(&b, r, Options{Now: time.Unix(7, 0)}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`kubectl_merge_drift_objects{namespace="n\"\\",group="",kind="ConfigMap"} 2000`, "kubectl_merge_drift_errors 1\n", "kubectl_merge_drift_last_run_timestamp_seconds 7\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if (&Report{Checked: 1}).Summary() != "1 object compared: no drift" {
		t.Error((&Report{Checked: 1}).Summary())
	}
}
