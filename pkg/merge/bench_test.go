package merge

import (
	"encoding/json"
	"fmt"
	"testing"
)

// containers makes n entries of a keyed list, each with a value of its own.
func containers(n int, value string) map[string]any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"name": fmt.Sprintf("VARIABLE_%d", i), "value": fmt.Sprintf("%s-%d", value, i)}
	}
	return map[string]any{"replicas": json.Number("3"), "env": list}
}

// BenchmarkThree merges a keyed list of which every entry has changed, one of
// which none has, and one where all have moved on both sides.
func BenchmarkThree(b *testing.B) {
	policy := Policies[0]
	for _, n := range []int{10, 100, 1000, 5000} {
		o, l := containers(n, "a"), containers(n, "b")
		b.Run(fmt.Sprintf("changed/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Three(Triple{Original: o, Local: l, Live: o}, thing, policy, false)
			}
		})
		b.Run(fmt.Sprintf("unchanged/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Three(Triple{Original: o, Local: o, Live: o}, thing, policy, false)
			}
		})
	}
}
