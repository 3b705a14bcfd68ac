package impact

import (
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	local "github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func value(t *testing.T, text string) map[string]any {
	t.Helper()
	docs, err := local.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) == 0 {
		return nil
	}
	v, _ := docs[0].Value.(map[string]any)
	return v
}

// changed is a plan from live to final; live "" creates.
func changed(t *testing.T, live, final string) apply.Planned {
	t.Helper()
	p := apply.Planned{Action: apply.Change, Final: value(t, final)}
	p.Subject = apply.Subject{Object: object.Object{Value: p.Final}}
	p.Name = object.Object{Value: p.Final}.String()
	if live == "" {
		p.Action = apply.Create
		return p
	}
	p.Live = value(t, live)
	return p
}

func TestOf(t *testing.T) {
	const (
		deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, `
		set        = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, `
		daemon     = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log}, `
		old, fresh = `template: {spec: {containers: [{name: a, image: a:1}]}}`, `template: {spec: {containers: [{name: a, image: a:2}]}}`
	)
	for name, tt := range map[string]struct{ live, final, want string }{
		"new":                                {"", deployment + `spec: {` + fresh + `}}`, "created"},
		"a kind without pods":                {`{kind: Service, a: 1}`, `{kind: Service, a: 2}`, "updated in place"},
		"a custom resource":                  {`{apiVersion: x.io/v1, kind: Deployment, spec: {` + old + `}}`, `{apiVersion: x.io/v1, kind: Deployment, spec: {` + fresh + `}}`, "updated in place"},
		"deployment":                         {deployment + `spec: {replicas: 3, ` + old + `}}`, deployment + `spec: {replicas: 3, ` + fresh + `}}`, "rolls out 3 pods"},
		"replicas are 1 by default":          {deployment + `spec: {` + old + `}}`, deployment + `spec: {` + fresh + `}}`, "rolls out 1 pod"},
		"those that stay":                    {deployment + `spec: {replicas: 5, ` + old + `}}`, deployment + `spec: {replicas: 2, ` + fresh + `}}`, "rolls out 2 pods (stops 3 pods)"},
		"no pods":                            {deployment + `spec: {replicas: 0, ` + old + `}}`, deployment + `spec: {replicas: 3, ` + fresh + `}}`, "updated in place (starts 3 pods)"},
		"paused":                             {deployment + `spec: {paused: true, ` + old + `}}`, deployment + `spec: {paused: true, ` + fresh + `}}`, "updated in place (its rollout is paused)"},
		"recreate":                           {deployment + `spec: {` + old + `}}`, deployment + `spec: {strategy: {type: Recreate}, ` + fresh + `}}`, "rolls out 1 pod (all at once: strategy is Recreate)"},
		"scaled up":                          {deployment + `spec: {` + old + `}}`, deployment + `spec: {replicas: 4, ` + old + `}}`, "updated in place (starts 3 pods)"},
		"scaled down":                        {set + `spec: {replicas: 2, ` + old + `}}`, set + `spec: {replicas: 1, ` + old + `}}`, "updated in place (stops 1 pod)"},
		"metadata alone":                     {deployment + `spec: {replicas: 3, ` + old + `}}`, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {a: b}}, spec: {replicas: 3, ` + old + `}}`, "updated in place"},
		"last applied alone":                 {deployment + `spec: {replicas: 3, ` + old + `}}`, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}}, spec: {replicas: 3, ` + old + `}}`, "updated in place (its last-applied annotation alone)"},
		"stateful set":                       {set + `spec: {replicas: 3, ` + old + `}}`, set + `spec: {replicas: 3, ` + fresh + `}}`, "rolls out 3 pods"},
		"partition":                          {set + `spec: {replicas: 3, ` + old + `}}`, set + `spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}, ` + fresh + `}}`, "rolls out 1 pod (partition is 2)"},
		"partition counts ordinals":          {set + `spec: {replicas: 3, ` + old + `}}`, set + `spec: {replicas: 3, ordinals: {start: 1}, updateStrategy: {rollingUpdate: {partition: 2}}, ` + fresh + `}}`, "rolls out 2 pods (partition is 2)"},
		"partition lowered":                  {set + `spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}, ` + old + `}, status: {replicas: 3, updatedReplicas: 1}}`, set + `spec: {replicas: 3, ` + old + `}}`, "rolls out 2 pods (its rollout was held back)"},
		"partition lowered, and scaled down": {set + `spec: {replicas: 5, updateStrategy: {rollingUpdate: {partition: 3}}, ` + old + `}, status: {replicas: 5, updatedReplicas: 2}}`, set + `spec: {replicas: 3, ` + old + `}}`, "rolls out 3 pods (its rollout was held back; stops 2 pods)"},
		"partition, nothing behind":          {set + `spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 2}}, ` + old + `}, status: {replicas: 3, updatedReplicas: 3}}`, set + `spec: {replicas: 3, ` + old + `}}`, "updated in place"},
		"no longer on delete":                {set + `spec: {replicas: 3, updateStrategy: {type: OnDelete}, ` + old + `}, status: {replicas: 3}}`, set + `spec: {replicas: 3, updateStrategy: {type: RollingUpdate}, ` + old + `}}`, "rolls out 3 pods (its rollout was held back)"},
		"resumed":                            {deployment + `spec: {replicas: 3, paused: true, ` + old + `}, status: {replicas: 3, updatedReplicas: 1}}`, deployment + `spec: {replicas: 3, ` + old + `}}`, "rolls out 2 pods (its rollout was held back)"},
		"in the middle of a rollout":         {deployment + `spec: {replicas: 3, ` + old + `}, status: {replicas: 3, updatedReplicas: 1}}`, deployment + `spec: {replicas: 3, minReadySeconds: 5, ` + old + `}}`, "updated in place"},
		"partition above all":                {set + `spec: {replicas: 3, ` + old + `}}`, set + `spec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: 9}}, ` + fresh + `}}`, "updated in place (partition is 9)"},
		"on delete":                          {set + `spec: {replicas: 3, ` + old + `}}`, set + `spec: {replicas: 3, updateStrategy: {type: OnDelete}, ` + fresh + `}}`, "updated in place (its pods stay until they are deleted: updateStrategy is OnDelete)"},
		"daemon set":                         {daemon + `spec: {` + old + `}, status: {desiredNumberScheduled: 12}}`, daemon + `spec: {` + fresh + `}}`, "rolls out 12 pods"},
		"daemon set without status":          {daemon + `spec: {` + old + `}}`, daemon + `spec: {` + fresh + `}}`, "rolls out its pods"},
		"daemon set without a node":          {daemon + `spec: {` + old + `}, status: {desiredNumberScheduled: 0}}`, daemon + `spec: {` + fresh + `}}`, "updated in place"},
		"daemon set, on delete":              {daemon + `spec: {` + old + `}}`, daemon + `spec: {updateStrategy: {type: OnDelete}, ` + fresh + `}}`, "updated in place (its pods stay until they are deleted: updateStrategy is OnDelete)"},
		"replica set":                        {`{apiVersion: apps/v1, kind: ReplicaSet, spec: {` + old + `}}`, `{apiVersion: apps/v1, kind: ReplicaSet, spec: {` + fresh + `}}`, "updated in place (its pods stay as they are)"},
		"cron job":                           {`{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {` + old + `}}}}`, `{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {` + fresh + `}}}}`, "updated in place (from its next job on)"},
		"pod":                                {`{kind: Pod, spec: {containers: [{image: a}]}}`, `{kind: Pod, spec: {containers: [{image: b}]}}`, "updated in place"},
		"something other than a map":         {deployment + `spec: 3}`, deployment + `spec: {` + fresh + `}}`, "rolls out 1 pod"},
	} {
		if got := Of(changed(t, tt.live, tt.final)).String(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	held := changed(t, `{kind: Service, a: 1}`, `{kind: Service, a: 2}`)
	held.Conflicts = []merge.Disagreement{{}}
	if got := Of(held); got.Word != None || got.String() != "" {
		t.Errorf("with a conflict: %v", got)
	}
	if got := Of(apply.Planned{}); got.Word != None {
		t.Errorf("nothing to do: %v", got)
	}
	if got := (Impact{Word: Refused, Fields: []string{"spec.selector", "roleRef"}}).String(); got != "refused: spec.selector, roleRef" {
		t.Error(got)
	}
}

// TestStale: every field from which a pod reads a ConfigMap or Secret, and whether its
// pods are replaced.
func TestStale(t *testing.T) {
	const (
		conf   = `{kind: ConfigMap, metadata: {name: conf}, data: {a: "%"}}`
		secret = `{kind: Secret, metadata: {name: key}, data: {a: "%"}}`
	)
	web := func(spec, rest string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {` + rest + `template: {spec: ` + spec + `}}}`
	}
	env := `{containers: [{name: a, envFrom: [{configMapRef: {name: conf}}]}]}`
	for name, tt := range map[string]struct {
		object, live, final string
		want                string // how it is read; "" if nothing is reported
	}{
		"envFrom":                  {conf, web(env, ""), web(env, ""), "environment"},
		"env":                      {conf, web(`{initContainers: [{env: [{valueFrom: {configMapKeyRef: {name: conf}}}]}]}`, ""), "", "environment"},
		"envFrom a Secret":         {secret, web(`{containers: [{envFrom: [{secretRef: {name: key}}]}]}`, ""), "", "environment"},
		"env from a Secret":        {secret, web(`{containers: [{env: [{valueFrom: {secretKeyRef: {name: key}}}]}]}`, ""), "", "environment"},
		"volume":                   {conf, web(`{volumes: [{configMap: {name: conf}}]}`, ""), "", "mounts"},
		"volume of a Secret":       {secret, web(`{volumes: [{secret: {secretName: key}}]}`, ""), "", "mounts"},
		"projected":                {conf, web(`{volumes: [{projected: {sources: [{configMap: {name: conf}}]}}]}`, ""), "", "mounts"},
		"projected Secret":         {secret, web(`{volumes: [{projected: {sources: [{secret: {name: key}}]}}]}`, ""), "", "mounts"},
		"both ways":                {conf, web(`{volumes: [{configMap: {name: conf}}], containers: [{envFrom: [{configMapRef: {name: conf}}]}]}`, ""), "", "environment"},
		"another name":             {conf, web(`{volumes: [{configMap: {name: other}}]}`, ""), "", ""},
		"another kind":             {conf, web(`{volumes: [{secret: {secretName: conf}}]}`, ""), "", ""},
		"no pods":                  {conf, web(env, "replicas: 0, "), "", ""},
		"replaced anyway":          {conf, web(env, ""), web(`{containers: [{name: a, image: new, envFrom: [{configMapRef: {name: conf}}]}]}`, ""), ""},
		"paused, and not replaced": {conf, web(env, "paused: true, "), web(`{containers: []}`, "paused: true, "), "environment"},
		"paused by this run":       {conf, web(env, ""), web(env, "paused: true, "), "environment"},
		"resumed by this run":      {conf, web(env, "paused: true, "), web(env, "paused: false, "), "environment"},
		"a job's pods end":         {conf, `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {template: {spec: ` + env + `}}}`, "", ""},
	} {
		if tt.final == "" {
			tt.final = tt.live
		}
		reader := changed(t, tt.live, tt.final)
		if tt.live == tt.final {
			reader.Action = apply.Nothing
		}
		was, is := changed(t, tt.object, tt.object), changed(t, tt.object, tt.object)
		is.Final["data"] = map[string]any{"a": "new"}
		if got := StaleIn([]Facts{Look(was, "ns"), Look(reader, "ns")}); len(got) > 0 {
			t.Errorf("%s: %v, though no value changes", name, got)
		}
		got := StaleIn([]Facts{Look(is, "ns"), Look(reader, "ns"), Look(reader, "elsewhere")})
		switch {
		case tt.want == "" && len(got) == 0:
		case len(got) != 1 || got[0].Reader != "deployment.apps/web" || got[0].Env != (tt.want == "environment"):
			t.Errorf("%s: %v, want %q", name, got, tt.want)
		case got[0].restart == restartDelete != strings.Contains(name, "paused"):
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestStaleWay: how pods are made to read again.
func TestStaleWay(t *testing.T) {
	for want, s := range map[string]Stale{
		"deployment.apps/web reads it into environment variables, and its pods are not replaced: they keep the old values until they are restarted: kubectl rollout restart deployment.apps/web -n shop":            {Namespace: "shop", Reader: "deployment.apps/web", Env: true, restart: restartRollout},
		"replicaset.apps/web mounts it, and its pods are not replaced: programs that read the files only at start, and files mounted by subPath, keep the old values until the pods are restarted: delete its pods": {Reader: "replicaset.apps/web", restart: restartDelete},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q\nwant %q", got, want)
		}
	}
}
