package main

import (
	"fmt"
	"strings"
	"time"
)

// part is a container of a pod that is played.
type part struct {
	spec containerSpec
	act  act
	init bool
	held string // why it cannot be created; "" once it can

	begun    bool
	at       int // in act.steps
	since    time.Time
	restarts int
	last     map[string]any // how it ended before
}

func (c *part) now() step { return c.act.steps[c.at] }

func (c *part) message() string {
	if !strings.Contains(c.now().message, "%") {
		return c.now().message
	}
	return fmt.Sprintf(c.now().message, c.spec.Image)
}

// move goes to the next step if it is time, and gives when to look again.
func (c *part) move(s *player) (moved bool, next time.Duration) {
	if !c.begun {
		c.begun, c.since = true, time.Now()
		return true, c.rest()
	}
	if c.rest() > 0 {
		return false, c.rest()
	}
	from := c.now()
	switch {
	case c.at+1 < len(c.act.steps):
		c.at++
	case c.act.around:
		c.at = 0
	case c.restarted(s.pod.Spec.RestartPolicy):
		c.at = 0
	default:
		return false, time.Hour
	}
	if from.state == "terminated" {
		c.last = c.state(from)
	}
	if c.now().state == "running" && from.state != "running" {
		c.restarts++
	}
	c.since = time.Now()
	return true, c.rest()
}

// rest is how long the step still lasts.
func (c *part) rest() time.Duration {
	lasts := c.now().lasts
	if lasts == 0 {
		lasts = time.Hour
		if c.now().state == "terminated" {
			lasts = 4 * moment // until it is started again, if it is
		}
	}
	return time.Until(c.since.Add(lasts))
}

// restarted: the container has ended, and the pod's policy starts it again.
func (c *part) restarted(policy string) bool {
	return c.now().state == "terminated" && !c.init && (policy == "Always" || policy == "OnFailure" && c.now().exit != 0)
}

func (c *part) ready() bool {
	return c.begun && c.held == "" && (c.now().ready || c.init && c.finished())
}

func (c *part) finished() bool { return c.begun && c.now().state == "terminated" && c.now().exit == 0 }

func initialized(parts []*part) bool {
	for _, c := range parts {
		if c.init && !c.finished() {
			return false
		}
	}
	return true
}

// status is the container's entry in the pod's status.
func (c *part) status() map[string]any {
	out := map[string]any{"name": c.spec.Name, "image": c.spec.Image, "imageID": "", "ready": c.ready(), "restartCount": c.restarts, "lastState": map[string]any{}}
	switch {
	case c.held != "":
		out["state"] = map[string]any{"waiting": map[string]any{"reason": "CreateContainerConfigError", "message": c.held}}
	case !c.begun:
		out["state"] = map[string]any{"waiting": map[string]any{"reason": "ContainerCreating"}}
	default:
		out["state"] = c.state(c.now())
		out["started"] = c.now().state == "running"
	}
	if c.last != nil {
		out["lastState"] = c.last
	}
	return out
}

func (c *part) state(s step) map[string]any {
	began := c.since.UTC().Format(time.RFC3339)
	switch s.state {
	case "running":
		return map[string]any{"running": map[string]any{"startedAt": began}}
	case "terminated":
		return map[string]any{"terminated": map[string]any{"exitCode": s.exit, "reason": s.reason, "startedAt": began, "finishedAt": began}}
	}
	return map[string]any{"waiting": map[string]any{"reason": s.reason, "message": c.message()}}
}

// phaseOf is the phase of a pod: it has ended when all of its containers have, for
// good.
func phaseOf(policy string, parts []*part) string {
	ended, bad, begun := true, false, false
	for _, c := range parts {
		if c.init {
			if c.begun && c.now().state == "terminated" && c.now().exit != 0 && policy == "Never" {
				return "Failed"
			}
			continue
		}
		over := c.begun && c.now().state == "terminated" && !c.restarted(policy)
		ended = ended && over
		bad = bad || over && c.now().exit != 0
		begun = begun || c.begun && c.now().state != "waiting"
	}
	switch {
	case ended && bad:
		return "Failed"
	case ended:
		return "Succeeded"
	case begun:
		return "Running"
	}
	return "Pending"
}
