package wait

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/follow"
	"github.com/kubectl-merge/kubectl-merge/internal/ready"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

var deployments = cluster.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespaced: true, Status: true}

func deployment(name, uid string) Object {
	return Object{Target: cluster.Target{Resource: deployments, Namespace: "ns", Name: name}, UID: uid}
}

func read(t *testing.T, format string, args ...any) map[string]any {
	t.Helper()
	v, err := merge.ReadJSON(fmt.Appendf(nil, format, args...))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

func liveDeployment(t *testing.T, name, uid string, available int) map[string]any {
	return read(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q,"uid":%q,"generation":1,"annotations":{"deployment.kubernetes.io/revision":"1"}},
		"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"availableReplicas":%d}}`, name, uid, available)
}

// played is a board, and what it has reported.
type played struct {
	*board
	t    *testing.T
	now  time.Time
	said []string
}

func play(t *testing.T, objects ...Object) *played {
	p := &played{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w := &Waiter{Patience: 30 * time.Second,
		Changed: func(o Object, v ready.Verdict) {
			p.said = append(p.said, strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Name, v.State, v.Problem)))
		},
		Noted: func(text string) { p.said = append(p.said, "note "+text) },
	}
	p.board = w.board(objects)
	p.judgeAll(p.now)
	return p
}

// source is the board's for a kind.
func (p *played) source(kind string) source {
	p.t.Helper()
	all := p.sources()
	i := slices.IndexFunc(all, func(s source) bool { return s.Kind == kind })
	if i < 0 {
		p.t.Fatalf("nothing watches %s", kind)
	}
	return all[i]
}

func (p *played) takes(kind string, u update, after time.Duration) {
	p.t.Helper()
	u.source = p.source(kind)
	p.now = p.now.Add(after)
	p.take(u, p.now)
}

func (p *played) want(end ready.State, lines ...string) {
	p.t.Helper()
	if got := p.end(); got != end || !slices.Equal(p.said, lines) {
		p.t.Errorf("ending %s, want %s; reported\n%s\nwant\n%s", got, end, strings.Join(p.said, "\n"), strings.Join(lines, "\n"))
	}
	p.said = nil
}

func TestPodsBelongToTheirDeployment(t *testing.T) {
	p := play(t, deployment("web", "d"))
	pod := func(uid, owner, reason string) map[string]any {
		return read(t, `{"kind":"Pod","metadata":{"name":%q,"namespace":"ns","uid":%q,"ownerReferences":[{"controller":true,"uid":%q}]},
			"status":{"phase":"Pending","containerStatuses":[{"name":"app","state":{"waiting":{"reason":%q}}}]}}`, uid, uid, owner, reason)
	}
	set := read(t, `{"kind":"ReplicaSet","metadata":{"name":"web-1","namespace":"ns","uid":"r","annotations":{"deployment.kubernetes.io/revision":"1"},"ownerReferences":[{"controller":true,"uid":"d"}]}}`)

	// What controls a pod may become known after it.
	p.takes(kindPod, update{Update: follow.Update{Whole: true, Objects: []map[string]any{pod("p", "r", "ErrImagePull"), pod("other", "x", "InvalidImageName")}}}, 0)
	p.want(ready.Waiting)
	p.takes("Deployment", update{Update: follow.Update{Whole: true, Objects: []map[string]any{liveDeployment(t, "web", "d", 0)}}}, 0)
	p.want(ready.Waiting, "web waiting 0 of 1 replica available")
	p.takes(kindReplicaSet, update{Update: follow.Update{Whole: true, Objects: []map[string]any{set}}}, 0)
	p.want(ready.Waiting, "web waiting ErrImagePull: pod p, container app")

	// The same trouble under its other name is no news; a list without the pod is.
	p.takes(kindPod, update{Update: follow.Update{Objects: []map[string]any{pod("p", "r", "ImagePullBackOff")}}}, 20*time.Second)
	p.want(ready.Waiting)
	p.takes(kindPod, update{Update: follow.Update{Whole: true}}, time.Second)
	p.want(ready.Waiting, "web waiting 0 of 1 replica available")
	p.takes(kindPod, update{Update: follow.Update{Objects: []map[string]any{pod("q", "r", "ImagePullBackOff")}}}, time.Second)
	p.takes(kindPod, update{Update: follow.Update{Gone: true, Objects: []map[string]any{pod("q", "r", "ImagePullBackOff")}}}, time.Second)
	p.want(ready.Waiting, "web waiting ImagePullBackOff: pod q, container app", "web waiting 0 of 1 replica available")

	// Time alone makes a failure of it.
	p.takes(kindPod, update{Update: follow.Update{Objects: []map[string]any{pod("s", "r", "CrashLoopBackOff")}}}, time.Second)
	p.judgeAll(p.now.Add(30 * time.Second))
	p.want(ready.Failed, "web waiting CrashLoopBackOff: pod s, container app", "web failed CrashLoopBackOff: pod s, container app")
}

func TestReadyIsLookedAtAgain(t *testing.T) {
	p := play(t, deployment("a", "1"), deployment("b", ""))
	p.takes("Deployment", update{Update: follow.Update{Whole: true, Objects: []map[string]any{liveDeployment(t, "a", "1", 1), liveDeployment(t, "b", "2", 0)}}}, 0)
	p.want(ready.Waiting, "a ready", "b waiting 0 of 1 replica available")
	p.takes("Deployment", update{Update: follow.Update{Objects: []map[string]any{liveDeployment(t, "a", "1", 0)}}}, 0)
	p.takes("Deployment", update{Update: follow.Update{Objects: []map[string]any{liveDeployment(t, "b", "2", 1)}}}, 0)
	p.want(ready.Waiting, "a waiting 0 of 1 replica available", "b ready")
	p.takes("Deployment", update{Update: follow.Update{Objects: []map[string]any{liveDeployment(t, "a", "1", 1)}}}, 0)
	p.want(ready.Ready, "a ready")
}

func TestGoneAndReplaced(t *testing.T) {
	for _, tt := range []struct {
		what string
		uid  string
		u    update
		want string
	}{
		{"deleted", "1", update{Update: follow.Update{Gone: true, Objects: []map[string]any{liveDeployment(t, "a", "1", 1)}}}, "a failed Deleted: it was deleted while it was waited for"},
		{"in no list any more", "1", update{Update: follow.Update{Whole: true}}, "a failed Deleted: it was deleted while it was waited for"},
		{"in no list ever", "", update{Update: follow.Update{Whole: true}}, "a failed it does not exist in the namespace ns: check its name, or merge it first"},
		{"replaced", "1", update{Update: follow.Update{Objects: []map[string]any{liveDeployment(t, "a", "2", 1)}}}, "a failed Replaced: it was deleted while it was waited for, and another object of its name was created"},
		{"unreadable", "1", update{Update: follow.Update{Denied: errors.New("no")}}, "a failed Forbidden: it cannot be read: no"},
	} {
		p := play(t, deployment("a", tt.uid))
		p.takes("Deployment", tt.u, 0)
		p.want(ready.Failed, tt.want)
	}
	p := play(t, deployment("a", "2"))
	p.takes("Deployment", update{Update: follow.Update{Gone: true, Objects: []map[string]any{liveDeployment(t, "a", "1", 1)}}}, 0)
	p.want(ready.Waiting) // that was the one before it
	p.takes("Deployment", update{Update: follow.Update{Note: "trouble"}}, 0)
	p.want(ready.Waiting, "note trouble")
}

func TestSources(t *testing.T) {
	claims := cluster.Resource{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true}
	pods := cluster.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true, Status: true}
	maps := cluster.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespaced: true}
	at := func(r cluster.Resource, name, uid string) Object {
		return Object{Target: cluster.Target{Resource: r, Namespace: "ns", Name: name}, UID: uid}
	}
	for _, tt := range []struct {
		what    string
		objects []Object
		want    string
	}{
		{"one object by its name", []Object{deployment("a", "")}, "deployments(metadata.name=a) replicasets() pods()"},
		{"one watch for many", []Object{deployment("a", ""), deployment("b", "")}, "deployments() replicasets() pods()"},
		{"a pod among those of a Deployment", []Object{deployment("a", ""), at(pods, "p", "")}, "deployments(metadata.name=a) pods() replicasets()"},
		{"a claim", []Object{at(claims, "c", "")}, "persistentvolumeclaims(metadata.name=c) events(reason=WaitForFirstConsumer)"},
		{"what was written, and is ready with that", []Object{at(maps, "m", "1")}, ""},
		{"objects not read yet", []Object{at(maps, "m", "")}, "configmaps(metadata.name=m)"},
	} {
		var got []string
		for _, s := range play(t, tt.objects...).sources() {
			got = append(got, s.Plural+"("+s.Fields+")")
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, strings.Join(got, " "), tt.want)
		}
	}
}

func TestClassIsReadOnce(t *testing.T) {
	claims := cluster.Resource{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespaced: true}
	p := play(t, Object{Target: cluster.Target{Resource: claims, Namespace: "ns", Name: "c"}})
	claim := read(t, `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c","uid":"1"},"spec":{"storageClassName":"lazy"},"status":{"phase":"Pending"}}`)
	p.takes("PersistentVolumeClaim", update{Update: follow.Update{Objects: []map[string]any{claim}}}, 0)
	p.want(ready.Waiting, "c waiting Pending: it is not bound to a volume yet")
	all := p.classes()
	if len(all) != 1 || all[0].class != "lazy" || len(p.classes()) != 0 {
		t.Fatalf("want the class once: %v", all)
	}
	p.take(update{source: all[0], Update: follow.Update{Objects: []map[string]any{read(t, `{"volumeBindingMode":"WaitForFirstConsumer"}`)}}}, p.now)
	p.want(ready.Ready, "c ready it is bound when the first pod uses it")
}
