package gen

import (
	"encoding/json"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// form is the form of a scalar. A type does not say, but the built-in ones
// share their scalars, and a comparison says what it compares.
type form uint8

const (
	text form = iota
	number
	boolean
	quantity
	instant
	duration
	bytes
)

var probes = []struct {
	a, b any
	form form
}{
	{"1000m", "1", quantity},
	{"2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00", instant},
	{"60s", "1m0s", duration},
	{"YQ==", "Y\nQ==", bytes},
}

// shared are the scalars of the built-in types that no comparison distinguishes.
var shared = sync.OnceValue(func() map[*merge.Type]form {
	found := map[*merge.Type]form{}
	t, ok := schema.BuiltinType("io.k8s.api.apps.v1.DeploymentSpec")
	if ok {
		found[t.Fields["minReadySeconds"].Type] = number
		found[t.Fields["paused"].Type] = boolean
	}
	return found
})

func kindOf(t *merge.Type) form {
	if t == nil {
		return text
	}
	if t.Same != nil {
		for _, p := range probes {
			if t.Same(p.a, p.b) {
				return p.form
			}
		}
	}
	return shared()[t]
}

// other gives another value of the form of v.
func other(t *merge.Type, v any) any {
	for _, w := range spellings[kindOf(t)] {
		if !merge.Equal(v, w, t) && w != "" {
			return w
		}
	}
	if n, ok := v.(json.Number); ok {
		return json.Number(n.String() + "1")
	}
	return "other"
}
