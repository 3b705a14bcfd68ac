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

// TestThreeAllocatesLittle holds what the merge of a long list costs: a copy of an
// entry and the change that sees it; nothing for one that stays.
func TestThreeAllocatesLittle(t *testing.T) {
	const n = 1000
	o, l := containers(n, "a"), containers(n, "b")
	for _, tt := range []struct {
		reason string
		local  any
		most   float64
	}{
		{"every entry changed", l, 5 * n},
		{"none changed", o, n / 10},
	} {
		got := testing.AllocsPerRun(5, func() {
			Three(Triple{Original: o, Local: tt.local, Live: o}, thing, Policies[0], false)
		})
		if got > tt.most {
			t.Errorf("%s: %.0f allocations for %d entries, want at most %.0f", tt.reason, got, n, tt.most)
		}
	}
}
