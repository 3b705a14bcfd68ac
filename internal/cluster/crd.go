package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Declared lists the resources that a CustomResourceDefinition (v1) will make the
// server have; nothing where crd is not one.
func Declared(crd map[string]any) []Resource {
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	var all []Resource
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if served, _ := version["served"].(bool); !served {
			continue
		}
		sub, _ := version["subresources"].(map[string]any)
		r := Resource{
			Group:      str(spec, "group"),
			Version:    str(version, "name"),
			Kind:       str(names, "kind"),
			Plural:     str(names, "plural"),
			Namespaced: str(spec, "scope") == "Namespaced",
			Status:     sub["status"] != nil,
		}
		if r.Version != "" && r.Kind != "" && r.Plural != "" {
			all = append(all, r)
		}
	}
	return all
}

func str(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// establishWait is how long a new kind may take until the server serves it.
const establishWait = 60 * time.Second

// WaitEstablished waits until a CustomResourceDefinition that was just written is
// served, and forgets what discovery said before.
func (c *Cluster) WaitEstablished(ctx context.Context, crd Target) error {
	limited, cancel := context.WithTimeout(ctx, establishWait)
	defer cancel()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		obj, err := c.Get(limited, crd)
		if err == nil && conditionTrue(obj, "Established") {
			c.Refresh(ctx)
			return nil
		}
		select {
		case <-time.After(pause):
		case <-limited.Done():
			if ctx.Err() != nil { // told as such, it would count as not written
				return fmt.Errorf("%s: was written, and the run was interrupted before its kind was served: merge again", crd)
			}
			return errors.Join(fmt.Errorf("%s: is not served %s after it was written: look at its status.conditions, and merge again", crd, establishWait), err)
		}
	}
}

func conditionTrue(obj map[string]any, name string) bool {
	status, _ := obj["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	for _, e := range list {
		if m, _ := e.(map[string]any); m["type"] == name && m["status"] == "True" {
			return true
		}
	}
	return false
}
