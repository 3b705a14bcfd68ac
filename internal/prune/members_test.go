package prune

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
)

// TestAdmit: an object of another set is refused by the names of both, as far as they can
// be found out.
func TestAdmit(t *testing.T) {
	m := newMemory()
	m.parent("", nil)
	other := applyset.Set{GroupKind: configMaps.GroupKind(), Namespace: "ns", Name: "other"}
	m.put(target(configMaps, "other"), func(meta map[string]any) { meta["labels"] = map[string]any{applyset.IDLabel: other.ID()} })
	s, _ := shop(t, m)
	p := &Pruner{Set: s}
	live := func(id string) map[string]any {
		return map[string]any{"metadata": map[string]any{"labels": map[string]any{lastapplied.PartOf: id}}}
	}
	i := item(target(configMaps, "a"), "")
	fails(t, "of no set", p.Admit(i, map[string]any{}), "")
	fails(t, "of this set", p.Admit(i, live(shopID)), "")
	fails(t, "of another", p.Admit(i, live(other.ID())), "is part of configmap/other (namespace ns)")
	fails(t, "of a set that is not found", p.Admit(i, live("applyset-x-v1")), "is part of another set")
	lists := len(m.asked("list"))
	var set *apply.OtherSet
	if err := p.Admit(i, live(other.ID())); !errors.As(err, &set) || set.From != "configmap/other" || len(m.asked("list")) != lists {
		t.Errorf("%v: looked for again", err)
	}
}

// TestRead: what is no parent, and how one is made of it.
func TestRead(t *testing.T) {
	m := newMemory()
	custom := target(things, "app")
	_, err := Read(t.Context(), m, custom, 1)
	fails(t, "a kind without the label", err, `resource "things.example.com" is not permitted as an ApplySet parent`)
	m.put(target(crds, "things.example.com"), func(meta map[string]any) { meta["labels"] = map[string]any{applyset.ParentTypeLabel: "true"} })
	s, err := Read(t.Context(), m, custom, 1)
	fails(t, "no such object", err, "")
	fails(t, "no such object is looked for", s.Existing(), "there is no such set")
	fails(t, "no such object is written", s.Writable(), "cannot be created automatically: create it first, with the label applyset.kubernetes.io/id: applyset-")
	m.put(custom, nil)
	_, err = Read(t.Context(), m, custom, 1)
	fails(t, "no parent yet", err, "give it the label applyset.kubernetes.io/id: applyset-")
	m.fail = failing("read secret/shop", errLost)
	_, err = Read(t.Context(), m, target(secrets, "shop"), 1)
	fails(t, "it cannot be read", err, "secret/shop: lost")
	s, err = Read(t.Context(), m, target(secrets, "shop"), 1)
	fails(t, "not there yet", err, "")
	fails(t, "not there yet", errors.Join(s.Writable()), "")
	fails(t, "not there", s.Existing(), "there is no such set")
	m.parent("", map[string]any{applyset.ToolingAnnotation: "helm/v3"})
	s, err = Read(t.Context(), m, target(secrets, "shop"), 1)
	fails(t, "of another tool", err, "")
	fails(t, "of another tool", s.Writable(), `managed by tooling "helm/v3"`)
}

// TestGroupResources: what an old kubectl has written is read, and written as kinds.
func TestGroupResources(t *testing.T) {
	m := newMemory()
	m.parent("", map[string]any{applyset.KindsAnnotation: nil, applyset.ResourcesAnnotation: "configmaps,gone.example.com"})
	m.member(target(configMaps, "old"), nil)
	s, notes := shop(t, m)
	fails(t, "run", play(t, &Pruner{Set: s}, planOf(item(target(things, "x"), write.Unchanged))), "")
	if m.lists() != "Thing.example.com" || len(m.asked("delete")) != 1 || len(*notes) != 1 {
		t.Errorf("lists %q, %v, notes %v", m.lists(), m.log, *notes)
	}
}

// TestJoin: objects move between sets, bound to the state in which they were seen.
func TestJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.parent("", nil)
		for _, name := range []string{"a", "b"} {
			m.put(target(configMaps, name), nil)
		}
		m.member(target(configMaps, "in"), nil)
		m.put(target(things, "other"), func(meta map[string]any) {
			meta["labels"] = map[string]any{applyset.PartOfLabel: "applyset-x-v1"}
		})
		s, _ := shop(t, m)
		all := func(r cluster.Resource) []Member {
			found, _ := m.ListMetadata(t.Context(), r, "", "")
			return members(r, found)
		}
		_, err := s.Join(t.Context(), append(all(configMaps), all(things)...), Labelling{})
		fails(t, "of another set", err, "thing.example.com/other: metadata.labels")
		m.log = nil
		joined, err := s.Join(t.Context(), all(configMaps), Labelling{Nothing: true})
		if fails(t, "client's dry run", err, ""); len(joined) != 2 || len(m.asked("apply", "patch")) > 0 {
			t.Errorf("%v, %v", joined, m.log)
		}
		_, err = s.Join(t.Context(), all(configMaps), Labelling{DryRun: true})
		fails(t, "server's dry run", err, "")
		m.fail = func(request string) error {
			if request == "patch configmap/b" { // another client writes it, once
				m.fail = nil
				m.put(target(configMaps, "b"), nil)
			}
			return nil
		}
		m.log = nil
		_, err = s.Join(t.Context(), append(all(configMaps), all(things)...), Labelling{From: "applyset-x-v1"})
		fails(t, "both", err, "")
		equal(t, "requests", m.asked("apply", "patch"), []string{"apply secret/shop", "patch configmap/a", "patch configmap/b", "patch configmap/b", "patch thing.example.com/other"})
		if m.lists() != "ConfigMap,Thing.example.com" {
			t.Error(m.lists())
		}
		everyone, err := s.Everyone(t.Context())
		if fails(t, "members", err, ""); len(everyone) != 4 {
			t.Errorf("%v", everyone)
		}
	})
}

// TestLeave: what another set has taken meanwhile stays in that; the parent goes once.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.parent("ConfigMap", nil)
		m.member(target(configMaps, "a"), nil)
		m.member(target(configMaps, "b"), nil)
		s, _ := shop(t, m)
		everyone, err := s.Everyone(t.Context())
		fails(t, "members", err, "")
		m.fail = func(request string) error {
			if request == "patch configmap/a" { // it comes into another set meanwhile
				m.put(target(configMaps, "a"), func(meta map[string]any) {
					meta["labels"] = map[string]any{applyset.PartOfLabel: "applyset-y-v1"}
				})
			}
			return nil
		}
		fails(t, "taken by another", s.Leave(t.Context(), everyone[:1], Labelling{}), "configmap/a: ")
		m.fail = nil
		fails(t, "left", s.Leave(t.Context(), everyone[1:], Labelling{}), "")
		if left, _ := s.Everyone(t.Context()); len(left) > 0 {
			t.Errorf("%v", left)
		}
		fails(t, "removed", s.Remove(t.Context(), false), "")
		fails(t, "removed twice", s.Remove(t.Context(), false), "")
	})
}

// TestApplied: objects that were applied and that no set contains are chosen by labels. Kinds
// that may not be listed are noted.
func TestApplied(t *testing.T) {
	m := newMemory()
	m.parent("", nil)
	labelled := func(name string, change func(map[string]any)) {
		m.put(target(configMaps, name), func(meta map[string]any) {
			meta["labels"] = map[string]any{"app": "shop"}
			change(meta)
		})
	}
	labelled("applied", func(meta map[string]any) { meta["annotations"] = map[string]any{lastapplied.Annotation: "{}"} })
	labelled("by-hand", func(map[string]any) {})
	labelled("owned", func(meta map[string]any) {
		meta["annotations"] = map[string]any{lastapplied.Annotation: "{}"}
		meta["ownerReferences"] = []any{map[string]any{"kind": "X", "uid": "x"}}
	})
	s, notes := shop(t, m)
	m.fail = failing("list things ns", forbidden())
	found, others, err := s.Applied(t.Context(), "app=shop", "ns")
	if err != nil || len(found) != 1 || found[0].Name != "applied" || others != 2 {
		t.Errorf("%v, %d, %v", found, others, err)
	}
	if len(*notes) != 1 || !strings.Contains((*notes)[0], "1 kinds cannot be listed") {
		t.Errorf("notes %v", *notes)
	}
	m.fail = failing("list things ns", errLost)
	_, _, err = s.Applied(t.Context(), "app=shop", "ns")
	fails(t, "any other error", err, "Thing.example.com: lost")
}

// TestVerifyViewList: what the parent says is compared with all that carries the label.
func TestVerifyViewList(t *testing.T) {
	m := newMemory()
	m.parent("ConfigMap,Secret", nil)
	m.member(target(configMaps, "a"), nil)
	m.member(target(things, "x"), func(meta map[string]any) { meta["annotations"] = map[string]any{"helm.sh/resource-policy": "keep"} })
	m.member(target(crds, "alias"), func(meta map[string]any) { meta["uid"] = "uid-configmap/a" }) // the same object as another kind
	deleting := func(meta map[string]any) { meta["deletionTimestamp"], meta["finalizers"] = "now", []any{"hold"} }
	m.member(target(crds, "pruned"), deleting)
	s, _ := shop(t, m)
	want, problems, err := s.Verify(t.Context())
	fails(t, "verified", err, "")
	equal(t, "problems", problems, []string{"has members of the kind Thing.example.com, and does not list it: they would never be pruned", "lists the kind Secret, and has no members of it"})
	fails(t, "fixed", s.Store(t.Context(), func(applyset.Parent) applyset.Parent { return want }), "")
	delete(m.objects, key(target(crds, "alias")))
	members, decisions, err := s.View(t.Context())
	if err != nil || len(members) != 2 || decisions[0].Action != applyset.Delete || decisions[1].Action != applyset.Keep {
		t.Errorf("%v, %v, %v", members, decisions, err)
	}
	m.put(target(crds, "things.example.com"), func(meta map[string]any) { meta["labels"] = map[string]any{applyset.ParentTypeLabel: "true"} })
	m.put(target(configMaps, "copy"), func(meta map[string]any) { meta["labels"] = map[string]any{applyset.IDLabel: shopID} })
	m.fail = failing("list things ns", forbidden())
	found, missing, err := List(t.Context(), m, "ns")
	if err != nil || len(found) != 2 || found[0].Err == nil || found[1].Err != nil || len(missing) != 1 {
		t.Errorf("%v, %v, %v", found, missing, err)
	}
	m.fail = func(request string) error {
		if strings.HasPrefix(request, "list ") {
			return forbidden()
		}
		return nil
	}
	_, _, err = List(t.Context(), m, "ns")
	fails(t, "nothing may be listed", err, "Secret: sets with this kind of parent are not listed: Forbidden")
}

// TestAwait: an object is waited for until it is gone or another stands in its place.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.parent("", nil)
		m.member(target(configMaps, "a"), func(meta map[string]any) { meta["finalizers"] = []any{"hold"} })
		s, _ := shop(t, m)
		found, _ := m.ListMetadata(t.Context(), configMaps, "", "")
		all := members(configMaps, found)
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		fails(t, "it stays", s.Await(limited, all), "configmap/a: timed out waiting for it to be gone: it waits for [hold]")
		over, end := context.WithCancel(t.Context())
		m.fail = func(string) error { end(); return context.Canceled }
		fails(t, "the last read is cut off", s.Await(over, all), "configmap/a: timed out waiting for it to be gone: it waits for [hold]")
		m.fail = nil
		time.AfterFunc(time.Minute, func() { m.member(target(configMaps, "a"), func(meta map[string]any) { meta["uid"] = "new" }) })
		fails(t, "another comes", s.Await(t.Context(), all), "")
		delete(m.objects, key(target(configMaps, "a")))
		fails(t, "it is gone", s.Await(t.Context(), all), "")
	})
}
