package prune

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// item is an object of the input with what came of it.
func item(t cluster.Target, outcome write.Outcome) *run.Item {
	return &run.Item{Target: t, UID: "uid-" + t.String(), Details: &run.Details{Result: write.Result{Outcome: outcome}}}
}

// play goes through all that a run asks its Pruner.
func play(t *testing.T, p *Pruner, plan *run.Plan) error {
	t.Helper()
	others, err := p.Decide(t.Context(), plan)
	if err != nil {
		return err
	}
	plan.Others = others
	if err := p.Begin(t.Context(), plan); err != nil {
		return err
	}
	for _, i := range others {
		if i.Surplus.Keep {
			continue
		}
		if i.Err = p.Delete(t.Context(), i, false); i.Err == nil && !i.Surplus.Keep {
			i.Result.Outcome = write.Pruned
		}
	}
	return errors.Join(p.End(t.Context(), plan), plan.Failed())
}

func planOf(items ...*run.Item) *run.Plan { return &run.Plan{Job: &run.Job{}, Items: items} }

// TestRun: a run lists each kind once, writes the parent before and after where that says
// something new, and deletes what the input does not have.
func TestRun(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		parent  string
		items   []*run.Item
		members []cluster.Target
		want    []string // requests that list or write
		kinds   string
	}{
		{"nothing is there: the parent is made", "", []*run.Item{item(target(configMaps, "a"), write.Created)}, nil,
			[]string{"list configmaps", "apply secret/shop", "read secret/shop"}, "ConfigMap"},
		{"nothing has changed: nothing is written", "ConfigMap", []*run.Item{item(target(configMaps, "a"), write.Unchanged)}, []cluster.Target{target(configMaps, "a")},
			[]string{"list configmaps"}, "ConfigMap"},
		{"another kind comes, and one goes", "ConfigMap", []*run.Item{item(target(things, "x"), write.Created)}, []cluster.Target{target(configMaps, "a")},
			[]string{"list configmaps", "list things", "apply secret/shop", "delete configmap/a", "apply secret/shop", "list configmaps", "list configmaps"}, "Thing.example.com"},
		{"what is kept stays in the parent", "PersistentVolumeClaim", []*run.Item{item(target(configMaps, "a"), write.Unchanged)}, []cluster.Target{target(claims, "disk"), target(configMaps, "a")},
			[]string{"list configmaps", "list persistentvolumeclaims", "apply secret/shop"}, "ConfigMap,PersistentVolumeClaim"},
	} {
		m := newMemory()
		if tt.parent != "" {
			m.parent(tt.parent, nil)
		}
		for _, member := range tt.members {
			m.member(member, nil)
		}
		s, _ := shop(t, m)
		m.log = nil
		fails(t, tt.reason, play(t, &Pruner{Set: s}, planOf(tt.items...)), "")
		equal(t, tt.reason, m.asked("list", "read", "apply", "delete"), tt.want)
		if m.lists() != tt.kinds {
			t.Errorf("%s: the parent lists %q, want %q", tt.reason, m.lists(), tt.kinds)
		}
	}
}

// TestDecisions: what is deleted, what is kept and why; what is being deleted is noted.
func TestDecisions(t *testing.T) {
	m := newMemory()
	m.parent("ConfigMap,Namespace,PersistentVolumeClaim,CustomResourceDefinition.apiextensions.k8s.io,Thing.example.com", nil)
	m.member(target(configMaps, "old"), nil)
	m.member(target(configMaps, "alias"), func(meta map[string]any) { meta["uid"] = "uid-configmap/merged" })
	m.member(target(configMaps, "leaving"), func(meta map[string]any) { meta["deletionTimestamp"] = "2026-01-01T00:00:00Z" })
	m.member(target(claims, "disk"), nil)
	m.member(target(namespaces, "team"), nil)
	m.member(target(namespaces, "crew"), nil)
	m.member(target(crds, "things.example.com"), nil)
	m.member(target(things, "mine"), nil)
	m.put(target(things, "theirs"), nil)
	inside := target(configMaps, "inside")
	inside.Namespace = "crew"
	m.put(inside, nil)
	s, notes := shop(t, m)
	p := &Pruner{Set: s, Whole: true}
	items, err := p.Decide(t.Context(), planOf(item(target(configMaps, "merged"), write.Unchanged)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range items {
		what := "delete "
		if i.Surplus.Keep {
			what = "keep "
		}
		got = append(got, what+i.Target.String()+": "+strings.SplitN(i.Surplus.Reason, ":", 2)[0])
	}
	why := "is a member of secret/shop and not in the input"
	equal(t, "decisions", got, []string{
		"delete configmap/old: " + why,
		"keep customresourcedefinition.apiextensions.k8s.io/things.example.com: holds thing.example.com/theirs (namespace ns), which would be deleted with it",
		"keep namespace/crew: holds configmap/inside (namespace crew), which would be deleted with it",
		"delete namespace/team: " + why,
		"keep persistentvolumeclaim/disk: holds data that would be lost with it",
		"delete thing.example.com/mine: " + why,
	})
	equal(t, "notes", *notes, []string{"configmap/leaving: is being deleted since 2026-01-01T00:00:00Z"})
	if live := items[0].Planned.Live; live["metadata"].(map[string]any)["uid"] == nil {
		t.Errorf("what is shown is not read whole: %v", live)
	}
	if why := p.Surprising(&run.Plan{Others: items}); why != "" {
		t.Errorf("3 of 9 are no surprise: %s", why)
	}
}

// TestNotListed: what may not be listed ends the run; what does not answer stays in the
// parent; what is gone is forgotten.
func TestNotListed(t *testing.T) {
	for _, tt := range []struct {
		reason string
		fail   func(string) error
		served bool
		err    string
		note   string
		kinds  string
		lists  []string
	}{
		{"it may be listed in the namespace alone", failing("list things", forbidden()), true, "", "", "ConfigMap", []string{"list configmaps", "list things", "list things ns", "list things", "list things", "list things"}},
		{"it may not be listed at all", func(r string) error {
			if strings.HasPrefix(r, "list things") {
				return forbidden()
			}
			return nil
		}, true, "Thing.example.com: cannot be listed, so that it is unknown what belongs to the set: Forbidden", "", "Thing.example.com", []string{"list configmaps", "list things", "list things ns"}},
		{"its server does not answer", failing("list things", silent()), true, "", "Thing.example.com: cannot be listed, and so nothing of this kind is pruned", "ConfigMap,Thing.example.com", []string{"list configmaps", "list things"}},
		{"it cannot be looked up", failing("find Thing", errLost), true, "", "cannot be listed, and so nothing of this kind is pruned: lost", "ConfigMap,Thing.example.com", []string{"list configmaps"}},
		{"it is not served", nil, false, "", "Thing.example.com: the server does not have this kind any more", "ConfigMap", []string{"list configmaps"}},
	} {
		m := newMemory()
		m.parent("Thing.example.com", nil)
		if !tt.served {
			m.kinds = m.kinds[:len(m.kinds)-1]
		}
		s, notes := shop(t, m)
		m.log, m.fail = nil, tt.fail
		p := &Pruner{Set: s}
		fails(t, tt.reason, play(t, p, planOf(item(target(configMaps, "a"), write.Unchanged))), tt.err)
		equal(t, tt.reason, m.asked("list"), tt.lists)
		if m.lists() != tt.kinds {
			t.Errorf("%s: the parent lists %q, want %q", tt.reason, m.lists(), tt.kinds)
		}
		if all := strings.Join(*notes, "\n"); !strings.Contains(all, tt.note) || (tt.note == "") != (all == "") {
			t.Errorf("%s: notes %q, want %q", tt.reason, all, tt.note)
		}
		if down := strings.Contains(tt.note, "nothing of this kind"); p.Incomplete() != down {
			t.Errorf("%s: incomplete: %t", tt.reason, p.Incomplete())
		}
	}
}

// TestListedAgain: a list that is not there is asked for once more, past what is cached of
// the server.
func TestListedAgain(t *testing.T) {
	m := newMemory()
	m.parent("Thing.example.com", nil)
	s, _ := shop(t, m)
	m.fail = failing("list things", refusal(http.StatusNotFound, metav1.StatusReasonNotFound))
	refreshed := 0
	m.refresh = func() { refreshed++ }
	if found, err := s.Members(t.Context(), s.Parent); err != nil || len(found.Gone)+len(found.Down) > 0 || refreshed != 1 {
		t.Errorf("%+v, %v, refreshed %d times", found, err, refreshed)
	}
	m.refresh = func() { m.kinds = nil }
	m.fail = failing("list things", refusal(http.StatusNotFound, metav1.StatusReasonNotFound))
	if found, err := s.Members(t.Context(), s.Parent); err != nil || len(found.Gone) != 1 {
		t.Errorf("%+v, %v, want it gone", found, err)
	}
}

// TestDeletion: a deletion is bound to what was decided about; what has changed is decided
// about again, and what got lost is looked for.
func TestDeletion(t *testing.T) {
	lost := &cluster.Unreachable{Text: "cut off", Lost: true}
	remove := func(m *memory) { delete(m.objects, key(target(configMaps, "old"))) }
	change := func(to func(meta map[string]any)) func(*memory) {
		return func(m *memory) { m.member(target(configMaps, "old"), to) }
	}
	for _, tt := range []struct {
		reason string
		rival  func(*memory) // goes first, once
		fail   []error       // of deletions
		err    string
		kept   string
		want   []string
	}{
		{"no other client interferes", nil, nil, "", "", []string{"delete configmap/old"}},
		{"another client was faster", remove, nil, "", "", []string{"delete configmap/old", "read configmap/old"}},
		{"it was changed", change(nil), nil, "", "", []string{"delete configmap/old", "read configmap/old", "delete configmap/old"}},
		{"it was marked to be kept", change(func(meta map[string]any) { meta["annotations"] = map[string]any{"helm.sh/resource-policy": "keep"} }), nil, "", "is marked to be kept", []string{"delete configmap/old", "read configmap/old"}},
		{"it has left the set", change(func(meta map[string]any) { meta["labels"] = nil }), nil, "", "has left the set meanwhile", []string{"delete configmap/old", "read configmap/old"}},
		{"it has come into the input under another name", change(func(meta map[string]any) { meta["uid"] = "uid-configmap/merged" }), nil, "", "has become an object of the input", []string{"delete configmap/old", "read configmap/old"}},
		{"another client deletes it", change(func(meta map[string]any) { meta["deletionTimestamp"], meta["finalizers"] = "now", []any{"hold"} }), nil, "", "", []string{"delete configmap/old", "read configmap/old"}},
		{"the answer got lost", nil, []error{lost}, "", "", []string{"delete configmap/old", "read configmap/old", "delete configmap/old"}},
		{"the answer got lost, and it is gone", remove, []error{lost}, "", "", []string{"delete configmap/old", "read configmap/old"}},
		{"all answers get lost", nil, []error{lost, lost, lost, lost}, "configmap/old: was not pruned: cut off", "", []string{"delete configmap/old", "read configmap/old", "delete configmap/old", "read configmap/old", "delete configmap/old", "read configmap/old", "delete configmap/old"}},
		{"it may not be deleted", nil, []error{forbidden()}, "configmap/old: was not pruned: Forbidden", "", []string{"delete configmap/old"}},
		{"a webhook refuses, and calls it a conflict", nil, []error{conflict()}, "configmap/old: was not pruned: Conflict", "", []string{"delete configmap/old", "read configmap/old"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			m.parent("ConfigMap", nil)
			m.member(target(configMaps, "old"), nil)
			s, _ := shop(t, m)
			p := &Pruner{Set: s}
			items, err := p.Decide(t.Context(), planOf(item(target(configMaps, "merged"), write.Unchanged)))
			if err != nil || len(items) != 1 {
				t.Fatal(items, err)
			}
			m.log = nil
			fail := failing("delete configmap/old", tt.fail...)
			m.fail = func(request string) error {
				if tt.rival != nil && request == "delete configmap/old" {
					tt.rival(m)
					tt.rival = nil
				}
				return fail(request)
			}
			fails(t, tt.reason, p.Delete(t.Context(), items[0], false), tt.err)
			equal(t, tt.reason, m.log, tt.want)
			if s := items[0].Surplus; s.Keep != (tt.kept != "") || !strings.Contains(s.Reason, tt.kept) {
				t.Errorf("%s: %+v, want %q", tt.reason, s, tt.kept)
			}
		})
	}
}

// TestDeletionNeverSettles: what is changed before each deletion is left to the next run.
func TestDeletionNeverSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.parent("ConfigMap", nil)
		m.member(target(configMaps, "old"), nil)
		s, _ := shop(t, m)
		p := &Pruner{Set: s}
		items, err := p.Decide(t.Context(), planOf())
		if err != nil {
			t.Fatal(err)
		}
		m.fail = func(request string) error {
			if request == "delete configmap/old" {
				m.member(target(configMaps, "old"), nil)
			}
			return nil
		}
		fails(t, "changed each time", p.Delete(t.Context(), items[0], false), "is changed so often that it could not be deleted: run this again")
		m.fail = failing("read configmap/old", errLost)
		m.member(target(configMaps, "old"), nil)
		fails(t, "it cannot be read", p.Delete(t.Context(), items[0], false), "whether it was deleted cannot be known: lost")
	})
}

// TestFinalizers: what an object waits for is noted, and in a trial nothing is.
func TestFinalizers(t *testing.T) {
	m := newMemory()
	m.parent("ConfigMap", nil)
	m.member(target(configMaps, "old"), func(meta map[string]any) { meta["finalizers"] = []any{"example.com/hold"} })
	s, notes := shop(t, m)
	p := &Pruner{Set: s}
	items, err := p.Decide(t.Context(), planOf())
	if err != nil {
		t.Fatal(err)
	}
	fails(t, "tried", p.Delete(t.Context(), items[0], true), "")
	equal(t, "in a trial", *notes, nil)
	m.fail = failing("try delete configmap/old", &cluster.Refusal{Code: http.StatusBadRequest, Text: `admission webhook "w" does not support dry run`})
	fails(t, "no dry runs", p.Delete(t.Context(), items[0], true), "")
	fails(t, "deleted", p.Delete(t.Context(), items[0], false), "")
	equal(t, "notes", *notes, []string{
		`configmap/old: its deletion was not tried first: admission webhook "w" does not support dry run`,
		"configmap/old: is being deleted, and waits for example.com/hold",
	})
}
