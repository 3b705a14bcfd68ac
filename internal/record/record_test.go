package record

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/plandoc"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
)

var header = plandoc.Header{Cluster: plandoc.Cluster{UID: "c"}, Spelling: plandoc.Spelling{Salt: []byte("salt and more")}}

// change is an item whose value a becomes 2.
func change(name string) *run.Item {
	obj := func(a string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "shop", "uid": "uid-" + name}, "data": map[string]any{"a": a}}
	}
	item := &run.Item{Details: &run.Details{}, Target: cluster.Target{Resource: cluster.Resource{Version: "v1", Kind: "ConfigMap"}, Namespace: "shop", Name: name}}
	item.Planned = apply.Planned{Action: apply.Change, Live: obj("1"), Final: obj("2")}
	return item
}

func stored(item *run.Item) map[string]any {
	obj := map[string]any{}
	for k, v := range item.Planned.Final {
		obj[k] = v
	}
	obj["metadata"] = map[string]any{"name": item.Target.Name, "namespace": "shop", "uid": "uid-" + item.Target.Name, "resourceVersion": "8"}
	return obj
}

func parse(t *testing.T, text []byte) *plandoc.Document {
	t.Helper()
	doc, err := plandoc.Parse("run.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return doc
}

// TestJournal: what is left of the entries, in the order of the run: what was written, or may
// have been; a refused write is not in the record.
func TestJournal(t *testing.T) {
	store := &Memory{}
	j, err := Open(store, header)
	if err != nil {
		t.Fatal(err)
	}
	one, two, refused, uncertain := change("one"), change("two"), change("refused"), change("uncertain")
	begin := func(item *run.Item) func(map[string]any, error) {
		t.Helper()
		end, err := j.Begin(item, item.Planned)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	if j.Begun() {
		t.Error("nothing was begun yet")
	}
	endTwo := begin(two)
	if doc := parse(t, store.Text); !j.Begun() || len(doc.Items) != 1 || doc.Items[0].Outcome != plandoc.Begun || doc.Summary != nil {
		t.Errorf("before the request is sent the record says %s", store.Text)
	}
	begin(one)(stored(one), nil)
	begin(refused)(nil, &cluster.Refusal{Code: 403, Text: "no"})
	begin(uncertain)(nil, &cluster.Refusal{Code: 504, Text: "timeout"})
	endTwo(stored(two), nil)
	if err := j.Close(&run.Plan{Job: &run.Job{}, Items: []*run.Item{one, two, refused, uncertain}}, true); err != nil {
		t.Fatal(err)
	}
	doc := parse(t, store.Text)
	var got []string
	for _, i := range doc.Items {
		got = append(got, i.Name+" "+string(i.Outcome)+" "+i.Written.ResourceVersion)
	}
	if want := "one done 8, two done 8, uncertain begun "; strings.Join(got, ", ") != want || doc.Summary == nil || !doc.Record {
		t.Errorf("%q, want %q in\n%s", got, want, store.Text)
	}
}

// TestEveryCut: of a whole record that was cut off anywhere nothing is undone, or just what is in the
// whole one; of the record of a killed run, just what was written at some time.
func TestEveryCut(t *testing.T) {
	store := &Memory{}
	j, err := Open(store, header)
	if err != nil {
		t.Fatal(err)
	}
	items := []*run.Item{change("one"), change("two")}
	items[0].Planned.Final["data"] = map[string]any{"a": "2\n  complete: true\n- action: x\n", "b": "3"}
	states := map[string]bool{"": true}
	shown := func(text []byte) string {
		doc, err := plandoc.Parse("run.yaml", text)
		if err != nil {
			return "refused"
		}
		var out []string
		for _, i := range doc.Executed() {
			i.Line, i.Complete = 0, false
			text, err := i.Encode()
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(text))
		}
		return strings.Join(out, "")
	}
	for _, item := range items {
		end, err := j.Begin(item, item.Planned)
		if err != nil {
			t.Fatal(err)
		}
		states[shown(store.Text)] = true
		end(stored(item), nil)
		states[shown(store.Text)] = true
	}
	killed := store.Text
	for n := range killed {
		if got := shown(killed[:n]); got != "refused" && !states[got] {
			t.Fatalf("cut off at %d, the record of a killed run has %s in\n%s", n, got, killed[:n])
		}
	}
	if err := j.Close(&run.Plan{Job: &run.Job{}, Items: items}, false); err != nil {
		t.Fatal(err)
	}
	whole := store.Text
	for n := range whole {
		if got := shown(whole[:n]); got != "refused" && got != shown(whole) {
			t.Fatalf("cut off at %d, the record has %s in\n%s", n, got, whole[:n])
		}
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for from := range lines {
		for to := from + 1; to <= len(lines); to++ {
			if rest := strings.Join(lines[:from], "") + strings.Join(lines[to:], ""); strings.Count(rest, "- action: ") == 1 && shown([]byte(rest)) != "refused" {
				t.Fatalf("an object is lost in\n%s", rest)
			}
		}
	}
}

// TestRetried: a write that was begun again after an uncertain one is in the record twice.
func TestRetried(t *testing.T) {
	store := &Memory{}
	j, err := Open(store, header)
	if err != nil {
		t.Fatal(err)
	}
	item := change("one")
	for _, err := range []error{&cluster.Refusal{Code: 504}, nil} {
		end, bad := j.Begin(item, item.Planned)
		if bad != nil {
			t.Fatal(bad)
		}
		end(stored(item), err)
	}
	if err := j.Close(&run.Plan{Job: &run.Job{}, Items: []*run.Item{item}}, false); err != nil {
		t.Fatal(err)
	}
	if doc := parse(t, store.Text); len(doc.Items) != 2 || doc.Items[0].Outcome != plandoc.Begun || doc.Items[1].Outcome != plandoc.Done {
		t.Errorf("%s", store.Text)
	}
}

// full is a store that holds no more than so many texts.
type full struct {
	Memory
	room    int
	removed bool
}

var errFull = errors.New("no space left")

func (f *full) Append(text []byte) error {
	if f.room--; f.room < 0 {
		return errFull
	}
	return f.Memory.Append(text)
}

func (f *full) Replace(func(io.Writer) error) error { return errFull }

func (f *full) Remove() error { f.removed = true; return nil }

// TestFull: what cannot be recorded is not begun, and the run does not end as if it was recorded.
func TestFull(t *testing.T) {
	if _, err := Open(&full{}, header); !errors.Is(err, ErrNotRecorded) || !errors.Is(err, errFull) {
		t.Errorf("no room for the head: %v", err)
	}
	item := change("one")
	j, err := Open(&full{room: 1}, header)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Begin(item, item.Planned); !errors.Is(err, ErrNotRecorded) || j.Begun() {
		t.Errorf("no room for an entry: %v", err)
	}

	j, err = Open(&full{room: 2}, header)
	if err != nil {
		t.Fatal(err)
	}
	end, err := j.Begin(item, item.Planned)
	if err != nil {
		t.Fatal(err)
	}
	end(stored(item), nil)
	if _, err := j.Begin(item, item.Planned); !errors.Is(err, errFull) {
		t.Errorf("after an outcome that could not be entered, the next write is begun: %v", err)
	}
	if err := j.Close(&run.Plan{Job: &run.Job{}}, false); !errors.Is(err, ErrNotRecorded) {
		t.Errorf("closed with %v", err)
	}

	j, err = Open(&full{room: 9}, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(&run.Plan{Job: &run.Job{}}, false); !errors.Is(err, ErrNotRecorded) {
		t.Errorf("no room for the record: %v", err)
	}
	f := &full{room: 9}
	if j, err = Open(f, header); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(&run.Plan{Job: &run.Job{}}, true); err != nil || !f.removed {
		t.Errorf("a run that failed before its first write leaves a record: %v", err)
	}
}

// TestFile: a record is readable by its owner alone, complete under its name, and never written
// over another.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "run.yaml")
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := Create(name); err == nil || !strings.Contains(err.Error(), "no record is written over") {
		t.Errorf("%v", err)
	}
	if _, err := Create(filepath.Join(dir, "missing", "run.yaml")); err == nil {
		t.Error("a folder was made")
	}
	if err := f.Append([]byte("begun\n")); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace(func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return errFull }); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "begun\n" {
		t.Errorf("after a failure the file has %q, %v", text, err)
	}
	if err := f.Replace(func(w io.Writer) error { _, err := io.WriteString(w, "done\n"); return err }); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "done\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
	other, err := Create(filepath.Join(dir, "other.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "other.yaml")); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	m := &Memory{}
	_ = m.Append([]byte("text"))
	if err := m.Remove(); err != nil || len(m.Text) > 0 {
		t.Errorf("%q %v", m.Text, err)
	}
}
