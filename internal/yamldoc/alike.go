package yamldoc

import (
	"fmt"
	"strings"
)

// Facts are the scalars of an object with their fields, counted, without what identifies
// it; of a text its lines. A null is none, and a number in quotes is another one.
func Facts(v any) map[string]int {
	out := map[string]int{}
	facts(v, "", out)
	return out
}

func facts(v any, at string, out map[string]int) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for k, e := range v {
			facts(e, at+"."+k, out)
		}
	case []any:
		for _, e := range v {
			facts(e, at+"[]", out)
		}
	default:
		switch at {
		case ".apiVersion", ".kind", ".metadata.name", ".metadata.namespace":
		default:
			for line := range strings.Lines(fmt.Sprint(v)) {
				out[fmt.Sprintf("%s=%T %s", at, v, strings.TrimSpace(line))]++
			}
		}
	}
}

// Common returns how many facts two objects share, and how many each has.
func Common(a, b map[string]int) (both, ofA, ofB int) {
	for f, n := range a {
		both += min(n, b[f])
		ofA += n
	}
	for _, n := range b {
		ofB += n
	}
	return both, ofA, ofB
}
