package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

// act lists the steps of a container. After the last step nothing changes any more,
// unless the act repeats.
type act struct {
	steps  []step
	around bool // begins anew after the last step, as one more try
}

// step is a state of a container and how long it lasts.
type step struct {
	lasts   time.Duration
	state   string // waiting, running or terminated
	ready   bool
	reason  string
	message string // %s is the image
	exit    int
	event   string // reason of the event to be written; "" for none
}

const moment = 150 * time.Millisecond

// acts are what the last part of an image's name, without tag, stands for. Any other
// image starts and is ready at once.
var acts = map[string]act{
	"slow": {steps: []step{{lasts: 10 * moment, state: "running"}, {state: "running", ready: true}}},
	"unready": {steps: []step{
		{state: "running", event: "Unhealthy", message: "Readiness probe failed: HTTP probe failed with statuscode: 503"}}},
	"missing": {around: true, steps: []step{
		{lasts: 2 * moment, state: "waiting", reason: "ErrImagePull", message: `failed to pull and unpack image "%s": not found`, event: "Failed"},
		{lasts: 4 * moment, state: "waiting", reason: "ImagePullBackOff", message: `Back-off pulling image "%s"`, event: "BackOff"}}},
	"crash": {around: true, steps: []step{
		{lasts: 2 * moment, state: "running"},
		{lasts: moment, state: "terminated", reason: "Error", exit: 1},
		{lasts: 6 * moment, state: "waiting", reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container", event: "BackOff"}}},
	"flaky": {steps: []step{
		{lasts: moment, state: "running"},
		{lasts: moment, state: "terminated", reason: "Error", exit: 1},
		{lasts: 2 * moment, state: "waiting", reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container"},
		{state: "running", ready: true}}},
	"exit-0": {steps: []step{{lasts: 2 * moment, state: "running", ready: true}, {state: "terminated", reason: "Completed"}}},
	"exit-1": {steps: []step{{lasts: 2 * moment, state: "running"}, {state: "terminated", reason: "Error", exit: 1}}},
}

var (
	healthy     = act{steps: []step{{state: "running", ready: true}}}
	completed   = act{steps: []step{{state: "terminated", reason: "Completed", ready: true}}}
	invalidName = act{steps: []step{{state: "waiting", reason: "InvalidImageName", message: `Failed to apply default image tag "%s": couldn't parse image name "%[1]s": invalid reference format: repository name must be lowercase`}}}
	neverPulled = act{steps: []step{{state: "waiting", reason: "ErrImageNeverPull", message: `Container image "%s" is not present with pull policy of Never`}}}
)

func actOf(c containerSpec, init bool) act {
	name, _, _ := strings.Cut(path.Base(c.Image), ":")
	a, known := acts[name]
	switch {
	case strings.ToLower(c.Image) != c.Image:
		return invalidName
	case c.ImagePullPolicy == "Never":
		return neverPulled
	case known:
		return a
	case init:
		return completed
	}
	return healthy
}

// player is one pod that is played.
type player struct {
	*kubelet
	pod     podObject
	end     <-chan struct{}
	started string
}

// play takes a pod from scheduling to its end.
func (k *kubelet) play(ctx context.Context, p podObject, end <-chan struct{}) {
	s := &player{kubelet: k, pod: p, end: end, started: now()}
	if !s.schedule(ctx) {
		return
	}
	parts := make([]*part, 0, len(p.Spec.InitContainers)+len(p.Spec.Containers))
	for _, c := range p.Spec.InitContainers {
		parts = append(parts, &part{spec: c, act: actOf(c, true), init: true})
	}
	for _, c := range p.Spec.Containers {
		parts = append(parts, &part{spec: c, act: actOf(c, false)})
	}
	if !s.mount(ctx, parts) {
		return
	}
	for first := true; ; first = false {
		changed, next := first, time.Hour
		for _, c := range parts {
			if c.init || initialized(parts) {
				moved, wait := c.move(s)
				changed, next = changed || moved, min(next, wait)
				if moved && c.now().event != "" {
					s.report(ctx, p, c.now().event, c.message())
				}
			}
		}
		if changed && s.write(ctx, parts) {
			return
		}
		if !s.sleep(next) {
			return
		}
	}
}

// sleep says whether the pod is still to be played afterwards.
func (s *player) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.end:
		return false
	}
}

// schedule binds the pod to the node, unless it asks for another one or has gates.
func (s *player) schedule(ctx context.Context) bool {
	if len(s.pod.Spec.SchedulingGates) > 0 {
		return false
	}
	var labels map[string]string
	_ = json.Unmarshal([]byte(nodeLabels), &labels) // it is a constant
	for name, value := range s.pod.Spec.NodeSelector {
		if labels[name] != value {
			s.status(ctx, map[string]any{"phase": "Pending", "conditions": []any{map[string]any{
				"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": now(),
				"message": "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."}}})
			return false
		}
	}
	body := `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"` + s.pod.Metadata.Name + `"},"target":{"apiVersion":"v1","kind":"Node","name":"` + node + `"}}`
	_, err := s.api.do(ctx, http.MethodPost, s.pod.path()+"/binding", body)
	return err == nil
}

// mount waits until the ConfigMaps and Secrets that volumes and variables name are there.
func (s *player) mount(ctx context.Context, parts []*part) bool {
	for reported := false; ; reported = true {
		missing := ""
		for _, v := range s.pod.Spec.Volumes {
			missing += s.missing(ctx, "configmap", v.ConfigMap) + s.missing(ctx, "secret", nameRef{v.Secret.SecretName, v.Secret.Optional})
		}
		if missing != "" && !reported {
			s.report(ctx, s.pod, "FailedMount", "MountVolume.SetUp failed: "+missing)
		}
		wrong := false
		for _, c := range parts {
			c.held = s.unset(ctx, c.spec)
			wrong = wrong || c.held != ""
		}
		if missing == "" && !wrong {
			return true
		}
		if !reported {
			s.write(ctx, parts)
		}
		if !s.sleep(2 * moment) {
			return false
		}
	}
}

// unset is why a container's variables cannot be set; "" where they can.
func (s *player) unset(ctx context.Context, c containerSpec) string {
	for _, e := range c.Env {
		if why := s.missing(ctx, "configmap", e.ValueFrom.ConfigMapKeyRef) + s.missing(ctx, "secret", e.ValueFrom.SecretKeyRef); why != "" {
			return why
		}
	}
	for _, e := range c.EnvFrom {
		if why := s.missing(ctx, "configmap", e.ConfigMapRef) + s.missing(ctx, "secret", e.SecretRef); why != "" {
			return why
		}
	}
	return ""
}

func (s *player) missing(ctx context.Context, kind string, r nameRef) string {
	if r.Name == "" || r.Optional {
		return ""
	}
	status, err := s.api.do(ctx, http.MethodGet, "/api/v1/namespaces/"+s.pod.Metadata.Namespace+"/"+kind+"s/"+r.Name, "")
	if err == nil && status == http.StatusNotFound {
		return fmt.Sprintf("%s %q not found", kind, r.Name)
	}
	return ""
}

// write stores what has become of the containers, and says whether the pod has ended.
func (s *player) write(ctx context.Context, parts []*part) (ended bool) {
	phase, ready := phaseOf(s.pod.Spec.RestartPolicy, parts), true
	status := map[string]any{"startTime": s.started, "hostIP": "127.0.0.1", "podIP": "10.1.0.1"}
	for list, init := range map[string]bool{"initContainerStatuses": true, "containerStatuses": false} {
		var all []any
		for _, c := range parts {
			if c.init == init {
				all = append(all, c.status())
				ready = ready && c.ready()
			}
		}
		status[list] = all
	}
	status["phase"] = phase
	status["conditions"] = conditions(map[string]bool{
		"PodScheduled": true, "Initialized": initialized(parts), "ContainersReady": ready, "Ready": ready && phase == "Running",
	})
	s.status(ctx, status)
	return phase == "Succeeded" || phase == "Failed"
}

func conditions(are map[string]bool) []any {
	var all []any
	for _, name := range []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
		c := map[string]any{"type": name, "status": "True", "lastTransitionTime": now()}
		if !are[name] {
			c["status"], c["reason"] = "False", "ContainersNotReady"
		}
		all = append(all, c)
	}
	return all
}

func (s *player) status(ctx context.Context, status map[string]any) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": s.pod.Metadata.UID}, "status": status})
	if err != nil {
		return
	}
	for range 50 { // the server may be away for a while
		if code, err := s.api.do(ctx, http.MethodPatch, s.pod.path()+"/status", string(body)); err == nil && code < http.StatusInternalServerError {
			return
		}
		if !s.sleep(200 * time.Millisecond) {
			return
		}
	}
}
