package outcome

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/redact"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
)

// changed is a Secret that was configured.
func changed() *run.Item {
	item := &run.Item{Details: &run.Details{}, Target: cluster.Target{Resource: cluster.Resource{Version: "v1", Kind: "Secret"}, Namespace: "shop", Name: "login"}}
	obj := func(data map[string]any) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "login"}, "type": "Opaque", "data": data}
	}
	item.Result.Outcome = write.Configured
	item.Result.Planned = apply.Planned{Action: apply.Change, Live: obj(map[string]any{"gone": "eA==", "p": "b25l"}), Final: obj(map[string]any{"new": "eg==", "p": "dHdv"})}
	return item
}

// report writes the report of a run and reads it.
func report(t *testing.T, r *Report, p *run.Plan, secrets *redact.Values) (d document, text string) {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, Ended{Plan: p}, secrets); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	return d, b.String()
}

// TestReport: every object is in it, with its changes and notes as they were when it was reported;
// values of Secrets are masked unless they are to be shown.
func TestReport(t *testing.T) {
	item := changed()
	r := &Report{}
	r.Add(item, []diff.Note{{Object: "secret/login", Kind: "problem", Message: "noted"}})
	item.Result.Planned = apply.Planned{} // the run drops what was reported
	d, text := report(t, r, &run.Plan{Job: &run.Job{}, Items: []*run.Item{item}}, nil)
	if d.APIVersion != APIVersion || d.Kind != Kind || len(d.Objects) != 1 {
		t.Fatalf("%s", text)
	}
	var steps []string
	for _, c := range d.Objects[0].Changes {
		steps = append(steps, c.Op+" "+c.Path)
	}
	if diff := cmp.Diff([]string{"remove data.gone", "add data.new", "replace data.p"}, steps); diff != "" {
		t.Error(diff)
	}
	for _, value := range []string{"b25l", "dHdv", "eA==", "eg=="} {
		if strings.Contains(text, value) {
			t.Errorf("%s is in the report:\n%s", value, text)
		}
	}
	if o := d.Objects[0]; o.Outcome != "configured" || o.Name != "login" || o.Namespace != "shop" || !strings.Contains(text, "noted") {
		t.Errorf("%+v in\n%s", o, text)
	}
	shown := &Report{ShowSecrets: true}
	item = changed()
	shown.Add(item, nil)
	if _, text := report(t, shown, &run.Plan{Job: &run.Job{}, Items: []*run.Item{item}}, nil); !strings.Contains(text, `"before": "b25l"`) || !strings.Contains(text, `"after": "dHdv"`) {
		t.Errorf("values are to be shown:\n%s", text)
	}
	same := changed()
	same.Result.Outcome = write.Unchanged
	unchanged := &Report{}
	unchanged.Add(same, nil)
	if d, text := report(t, unchanged, &run.Plan{Job: &run.Job{}, Items: []*run.Item{same}}, nil); len(d.Objects[0].Changes) > 0 {
		t.Errorf("nothing was changed:\n%s", text)
	}
}

// TestReportErrors: an error is in the report without the object's name and without a value of a
// Secret; what was kept has its reason.
func TestReportErrors(t *testing.T) {
	refused, kept := changed(), changed()
	refused.Err = errors.New("secret/login: invalid value: hunter2-hunter2")
	kept.Surplus = &run.Surplus{Keep: true, Reason: "is marked"}
	secrets := &redact.Values{}
	secrets.Add(map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"p": "hunter2-hunter2"}})
	d, text := report(t, &Report{}, &run.Plan{Job: &run.Job{}, Items: []*run.Item{refused}, Others: []*run.Item{kept}, Err: errors.New("stopped")}, secrets)
	if strings.Contains(text, "hunter2") || !strings.HasPrefix(d.Objects[0].Error, "invalid value: ") || d.Error != "stopped" {
		t.Errorf("%s", text)
	}
	if d.Objects[1].Reason != "is marked" || d.Objects[1].Error != "" {
		t.Errorf("%+v", d.Objects[1])
	}
	unreached := changed()
	unreached.Err = &run.NotReached{Hindrance: run.Hindrance{Fix: "undo again"}}
	d, _ = report(t, &Report{}, &run.Plan{Job: &run.Job{}, Items: []*run.Item{unreached}}, secrets)
	if got := d.Objects[0]; got.Reason != "was not written because of the errors of others: fix them, and undo again" || got.Error != "" {
		t.Errorf("%+v", got)
	}
}
