package e2e

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// change is one version of a pod or ConfigMap, or its end.
type change struct {
	version int // resourceVersion: one count for all objects of a server
	gone    bool
	object  runtime.Object
}

// changes records every version of the pods and ConfigMaps of a namespace.
type changes struct {
	mu  sync.Mutex
	all []change
}

func (c *changes) follow(ctx context.Context, t *testing.T, list func(context.Context, metav1.ListOptions) (watch.Interface, error)) {
	t.Helper()
	w, err := list(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for e := range w.ResultChan() {
			obj, ok := e.Object.(metav1.Object)
			if !ok {
				continue
			}
			version, _ := strconv.Atoi(obj.GetResourceVersion())
			c.mu.Lock()
			c.all = append(c.all, change{version, e.Type == watch.Deleted, e.Object})
			c.mu.Unlock()
		}
	}()
}

// named counts the objects of a name that have been seen.
func (c *changes) named(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds := map[string]bool{}
	for _, one := range c.all {
		if o, ok := one.object.(metav1.Object); ok && o.GetName() == name {
			kinds[fmt.Sprintf("%T", one.object)] = true
		}
	}
	return len(kinds)
}

// configsOf are the ConfigMaps that a pod names, in the ways that TestRollout has them named.
func configsOf(p *corev1.Pod) []string {
	var out []string
	for _, v := range p.Spec.Volumes {
		if v.ConfigMap != nil {
			out = append(out, v.ConfigMap.Name)
		}
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.ConfigMap != nil {
				out = append(out, s.ConfigMap.Name)
			}
		}
	}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for _, f := range c.EnvFrom {
			if f.ConfigMapRef != nil {
				out = append(out, f.ConfigMapRef.Name)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
				out = append(out, e.ValueFrom.ConfigMapKeyRef.Name)
			}
		}
	}
	return out
}

// broken plays all versions in their order, and returns where a pod that has not ended
// names a ConfigMap of the test that was there and is deleted; and how much it has seen.
func (c *changes) broken() (wrong []string, versions, deletions int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortFunc(c.all, func(a, b change) int { return cmp.Compare(a.version, b.version) })
	pods, deleted := map[string]*corev1.Pod{}, map[string]bool{}
	for _, e := range c.all {
		switch o := e.object.(type) {
		case *corev1.Pod:
			if pods[o.Name] = o; e.gone || o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed {
				delete(pods, o.Name)
			}
		case *corev1.ConfigMap:
			if deleted[o.Name] = e.gone; e.gone {
				deletions++
			}
		}
		for _, p := range pods {
			for _, name := range configsOf(p) {
				if deleted[name] {
					wrong = append(wrong, fmt.Sprintf("version %d: pod %s names %s, which is deleted", e.version, p.Name, name))
				}
			}
		}
	}
	return slices.Compact(wrong), len(c.all), deletions
}

// rolloutSpec is a pod that names a ConfigMap, in one of five ways.
func rolloutSpec(r *rand.Rand, config, image string) string {
	container := fmt.Sprintf(`{name: app, image: "%s:1"`, image)
	switch r.IntN(5) {
	case 0:
		return container + `, envFrom: [{configMapRef: {name: ` + config + `}}]}]`
	case 1:
		return container + `, env: [{name: A, valueFrom: {configMapKeyRef: {name: ` + config + `, key: a}}}]}]`
	case 2:
		return container + `}], volumes: [{name: v, configMap: {name: ` + config + `}}]`
	case 3:
		return container + `}], volumes: [{name: v, projected: {sources: [{configMap: {name: ` + config + `}}]}}]`
	}
	return container + `}], initContainers: [{name: first, image: "setup:1", envFrom: [{configMapRef: {name: ` + config + `}}]}]`
}

// rolloutInput is a Deployment, a StatefulSet and a DaemonSet that each name a ConfigMap of
// their own for this revision, as a generator names them by their contents.
func rolloutInput(r *rand.Rand, revision int, image string) string {
	var b strings.Builder
	for i, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
		name := strings.ToLower(kind)
		config := fmt.Sprintf("%s-%d", name, revision)
		fmt.Fprintf(&b, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: \"1\"}}\n", config)
		replicas := "replicas: 3, "
		if kind == "StatefulSet" {
			replicas = "replicas: 2, serviceName: none, "
		}
		if kind == "DaemonSet" {
			replicas = ""
		}
		if i > 0 {
			image = "web" // one sick workload is enough
		}
		fmt.Fprintf(&b, "---\n{apiVersion: apps/v1, kind: %s, metadata: {name: x}, spec: {%sselector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}}, spec: {containers: [%s}}}}\n",
			kind, replicas, name, name, rolloutSpec(r, config, image))
	}
	return b.String()
}

// TestRollout rolls out revision after revision, with --wait and without, of which some
// never start, and watches every version of every pod and ConfigMap: no pod ever names a
// ConfigMap that was pruned, and in the end only those of the last revision are left.
func TestRollout(t *testing.T) {
	t.Parallel()
	s := staffed.need(t)
	n := seed(t)
	r := rand.New(rand.NewPCG(n, 18))
	u := s.user(t, "rollout")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen changes
	seen.follow(ctx, t, s.client.CoreV1().Pods(u.ns).Watch)
	seen.follow(ctx, t, s.client.CoreV1().ConfigMaps(u.ns).Watch)
	codes := map[int]int{}
	images := []string{"web", "slow", "flaky", "missing", "crash", "slow", "web"}
	r.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
	for revision := range 8 * *soak {
		image := images[revision%len(images)]
		if revision == 0 || revision == 8**soak-1 {
			image = "slow"
		}
		u.file("all.yaml", rolloutInput(r, revision, image))
		args := []string{"-f", "all.yaml", "--prune", "--applyset=shop", "--yes"}
		if revision%3 != 1 {
			args = append(args, "--wait", "--patience=10s", "--timeout=30m")
		}
		got := u.tries("kubectl-merge", args...)
		codes[got.code]++
		bad := image == "missing" || image == "crash"
		waits := revision%3 != 1
		switch {
		case got.code == 1, waits && bad != (got.code == 4), !waits && got.code == 4:
			t.Fatalf("revision %d of %s\n%s", revision, image, got)
		case got.code == 4 && strings.Contains(got.stdout, "pruned"):
			t.Errorf("revision %d of %s is not ready, and yet something is pruned\n%s", revision, image, got)
		}
	}
	u.does("kubectl-merge", "-f", "all.yaml", "--prune", "--applyset=shop", "--yes", "--wait=all", "--timeout=30m")
	u.does("kubectl", "run", "end", "--image=web:1")
	u.does("kubectl", "create", "configmap", "end")
	u.awaits(func() bool { return seen.named("end") == 2 }) // so that all that was before has been seen
	left := strings.Fields(u.does("kubectl", "get", "configmaps", "-o", "name", "--selector=applyset.kubernetes.io/part-of").stdout)
	if len(left) != 3 {
		t.Errorf("want the last revision's ConfigMaps alone: %v", left)
	}
	wrong, versions, deletions := seen.broken()
	if len(wrong) > 0 {
		t.Errorf("%d times: %s", len(wrong), wrong[0])
	}
	if deletions == 0 {
		t.Error("nothing was pruned")
	}
	t.Logf("%d revisions, exit codes %v, %d versions of pods and ConfigMaps, %d ConfigMaps deleted, %d pods that name one of those", 8**soak, codes, versions, deletions, len(wrong))
}
