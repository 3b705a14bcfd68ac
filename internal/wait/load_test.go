package wait

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/follow"
)

var statefulSets = cluster.Resource{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespaced: true, Status: true}

// TestRequestsByKindAndNamespace: what a wait asks for depends on the kinds and namespaces of
// its objects, and not on how many objects there are.
func TestRequestsByKindAndNamespace(t *testing.T) {
	for _, each := range []int{2, 50} {
		var objects []Object
		a := &answers{by: map[string][]string{}}
		for ns := range 4 {
			space := fmt.Sprintf("ns%d", ns)
			var items []string
			for i := range each {
				name := fmt.Sprintf("web-%d", i)
				for _, r := range []cluster.Resource{deployments, statefulSets} {
					objects = append(objects, Object{Target: cluster.Target{Resource: r, Namespace: space, Name: name}})
				}
				items = append(items, fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"uid":"%s-%s","generation":1},"spec":{"replicas":0},"status":{"observedGeneration":1}}`, name, space, space, name))
			}
			for path, list := range map[string]string{"deployments": listOf(items...), "statefulsets": listOf(items...), "replicasets": listOf()} {
				a.by["list /apis/apps/v1/namespaces/"+space+"/"+path] = []string{list}
			}
			for _, path := range []string{"pods", "events"} {
				a.by["list /api/v1/namespaces/"+space+"/"+path] = []string{listOf()}
			}
		}
		if err := (&Waiter{API: a.serve(t)}).Wait(t.Context(), objects); err != nil {
			t.Fatal(err)
		}
		a.mu.Lock()
		asked := len(a.asked)
		a.mu.Unlock()
		// A list and a watch each of Deployments, StatefulSets, ReplicaSets, pods and events; what
		// is ready at once ends the wait before some of them are sent. What is waited for may be listed
		// once more before the end.
		if most := 4*5*2 + 4*2; asked > most {
			t.Errorf("%d objects: %d requests, want %d at most", len(objects), asked, most)
		}
	}
}

// size is how many things a board holds.
func (b *board) size() int {
	n := len(b.events) + len(b.owner) + len(b.uids) + len(b.class)
	for _, children := range b.children {
		n += 1 + len(children)
	}
	return n
}

// TestMemoryIsFlat: what a wait holds does not grow with what happens: with changes of its
// objects and pods, with pods and ReplicaSets that come and go, theirs and those of others,
// and with events.
func TestMemoryIsFlat(t *testing.T) {
	p := play(t, deployment("web", "d"), Object{Target: cluster.Target{Resource: statefulSets, Namespace: "ns", Name: "db"}, UID: "s"})
	owned := func(kind, name, owner string) map[string]any {
		return read(t, `{"kind":%q,"metadata":{"name":%q,"namespace":"ns","uid":%q,"ownerReferences":[{"controller":true,"uid":%q}]},"status":{"phase":"Pending"}}`, kind, name, name, owner)
	}
	happens := func(from, to int) {
		for i := from; i < to; i++ {
			p.takes("Deployment", update{Update: follow.Update{Objects: []map[string]any{liveDeployment(t, "web", "d", 0)}}}, 0)
			for _, owner := range []string{"d", "other"} {
				set, pod := fmt.Sprintf("%s-%d", owner, i), fmt.Sprintf("%s-%d-a", owner, i)
				for _, gone := range []bool{false, true} {
					p.takes(kindReplicaSet, update{Update: follow.Update{Gone: gone, Objects: []map[string]any{owned(kindReplicaSet, set, owner)}}}, 0)
					p.takes(kindPod, update{Update: follow.Update{Gone: gone, Objects: []map[string]any{owned(kindPod, pod, set)}}}, 0)
				}
			}
			for _, about := range []string{"db", fmt.Sprintf("other-%d", i)} {
				p.takes(kindEvent, update{Update: follow.Update{Objects: []map[string]any{read(t, `{"metadata":{"name":"e%d","namespace":"ns"},"reason":"FailedCreate","involvedObject":{"kind":"StatefulSet","name":%q,"uid":%q},"message":"no %d"}`, i, about, about, i)}}}, time.Second)
			}
		}
		p.said = nil
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	happens(0, 100)
	size, before := p.size(), heap()
	happens(100, 1000)
	if got := p.size(); got != size {
		t.Errorf("%d things are held, were %d", got, size)
	}
	if after := heap(); after > before+256<<10 {
		t.Errorf("%d KiB more are held after 900 rounds of changes", (after-before)>>10)
	}
	t.Logf("%d things held after 1,000 rounds of 12 changes", p.size())
}
