package prune

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/applyset"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/internal/write"
)

// TestStore: the parent is written as it was read, and what another run has written
// meanwhile is not lost.
func TestStore(t *testing.T) {
	lost := &cluster.Unreachable{Text: "cut off", Lost: true}
	for _, tt := range []struct {
		reason string
		is     string // the kinds of the parent that is read; "" for none
		rival  string // the kinds that another run writes just before
		fail   []error
		err    string
		note   string
		kinds  string
		want   []string
	}{
		{"no other client interferes", "ConfigMap", "", nil, "", "", "ConfigMap,Thing.example.com", []string{"apply secret/shop"}},
		{"another run has added a kind", "ConfigMap", "ConfigMap,Service", nil, "", "", "ConfigMap,Service,Thing.example.com", []string{"apply secret/shop", "read secret/shop", "apply secret/shop"}},
		{"another run has added the same", "ConfigMap", "ConfigMap,Thing.example.com", nil, "", "", "ConfigMap,Thing.example.com", []string{"apply secret/shop", "read secret/shop"}},
		{"the answer got lost", "ConfigMap", "", []error{lost}, "", "", "ConfigMap,Thing.example.com", []string{"apply secret/shop", "apply secret/shop"}},
		{"another manager owns the fields", "ConfigMap", "", []error{conflict()}, "", "it is overwritten", "ConfigMap,Thing.example.com", []string{"apply secret/shop", "read secret/shop", "apply secret/shop by force"}},
		{"it may not be written", "ConfigMap", "", []error{forbidden()}, "secret/shop: the set's parent was not written: Forbidden", "", "ConfigMap", []string{"apply secret/shop"}},
		{"it is new", "", "", nil, "", "", "Thing.example.com", []string{"apply secret/shop"}},
		{"another run has created it", "", "Service", nil, "", "", "Service,Thing.example.com", []string{"apply secret/shop", "read secret/shop", "apply secret/shop"}},
		{"another run has created the same, or this one has and knows nothing of it", "", "Thing.example.com", []error{lost}, "", "", "Thing.example.com", []string{"apply secret/shop", "apply secret/shop", "read secret/shop"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			if tt.is != "" {
				m.parent(tt.is, nil)
			}
			s, notes := shop(t, m)
			m.log = nil
			fail := failing("apply secret/shop", tt.fail...)
			m.fail = func(request string) error {
				if tt.rival != "" && request == "apply secret/shop" {
					m.parent(tt.rival, nil)
					tt.rival = ""
				}
				return fail(request)
			}
			err := s.Store(t.Context(), func(now applyset.Parent) applyset.Parent {
				return now.Including([]applyset.GroupKind{things.GroupKind()}, nil)
			})
			fails(t, tt.reason, err, tt.err)
			equal(t, tt.reason, m.log, tt.want)
			if m.lists() != tt.kinds {
				t.Errorf("%s: the parent lists %q, want %q", tt.reason, m.lists(), tt.kinds)
			}
			if all := strings.Join(*notes, "\n"); !strings.Contains(all, tt.note) || (tt.note == "") != (all == "") {
				t.Errorf("%s: notes %q, want %q", tt.reason, all, tt.note)
			}
		})
	}
}

// TestTogether: at its end a run takes nothing from the parent that another one has added,
// and puts back what another one has taken from it.
func TestTogether(t *testing.T) {
	for _, tt := range []struct {
		reason string
		rival  string // the kinds that another run leaves during this one
		failed bool   // this run fails
		kinds  string
	}{
		{"alone", "", false, "ConfigMap"},
		{"the other adds a kind", "ConfigMap,Service,Thing.example.com", false, "ConfigMap,Service,Thing.example.com"},
		{"the other has less", "Thing.example.com", false, "ConfigMap,Thing.example.com"},
		{"the other has less, and this one fails", "Thing.example.com", true, "ConfigMap,Thing.example.com"},
	} {
		m := newMemory()
		m.parent("ConfigMap,Thing.example.com", nil)
		s, _ := shop(t, m)
		p := &Pruner{Set: s}
		plan := planOf(item(target(configMaps, "a"), write.Created))
		if _, err := p.Decide(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		fails(t, tt.reason, p.Begin(t.Context(), plan), "")
		if tt.rival != "" {
			m.parent(tt.rival, nil)
		}
		if tt.failed {
			plan.Items[0].Late = errLost
		}
		fails(t, tt.reason, p.End(t.Context(), plan), "")
		if m.lists() != tt.kinds {
			t.Errorf("%s: the parent lists %q, want %q", tt.reason, m.lists(), tt.kinds)
		}
	}
}

// TestCreatedMeanwhile: another run creates an object of a kind just as this one takes the
// kind from the parent, or deletes the parent.
func TestCreatedMeanwhile(t *testing.T) {
	for request, kinds := range map[string]string{"apply secret/shop": "ConfigMap,Thing.example.com", "delete secret/shop": "Thing.example.com"} {
		m := newMemory()
		m.parent("ConfigMap,Thing.example.com", nil)
		s, _ := shop(t, m)
		m.fail = func(r string) error {
			if r == request {
				m.member(target(things, "new"), nil)
			}
			return nil
		}
		p := &Pruner{Set: s}
		if p.Disband = strings.HasPrefix(request, "delete"); p.Disband {
			fails(t, request, play(t, p, planOf()), "another run has added members meanwhile: run this again")
		} else {
			fails(t, request, play(t, p, planOf(item(target(configMaps, "a"), write.Unchanged))), "")
		}
		if m.lists() != kinds {
			t.Errorf("%s: the parent lists %q, want %q", request, m.lists(), kinds)
		}
	}
}

// TestDisband: the parent goes with the last member, unless another run has written it.
func TestDisband(t *testing.T) {
	for _, tt := range []struct {
		reason string
		keep   bool
		rival  func(*memory)
		err    string
		there  bool
	}{
		{"all of it goes", false, nil, "", false},
		{"something is kept", true, nil, "", true},
		{"another run adds a kind", false, func(m *memory) { m.parent("ConfigMap,Service", nil) }, "another run has added members meanwhile", true},
		{"another client was faster", false, func(m *memory) { delete(m.objects, "ns secret/shop") }, "", false},
		{"it is another object", false, func(m *memory) {
			m.put(target(secrets, "shop"), func(meta map[string]any) { meta["uid"] = "other" })
		}, "is another object by now", true},
	} {
		m := newMemory()
		m.parent("ConfigMap", nil)
		m.member(target(configMaps, "old"), func(meta map[string]any) {
			if tt.keep {
				meta["annotations"] = map[string]any{"helm.sh/resource-policy": "keep"}
			}
		})
		s, _ := shop(t, m)
		m.fail = func(request string) error {
			if tt.rival != nil && request == "delete configmap/old" {
				tt.rival(m)
			}
			return nil
		}
		p := &Pruner{Set: s, Disband: true}
		fails(t, tt.reason, play(t, p, planOf()), tt.err)
		if _, there := m.objects["ns secret/shop"]; there != tt.there {
			t.Errorf("%s: the parent is there: %t", tt.reason, there)
		}
		if p.Surprising(&run.Plan{}) != "" {
			t.Errorf("%s: the user asked to delete the whole set", tt.reason)
		}
	}
}

// TestStoreLater: a parent that the server asks to be written later is written later.
func TestStoreLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		s, _ := shop(t, m)
		begun := time.Now()
		m.fail = failing("apply secret/shop", &cluster.Refusal{Code: 429, Pause: 7 * time.Second})
		if err := s.Cover(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Store(t.Context(), func(p applyset.Parent) applyset.Parent {
			return p.Including([]applyset.GroupKind{{Kind: "ConfigMap"}}, nil)
		}); err != nil || time.Since(begun) < 7*time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
	})
}
