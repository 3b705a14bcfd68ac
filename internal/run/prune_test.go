package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
)

// pruner deletes what it was given, and records in the server's log what it is asked.
type pruner struct {
	*memory
	surplus []*Item
	fail    map[string]error // by what is recorded
}

func (p *pruner) record(what string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, what)
	return p.fail[what]
}

func (p *pruner) Admit(item *Item, _ map[string]any) error { return p.fail["admit "+item.Target.Name] }

func (p *pruner) Decide(context.Context, *Plan) ([]*Item, error) {
	return p.surplus, p.record("decide")
}

func (p *pruner) Precedes(item *Item) bool { return item.Target.Name == "home" }

func (p *pruner) Begin(context.Context, *Plan) error { return p.record("begin") }

func (p *pruner) Delete(_ context.Context, item *Item, trial bool) error {
	verb := "delete "
	if trial {
		verb = "try delete "
	}
	return p.record(verb + item.Target.Name)
}

func (p *pruner) End(context.Context, *Plan) error { return p.record("end") }

// surplus is a live object that no input has.
func surplus(kind, name, keep string) *Item {
	return &Item{
		Target:  cluster.Target{Resource: cluster.Resource{Version: "v1", Kind: kind}, Name: name},
		Details: &Details{Planned: apply.Planned{Live: map[string]any{"kind": kind}}},
		Surplus: &Surplus{Keep: keep != "", Reason: keep},
	}
}

// TestPrune: the server tries everything before anything is written; deletions come
// last, in the reverse order of writing, and only where all else is done.
func TestPrune(t *testing.T) {
	begun := []string{"try delete old", "try delete former", "begin"}
	for _, tt := range []struct {
		reason   string
		local    string
		job      func(*Plan)
		fail     string
		want     []string
		reported []string
		err      string
	}{
		{"everything is as it should be: only the deletions are left", conf("same", "1"), nil, "",
			append([]string{"decide"}, append(begun, "delete old", "delete former", "end")...), []string{"same unchanged", "old pruned", "former pruned", "spared "}, ""},
		{"writes come first", conf("new", "1"), nil, "",
			append([]string{"decide"}, append(begun, "create configmap/new", "delete old", "delete former", "end")...), []string{"new created", "old pruned", "former pruned", "spared "}, ""},
		{"two writes are tried, too, before anything is written", conf("new", "1") + conf("newer", "1"), nil, "",
			append([]string{"decide", "try create configmap/new", "try create configmap/newer"}, append(begun, "create configmap/new", "create configmap/newer", "delete old", "delete former", "end")...),
			[]string{"new created", "newer created", "old pruned", "former pruned", "spared "}, ""},
		{"what the set needs is written before it", conf("new", "1") + conf("home", "1"), nil, "",
			[]string{"decide", "try create configmap/new", "try create configmap/home", "try delete old", "try delete former", "create configmap/home", "begin", "create configmap/new", "delete old", "delete former", "end"},
			[]string{"new created", "home created", "old pruned", "former pruned", "spared "}, ""},
		{"a deletion is refused: nothing is written", conf("new", "1"), nil, "try delete former",
			[]string{"decide", "try delete old", "try delete former"}, []string{"new failed", "old failed", "former failed", "spared "},
			"configmap/new: was not written because of that: fix it, and merge again\nconfigmap/old: was not pruned because of that: fix it, and merge again\nno luck"},
		{"a write fails: nothing is deleted", conf("new", "1"), nil, "create",
			append([]string{"decide"}, append(begun, "create configmap/new", "end")...), []string{"new failed", "old failed", "former failed", "spared "},
			"configmap/new: no luck\nconfigmap/old: was not pruned because of that: fix it, and merge again\nnamespace/former: was not pruned because of that: fix it, and merge again"},
		{"a deletion fails: what comes after it stays", conf("same", "1"), nil, "delete old",
			append([]string{"decide"}, append(begun, "delete old", "end")...), []string{"same unchanged", "old failed", "former failed", "spared "},
			"no luck\nnamespace/former: was not pruned because of that: fix it, and merge again"},
		{"the set cannot be written: nothing is", conf("new", "1"), nil, "begin",
			append([]string{"decide"}, begun...), []string{"new failed", "old failed", "former failed", "spared "},
			"no luck\nconfigmap/new: was not written because of that: fix it, and merge again\nconfigmap/old: was not pruned because of that: fix it, and merge again\nnamespace/former: was not pruned because of that: fix it, and merge again"},
		{"what failed may be what would be deleted", conf("new", "1") + conf("same", "1"), nil, "admit same",
			nil, []string{"new failed", "same failed"}, "configmap/new: was not written because of that: fix it, and merge again\nno luck\nnothing is pruned because of that: fix it, and merge again"},
		{"a conflict leaves all of them", conf("contested", "2") + conf("new", "1"), nil, "",
			[]string{"decide"}, []string{"contested not written", "new failed", "old failed", "former failed", "spared "},
			"configmap/new: was not written because configmap/contested has conflicts: settle them, or write the others with --partial\nconfigmap/old: was not pruned because configmap/contested has conflicts: settle them, and merge again\nnamespace/former: was not pruned because configmap/contested has conflicts: settle them, and merge again"},
		{"--partial writes the others, and deletes nothing", conf("contested", "2") + conf("new", "1"), func(p *Plan) { p.Partial = true }, "",
			append([]string{"decide"}, append(begun, "create configmap/new", "end")...), []string{"contested not written", "new created", "old failed", "former failed", "spared "},
			"configmap/old: was not pruned because configmap/contested has conflicts: settle them, and merge again\nnamespace/former: was not pruned because configmap/contested has conflicts: settle them, and merge again"},
		{"a dry run of the server stores nothing", conf("new", "1"), func(p *Plan) { p.Write.DryRun = true }, "",
			[]string{"decide", "try create configmap/new", "try delete old", "try delete former"}, []string{"new created", "old pruned", "former pruned", "spared "}, ""},
	} {
		p, m := setup(t, tt.local, applied(t, "same", "1", "1")+applied(t, "contested", "1", "3"))
		set := &pruner{memory: m, surplus: []*Item{surplus("Namespace", "former", ""), surplus("ConfigMap", "old", ""), surplus("ConfigMap", "spared", "is in use")}, fail: map[string]error{tt.fail: errTest}}
		if tt.fail == "create" {
			m.refuse = func(verb string, _ cluster.Target, trial bool) error {
				if verb == "create" && !trial {
					return errTest
				}
				return nil
			}
		}
		p.Pruner = set
		if tt.job != nil {
			tt.job(p)
		}
		p.Merge(t.Context())
		order := reported(func(report func(*Item)) { p.Send(t.Context(), report) })
		equal(t, tt.reason+": requests", m.writes(), tt.want)
		sortSpared(order)
		equal(t, tt.reason+": reported", order, tt.reported)
		if got := text(p.Failed()); got != tt.err {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.reason, got, tt.err)
		}
	}
}

// sortSpared puts what is kept, of which the order does not matter, last.
func sortSpared(order []string) {
	for i, s := range order {
		if s == "spared " {
			copy(order[i:], order[i+1:])
			order[len(order)-1] = s
			return
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestPruneShown: the preview of a run shows what it would delete, and what keeps it from
// deleting.
func TestPruneShown(t *testing.T) {
	p, m := setup(t, conf("contested", "2"), applied(t, "contested", "1", "3"))
	p.Pruner = &pruner{memory: m, surplus: []*Item{surplus("ConfigMap", "old", ""), surplus("ConfigMap", "spared", "is in use")}}
	p.Merge(t.Context())
	equal(t, "shown", reported(func(show func(*Item)) { p.Show(t.Context(), show) }), []string{"contested not written", "old pruned", "spared "})
	if got, want := text(p.Held()), "configmap/old: would not be pruned because configmap/contested has conflicts: settle them, and merge again"; got != want {
		t.Errorf("held: %q, want %q", got, want)
	}
	if kept := p.Kept(); len(kept) != 1 || kept[0].Reason() != "is in use" {
		t.Errorf("kept: %v", kept)
	}
	if id := p.Items[0].UID; id != "uid-contested" {
		t.Errorf("UID %q: the Pruner knows by it what is in the input under another name", id)
	}
}

// TestDecideFails: what is to be deleted cannot be known, so nothing is written.
func TestDecideFails(t *testing.T) {
	p, m := setup(t, conf("new", "1"), "")
	p.Pruner = &pruner{memory: m, fail: map[string]error{"decide": errTest}}
	p.Merge(t.Context())
	p.Send(t.Context(), func(*Item) {})
	equal(t, "requests", m.writes(), []string{"decide"})
	if !errors.Is(p.Failed(), errTest) {
		t.Errorf("%v", p.Failed())
	}
}

// TestPruneInterrupted: a deletion that an interrupt has cut off is one that was not pruned, and
// not an object that was not written.
func TestPruneInterrupted(t *testing.T) {
	for _, cut := range []string{"try delete old", "delete old"} {
		p, m := setup(t, conf("same", "1"), applied(t, "same", "1", "1"))
		p.Pruner = &pruner{memory: m, surplus: []*Item{surplus("ConfigMap", "old", "")}, fail: map[string]error{cut: fmt.Errorf("configmap/old: was not pruned: %w", context.Canceled)}}
		p.Merge(t.Context())
		p.Send(t.Context(), func(*Item) {})
		if !errors.Is(p.Failed(), ErrUnpruned) {
			t.Errorf("%s: %v", cut, p.Failed())
		}
	}
}

// TestTurn: custom resources are deleted before their definitions, and Namespaces last.
func TestTurn(t *testing.T) {
	crd := surplus("CustomResourceDefinition", "crd", "")
	crd.Target.Group = "apiextensions.k8s.io"
	for _, tt := range []struct {
		reason        string
		before, after *Item
	}{
		{"a custom resource and its definition", surplus("Widget", "w", ""), crd},
		{"a definition and a namespace", crd, surplus("Namespace", "ns", "")},
		{"any object and a namespace", surplus("ConfigMap", "c", ""), surplus("Namespace", "ns", "")},
	} {
		if tt.before.turn() <= tt.after.turn() {
			t.Errorf("%s: turns %d and %d", tt.reason, tt.before.turn(), tt.after.turn())
		}
	}
}

// unasked is a journal that no write is entered in.
type unasked struct{ *testing.T }

func (u unasked) Begin(item *Item, _ apply.Planned) (func(map[string]any, error), error) {
	u.Errorf("%s is recorded", item.Target)
	return func(map[string]any, error) {}, nil
}

// TestGoneIsNotRecorded: a member that others have deleted since it was listed has no content to
// record, and a record without it could not be read.
func TestGoneIsNotRecorded(t *testing.T) {
	m := &memory{objects: map[string]map[string]any{}, gone: map[string]bool{}}
	p := &Plan{Job: &Job{Live: m, Pruner: &pruner{memory: m}, Journal: unasked{t}}}
	if err := p.writer(nil).deleteOne(t.Context(), surplus("ConfigMap", "old", ""), false); err != nil || len(m.log) == 0 {
		t.Errorf("%q, %v", m.log, err)
	}
}

// changing is a pruner whose member others change while it is deleted, each time but the last.
type changing struct {
	pruner
	times int
}

func (c *changing) Delete(_ context.Context, item *Item, _ bool) error {
	now := c.objects[item.Target.String()]
	if was, _ := item.Planned.Live["data"].(int); item.Surplus.Recorded != fmt.Sprint(was) {
		return fmt.Errorf("it is recorded as %q, and read as %d", item.Surplus.Recorded, was)
	}
	if c.times--; c.times < 0 {
		return nil
	}
	next := c.times + 100
	now["data"], now["metadata"] = next, map[string]any{"resourceVersion": fmt.Sprint(next)}
	return fmt.Errorf("%w: conflict", ErrChanged)
}

// entered is a journal that keeps what the objects held that were entered, and how it ended.
type entered struct{ log []string }

func (e *entered) Begin(_ *Item, p apply.Planned) (func(map[string]any, error), error) {
	e.log = append(e.log, fmt.Sprint(p.Live["data"]))
	return func(_ map[string]any, err error) { e.log = append(e.log, fmt.Sprint(err)) }, nil
}

// TestRecordedAsDeleted: a member that others change after it was recorded is recorded anew before
// its deletion is sent again; not without end.
func TestRecordedAsDeleted(t *testing.T) {
	for _, tt := range []struct {
		times int
		log   []string
		err   error
	}{
		{0, []string{"1", "<nil>"}, nil},
		{2, []string{"1", ErrChanged.Error() + ": conflict", "101", ErrChanged.Error() + ": conflict", "100", "<nil>"}, nil},
		{100, nil, ErrChanged},
	} {
		m := &memory{objects: map[string]map[string]any{"configmap/old": {"data": 1, "metadata": map[string]any{"resourceVersion": "1"}}}}
		j := &entered{}
		p := &Plan{Job: &Job{Live: m, Pruner: &changing{pruner: pruner{memory: m}, times: tt.times}, Journal: j}}
		err := p.writer(nil).deleteOne(t.Context(), surplus("ConfigMap", "old", ""), false)
		if !errors.Is(err, tt.err) || tt.log != nil && !slices.Equal(j.log, tt.log) || tt.log == nil && len(j.log) != 2*(MostChanges+1) {
			t.Errorf("%d changes: %q, %v", tt.times, j.log, err)
		}
	}
}
