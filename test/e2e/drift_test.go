package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// TestDriftIsExact holds drift to what others have done: objects of every template are
// applied, which is no drift, whatever the server has filled in and admission has added.
// Then another client changes, removes and adds values, one in each object, and deletes
// some objects. Every edit that the server has taken is in a row, and every row is about
// a value that has changed.
func TestDriftIsExact(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	n := seed(t)
	for round := range *soak {
		d := &drifting{t: t, rand: rand.New(rand.NewPCG(n, uint64(round))), user: s.user(t, "exact"), api: newObjects(t, s), counts: map[string]int{}}
		d.play(draws(t, templates(t), n+uint64(round), 1, d.user.ns, 0))
		t.Logf("round %d: %v", round, d.counts)
		if t.Failed() {
			return
		}
	}
}

// drifting is one round.
type drifting struct {
	t      *testing.T
	rand   *rand.Rand
	user   *user
	api    *objects
	counts map[string]int
}

// foreignEdit is another client's change of an object.
type foreignEdit struct {
	object
	what   string       // changed, removed, added or missing
	path   merge.Path   // of the edit
	before any          // live
	after  any          // nil: deleted
	differ []merge.Path // in what live has changed
	typ    *merge.Type
}

// driftRow is a row of the report.
type driftRow struct{ Object, Drift, Path, Manager string }

func (d *drifting) play(all []object) {
	d.user.file("all.yaml", string(document(d.t, all...)))
	cleanUp(d.t, d.user, all)
	d.user.does("kubectl-merge", "-f", "all.yaml", "-q")
	for ref, rows := range d.report() {
		d.t.Errorf("%s: it was not changed: %+v", ref, rows)
	}
	var kinds []map[string]any
	for _, o := range all {
		kinds = append(kinds, o.value)
	}
	live := d.api.list(d.t, kinds, d.user.ns)
	edits := map[string]*foreignEdit{}
	for _, o := range all {
		if was := live[keyOf(o)]; was != nil {
			edits[o.ref] = d.edit(o, was)
		}
	}
	found := d.report()
	for _, ref := range slices.Sorted(maps.Keys(edits)) {
		d.judge(edits[ref], found[ref])
	}
	for ref, rows := range found {
		if edits[ref] == nil {
			d.t.Errorf("%s: it was not changed: %+v", ref, rows)
		}
	}
}

// report are the rows of drift, by object.
func (d *drifting) report() map[string][]driftRow {
	got := d.user.tries("kubectl-merge", "drift", "-f", "all.yaml", "-o", "json")
	var report struct{ Rows []driftRow }
	if err := json.Unmarshal([]byte(got.stdout), &report); err != nil || got.code > 1 {
		d.t.Fatalf("%v: %s", err, got)
	}
	rows := map[string][]driftRow{}
	for _, r := range report.Rows {
		rows[r.Object] = append(rows[r.Object], r)
	}
	return rows
}

// edit has another client edit an object; nil where the server takes none of the edits.
func (d *drifting) edit(o object, was any) *foreignEdit {
	if d.rand.IntN(12) == 0 {
		d.user.does("kubectl", "delete", "--wait=false", o.ref)
		d.counts["missing"]++
		return &foreignEdit{object: o, what: "missing", before: was}
	}
	for range 12 {
		e := &foreignEdit{object: o, before: was, what: []string{"changed", "removed", "added"}[d.rand.IntN(3)]}
		v, ok := d.mutant(e)
		if !ok {
			continue
		}
		if after, taken := d.api.put(d.t, v, "rival"); taken {
			e.after = after
			group, kind := kindOf(o.value)
			version := strings.TrimPrefix(fmt.Sprint(o.value["apiVersion"]), group+"/")
			e.typ, _ = schema.Builtin(group, version, kind)
			for _, c := range merge.Diff(bare(was), bare(after), e.typ) {
				e.differ = append(e.differ, c.Path)
			}
			d.counts[e.what]++
			return e
		}
		d.counts["refused"]++
	}
	return nil
}

// bare is an object without what the server writes about each.
func bare(v any) any {
	out := maps.Clone(v.(map[string]any))
	delete(out, "status")
	meta := maps.Clone(out["metadata"].(map[string]any))
	for _, name := range []string{"managedFields", "resourceVersion", "generation"} {
		delete(meta, name)
	}
	out["metadata"] = meta
	return out
}

// mutant is live with the edit, which says where it is.
func (d *drifting) mutant(e *foreignEdit) (map[string]any, bool) {
	v := copyOf(e.before).(map[string]any)
	if e.what == "added" {
		field := []string{"labels", "annotations"}[d.rand.IntN(2)]
		at := merge.Path{merge.Named("metadata"), merge.Named(field)}
		if data, ok := v["data"].(map[string]any); ok && v["kind"] == "ConfigMap" && d.rand.IntN(2) == 0 {
			data["rival"], e.path = "was here", merge.Path{merge.Named("data"), merge.Named("rival")}
			return v, true
		}
		meta := v["metadata"].(map[string]any)
		m, _ := meta[field].(map[string]any)
		if m == nil {
			m = map[string]any{}
			meta[field] = m
		}
		m["rival"], e.path = "was-here", at.Child(merge.Named("rival"))
		return v, true
	}
	leaves := leavesIn(e.value, nil)
	if len(leaves) == 0 {
		return nil, false
	}
	e.path = leaves[d.rand.IntN(len(leaves))]
	return v, mutate(v, e.path, e.what == "removed")
}

func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = copyOf(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = copyOf(e)
		}
		return out
	}
	return v
}

// leavesIn are the paths, through maps alone, of what a manifest states: of lists, the
// whole.
func leavesIn(v any, at merge.Path) []merge.Path {
	m, ok := v.(map[string]any)
	switch {
	case v == nil:
		return nil // nothing is stated
	case !ok:
		return []merge.Path{at}
	}
	var out []merge.Path
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch {
		case len(at) == 0 && (name == "apiVersion" || name == "kind" || name == "status"):
		case len(at) == 1 && at[0].Name == "metadata" && name != "labels" && name != "annotations":
		default:
			out = append(out, leavesIn(m[name], at.Child(merge.Named(name)))...)
		}
	}
	return out
}

// mutate changes or removes the value at a path; of a list one entry, or something in it.
// It is false where there is nothing to change.
func mutate(v any, p merge.Path, remove bool) bool {
	for _, s := range p[:len(p)-1] {
		m, _ := v.(map[string]any)
		v = m[s.Name]
	}
	m, _ := v.(map[string]any)
	name := p[len(p)-1].Name
	is, there := m[name]
	switch {
	case !there || is == nil:
		return false
	case remove:
		if list, ok := is.([]any); ok && len(list) > 1 {
			m[name] = list[:len(list)-1]
			return true
		}
		delete(m, name)
		return true
	}
	changed, ok := other(is)
	m[name] = changed
	return ok
}

// other is another value of the same kind.
func other(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v + "x", true
	case bool:
		return !v, true
	case json.Number:
		n, err := v.Int64()
		return json.Number(fmt.Sprint(n + 1)), err == nil
	case []any:
		if len(v) == 0 {
			return v, false
		}
		last, ok := other(v[len(v)-1])
		v[len(v)-1] = last
		return v, ok
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if e, ok := other(v[name]); ok && name != "name" {
				v[name] = e
				return v, true
			}
		}
	}
	return v, false
}

// judge compares the rows of an object with what was done to it.
func (d *drifting) judge(e *foreignEdit, rows []driftRow) {
	if e == nil {
		d.counts["untouched"]++
		if len(rows) > 0 {
			d.t.Errorf("it was not changed: %+v", rows)
		}
		return
	}
	d.counts["rows"] += len(rows)
	if e.what == "missing" {
		if len(rows) != 1 || rows[0].Drift != "missing" {
			d.t.Errorf("%s: was deleted: %+v", e.ref, rows)
		}
		return
	}
	edit := e.path.String()
	for _, p := range e.differ {
		path := p.String()
		if _, stated := merge.Lookup(e.value, p, e.typ); !stated && allocated(e.typ, p) {
			d.counts["allocated"]++ // which is no drift, whichever value it is (docs/drift.md)
			continue
		}
		if related(path, edit) && !slices.ContainsFunc(rows, func(r driftRow) bool { return related(r.Path, path) }) {
			d.t.Errorf("%s: %s: was %s, and is in no row: %+v", e.ref, path, e.what, rows)
		}
	}
	for _, r := range rows {
		if !slices.ContainsFunc(e.differ, func(p merge.Path) bool { return related(r.Path, p.String()) }) {
			d.t.Errorf("%s: %+v: has not changed; %s was %s", e.ref, r, edit, e.what)
		}
		if r.Drift != "removed" && r.Manager != "rival" && related(r.Path, edit) {
			d.t.Errorf("%s: %+v: was rival's doing", e.ref, r)
		}
	}
}

// allocated: the server fills the field in with a value that it chooses.
func allocated(t *merge.Type, p merge.Path) bool {
	in := t.At(p[:len(p)-1])
	return in != nil && in.Fields[p[len(p)-1].Name].Allocated
}

// related: one path leads to the other, or to what it is in.
func related(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasPrefix(a, b) && (a[len(b)] == '.' || a[len(b)] == '[')
}
