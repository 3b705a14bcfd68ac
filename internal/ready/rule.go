package ready

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Rule states when the user considers an object ready. The zero value states nothing.
type Rule struct {
	Skip  bool       // it is not waited for
	Path  merge.Path // the value here decides; nil: the kind's row decides
	Value string     // the value to wait for, as it is printed
}

// judge compares the value. A status that is known to be about an older generation does not
// count.
func (r Rule) judge(obj map[string]any) Verdict {
	if merge.At[any](obj, "status", "observedGeneration") != nil {
		if message, never, stale := stale(obj); stale {
			return unobserved(message, never)
		}
	}
	v, ok := merge.Lookup(obj, r.Path, nil)
	switch {
	case ok && plain(v) == r.Value:
		return ready("")
	case !ok:
		return waiting("Rule", fmt.Sprintf("%s is not there, and is to be %s", r.Path, r.Value))
	}
	return waiting("Rule", fmt.Sprintf("%s is %s, and is to be %s", r.Path, plain(v), r.Value))
}

// plain prints a value as kubectl wait --for=jsonpath does.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
