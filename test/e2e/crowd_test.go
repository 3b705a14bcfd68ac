package e2e

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Counters, by where they are in the object.

func annotated(key string) func(*appsv1.Deployment) int {
	return func(d *appsv1.Deployment) int { return number(d.Annotations[key]) }
}

func labelledWith(key string) func(*appsv1.Deployment) int {
	return func(d *appsv1.Deployment) int { return number(d.Labels[key]) }
}

func inEnv(name string) func(*appsv1.Deployment) int {
	return func(d *appsv1.Deployment) int {
		for _, e := range d.Spec.Template.Spec.Containers[0].Env {
			if e.Name == name {
				return number(e.Value)
			}
		}
		return 0
	}
}

func inStatus(name string) func(*appsv1.Deployment) int {
	return func(d *appsv1.Deployment) int {
		for _, c := range d.Status.Conditions {
			if string(c.Type) == name {
				return number(c.Message)
			}
		}
		return 0
	}
}

// oursAt is a manifest of one of the program's: a counter in an entry of a list that
// merges, one in a key that the next manifest gives up for another one, and the
// value that it contests.
func oursAt(name string, n int) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: hot, annotations: {%s-%d: "%d", contested: ours-%s}},
  spec: {template: {spec: {containers: [{name: main, env: [{name: %s, value: "%d"}]}]}}}}`, name, n%2, n, name, name, n)
}

// oursCount is -1, which goes back, where what was given up is not gone in the very
// version in which what came instead is there.
func oursCount(name string) func(*appsv1.Deployment) int {
	return func(d *appsv1.Deployment) int {
		n := inEnv(name)(d)
		now, gone := d.Annotations[fmt.Sprintf("%s-%d", name, n%2)], d.Annotations[fmt.Sprintf("%s-%d", name, (n+1)%2)]
		if n > 0 && (number(now) != n || gone != "") {
			return -1
		}
		return n
	}
}

// ownFiles are four processes with manifests of their own.
func ownFiles(c *contest) []*writer {
	var all []*writer
	for i := range 4 {
		name := fmt.Sprintf("ours%d", i)
		was := c.user.file(name+"-0.yaml", oursAt(name, 0)) // what was merged last
		all = append(all, &writer{name: name, count: oursCount(name), write: func(n int) bool {
			file := c.user.file(fmt.Sprintf("%s-%d.yaml", name, n), oursAt(name, n))
			ok := c.merges("-f", file, "--original="+was, "--field-manager="+name)
			if ok {
				was = file
			}
			return ok
		}})
	}
	return all
}

// oneFile are four processes that apply the same manifest at once, each of which
// finds its original where the others have left theirs.
func oneFile(c *contest) []*writer {
	return []*writer{{name: "ours", hands: 4, count: oursCount("ours"), write: func(n int) bool {
		c.user.file("ours.yaml", oursAt("ours", n))
		var wait sync.WaitGroup
		var merged atomic.Bool
		for range 4 {
			wait.Go(func() {
				if c.merges("-f", "ours.yaml") {
					merged.Store(true)
				}
			})
		}
		wait.Wait()
		return merged.Load() // one is enough
	}}}
}

// others are everybody else.
func (c *contest) others() []*writer {
	return append(c.kubectls(), c.clients()...)
}

// kubectls are people at a shell.
func (c *contest) kubectls() []*writer {
	all := []*writer{
		{name: "scale", count: func(d *appsv1.Deployment) int { return int(*d.Spec.Replicas) }},
		{name: "annotate", count: annotated("annotate")},
		{name: "label", count: labelledWith("label")},
		{name: "merge", count: annotated("merge")},
		{name: "json", count: annotated("json")},
		{name: "strategic", count: inEnv("strategic")},
	}
	args := map[string]func(n int) []string{
		"scale": func(n int) []string { return []string{"scale", "deployment/hot", fmt.Sprint("--replicas=", n)} },
		"annotate": func(n int) []string {
			return []string{"annotate", "--overwrite", "deployment/hot", fmt.Sprint("annotate=", n)}
		},
		"label": func(n int) []string {
			return []string{"label", "--overwrite", "deployment/hot", fmt.Sprint("label=", n)}
		},
		"merge": func(n int) []string {
			return []string{"patch", "deployment/hot", "--type=merge", "-p", fmt.Sprintf(`{"metadata":{"annotations":{"merge":"%d"}}}`, n)}
		},
		"json": func(n int) []string {
			return []string{"patch", "deployment/hot", "--type=json", "-p", fmt.Sprintf(`[{"op":"add","path":"/metadata/annotations/json","value":"%d"}]`, n)}
		},
		"strategic": func(n int) []string {
			return []string{"patch", "deployment/hot", "-p", fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"strategic","value":"%d"}]}]}}}}`, n)}
		},
	}
	for _, w := range all {
		w.pause = 200 * time.Millisecond
		w.write = func(n int) bool { return c.user.tries("kubectl", args[w.name](n)...).code == 0 }
	}
	return all
}

// blames: an error of another writer fails the test, unless the server was too busy.
func (c *contest) blames(err error) {
	switch {
	case err == nil:
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsTooManyRequests(err), apierrors.IsConflict(err):
		c.Logf("not written, and reported so: %v", err)
	default:
		c.Error(err)
	}
}

// clients are controllers, two of which write status all the time.
func (c *contest) clients() []*writer {
	api := c.user.server.client.AppsV1().Deployments(c.user.ns)
	patch := func(how types.PatchType, o metav1.PatchOptions, body any, sub ...string) bool {
		text, err := json.Marshal(body)
		if err == nil {
			_, err = api.Patch(c.Context(), "hot", how, text, o, sub...)
		}
		c.blames(err)
		return err == nil
	}
	// put reads, changes and puts back, until no other write comes in between.
	put := func(change func(*appsv1.Deployment), update func(*appsv1.Deployment) error) bool {
		for range 1000 {
			d, err := api.Get(c.Context(), "hot", metav1.GetOptions{})
			if err == nil {
				change(d)
				err = update(d)
			}
			if !apierrors.IsConflict(err) {
				c.blames(err)
				return err == nil
			}
		}
		return false
	}
	condition := func(name string, n int) appsv1.DeploymentCondition {
		return appsv1.DeploymentCondition{Type: appsv1.DeploymentConditionType(name), Status: corev1.ConditionTrue, Message: fmt.Sprint(n)}
	}
	force := true
	server := func(name string) *writer {
		return &writer{name: name, pause: 50 * time.Millisecond, count: inEnv(name), write: func(n int) bool {
			return patch(types.ApplyPatchType, metav1.PatchOptions{FieldManager: name, Force: &force}, map[string]any{
				"apiVersion": "apps/v1", "kind": "Deployment",
				"metadata": map[string]any{"annotations": map[string]any{name: fmt.Sprint(n)}},
				"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
					map[string]any{"name": "main", "env": []any{map[string]any{"name": name, "value": fmt.Sprint(n)}}}}}}},
			})
		}}
	}
	return []*writer{
		server("apply0"), server("apply1"),
		{name: "rival", pause: 20 * time.Millisecond, count: annotated("rival"), write: func(n int) bool {
			v := fmt.Sprint(n)
			return patch(types.MergePatchType, metav1.PatchOptions{FieldManager: "rival"}, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"rival": v, contested: v}}})
		}},
		{name: "put", pause: 50 * time.Millisecond, count: labelledWith("put"), write: func(n int) bool {
			return put(func(d *appsv1.Deployment) { metav1.SetMetaDataLabel(&d.ObjectMeta, "put", fmt.Sprint(n)) }, func(d *appsv1.Deployment) error {
				_, err := api.Update(c.Context(), d, metav1.UpdateOptions{FieldManager: "put"})
				return err
			})
		}},
		{name: "status0", count: inStatus("status0"), write: func(n int) bool {
			return patch(types.StrategicMergePatchType, metav1.PatchOptions{FieldManager: "status0"}, map[string]any{"status": map[string]any{"conditions": []any{condition("status0", n)}}}, "status")
		}},
		{name: "status1", count: inStatus("status1"), write: func(n int) bool {
			return put(func(d *appsv1.Deployment) {
				others := d.Status.Conditions[:0:0]
				for _, old := range d.Status.Conditions {
					if old.Type != "status1" {
						others = append(others, old)
					}
				}
				d.Status.Conditions = append(others, condition("status1", n))
			}, func(d *appsv1.Deployment) error {
				_, err := api.UpdateStatus(c.Context(), d, metav1.UpdateOptions{FieldManager: "status1"})
				return err
			})
		}},
	}
}
