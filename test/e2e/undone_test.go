package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestUndoneKilled kills a recorded run between every two requests, before and after the
// server has heard of each, and takes back the record: everything is as it was before the
// run, last-applied too.
func TestUndoneKilled(t *testing.T) {
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	p := newPruned(t, server.need(t), counts)
	p.does("kubectl", "create", "configmap", "theirs")
	p.manifest("v1.yaml", []string{"configmap/a", "configmap/b", "serviceaccount/r"}, 1)
	p.manifest("v2.yaml", []string{"configmap/a", "configmap/c", "serviceaccount/s"}, 2)
	for n, more := 0, true; more; n++ {
		for _, after := range []bool{false, true} {
			where := fmt.Sprintf("killed at request %d (after it: %t)", n, after)
			p.runs("v1.yaml")
			before := p.contents()
			record := fmt.Sprintf("run-%d-%t.yaml", n, after)
			if more = p.killedAt(n, after, append([]string{"-f", "v2.yaml", "--record", record}, prunedArgs...)...); more {
				counts.add("kills", 1)
			}
			if _, err := os.Stat(filepath.Join(p.dir, record)); err != nil { // it was killed before it was opened
				if !maps.Equal(before, p.contents()) {
					t.Errorf("%s: something was written, and there is no record", where)
				}
				continue
			}
			counts.add("records", 1)
			if got := p.tries("kubectl-merge", "undo", record); got.code != 0 {
				t.Fatalf("%s: %s", where, got)
			}
			if now := p.contents(); !maps.Equal(before, now) {
				t.Errorf("%s: %s", where, differences(before, now))
			}
			p.does("kubectl-merge", "applyset", "verify", "shop", "--fix")
		}
	}
	if counts.counts["records"] < 10 {
		t.Errorf("only %d records were taken back", counts.counts["records"])
	}
}

// TestUndoneRecreated kills a recorded run between every two requests while it deletes an object
// and creates it again, and takes back the record: the object is there as it was, with what
// others have configured, which the input does not have.
func TestUndoneRecreated(t *testing.T) {
	counts := &tally{counts: map[string]int{}}
	t.Cleanup(func() { t.Logf("%s", counts) })
	p := newPruned(t, server.need(t), counts)
	for n := 1; n <= 2; n++ {
		text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed}\nimmutable: true\ndata: {n: \"%d\"}\n", n)
		p.must(os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("fixed%d.yaml", n)), []byte(text), 0o600))
	}
	for n, more := 0, true; more; n++ {
		for _, after := range []bool{false, true} {
			where := fmt.Sprintf("killed at request %d (after it: %t)", n, after)
			p.does("kubectl", "delete", "configmap", "fixed", "--ignore-not-found")
			p.does("kubectl-merge", "-f", "fixed1.yaml")
			p.does("kubectl", "label", "configmap", "fixed", "team=payments", "--field-manager=ops")
			before := p.contents()
			record := fmt.Sprintf("recreated-%d-%t.yaml", n, after)
			if more = p.killedAt(n, after, "-f", "fixed2.yaml", "--recreate=ConfigMap", "--record", record); more {
				counts.add("kills", 1)
			}
			if _, err := os.Stat(filepath.Join(p.dir, record)); err == nil {
				counts.add("records", 1)
				if got := p.tries("kubectl-merge", "undo", record); got.code != 0 {
					t.Fatalf("%s: %s", where, got)
				}
			}
			if now := p.contents(); !maps.Equal(before, now) {
				t.Fatalf("%s: %s", where, differences(before, now))
			}
		}
	}
	if counts.counts["records"] < 4 {
		t.Errorf("only %d records were taken back", counts.counts["records"])
	}
}

// contents are all objects of the kinds that the test uses, without what the server keeps.
func (p *pruned) contents() map[string]string {
	p.t.Helper()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	p.must(json.Unmarshal([]byte(p.does("kubectl", "get", "configmaps,serviceaccounts", "-o", "json").stdout), &list))
	out := map[string]string{}
	for _, o := range list.Items {
		meta, _ := o["metadata"].(map[string]any)
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			delete(meta, field)
		}
		text, err := json.Marshal(o)
		p.must(err)
		out[fmt.Sprint(o["kind"], "/", meta["name"])] = string(text)
	}
	return out
}

func differences(a, b map[string]string) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if a[name] != b[name] {
			text += fmt.Sprintf("\n%s was  %s\nand is %s", name, a[name], b[name])
		}
	}
	for name := range b {
		if _, there := a[name]; !there {
			text += "\n" + name + " was not there"
		}
	}
	return text
}
