package run

import (
	"fmt"
	"strings"
	"testing"
)

// TestCostPerObject: what an unchanged object costs, counted and not timed. The bounds are
// about twice what is needed, so that they fail where something is done for each object
// that was not before: a copy of the whole, a schema compiled anew.
func TestCostPerObject(t *testing.T) {
	const n = 200
	var local, there strings.Builder
	for i := range n {
		name := fmt.Sprint("c", i)
		local.WriteString(conf(name, "1"))
		there.WriteString(applied(t, name, "1", "1"))
	}
	p, m := setup(t, local.String(), there.String())
	allocs := testing.AllocsPerRun(3, func() { p.Merge(t.Context()) }) / n
	bytes := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			p.Merge(t.Context())
		}
	}).AllocedBytesPerOp() / n
	t.Logf("%.0f allocations and %d bytes for each object", allocs, bytes)
	if allocs > maxAllocs {
		t.Errorf("%.0f allocations for each object, want at most %d", allocs, maxAllocs)
	}
	if bytes > maxBytes {
		t.Errorf("%d bytes for each object, want at most %d", bytes, maxBytes)
	}
	m.log = nil
	if send(t.Context(), p, m); len(m.writes()) > 0 || len(m.log) > n {
		t.Errorf("%d requests for %d unchanged objects, of which %q write", len(m.log), n, m.writes())
	}
}

// What an unchanged ConfigMap may cost.
const (
	maxAllocs = 250
	maxBytes  = 22_000
)
