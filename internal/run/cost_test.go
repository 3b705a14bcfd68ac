package run

import (
	"fmt"
	"strings"
	"testing"
)

// TestCostPerObject: what an object costs, counted and not timed: one that is unchanged, and one
// that changes and waits compressed until it is shown. The bounds are a seventh above what is
// needed, so that they fail where something is done for each object that was not before: a
// copy of the whole, a merge more, a schema compiled anew.
func TestCostPerObject(t *testing.T) {
	const n = largeFrom + 100
	for _, tt := range []struct {
		what     string
		is       string
		showing  bool
		allocs   float64
		bytes    int64
		requests int
	}{
		{"unchanged", "1", false, unchangedAllocs, unchangedBytes, n},
		{"changed, and shown", "2", true, shownAllocs, shownBytes, 2 * n},
	} {
		var local, there strings.Builder
		for i := range n {
			name := fmt.Sprint("c", i)
			local.WriteString(conf(name, tt.is))
			there.WriteString(applied(t, name, "1", "1"))
		}
		p, m := setup(t, local.String(), there.String())
		p.Shown, p.Preflight = tt.showing, false
		once := func() {
			p.Merge(t.Context())
			if tt.showing {
				p.Show(t.Context(), func(*Item) {})
			}
		}
		allocs := testing.AllocsPerRun(3, once) / n
		bytes := testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				once()
			}
		}).AllocedBytesPerOp() / n
		t.Logf("%s: %.0f allocations and %d bytes for each object", tt.what, allocs, bytes)
		if allocs > tt.allocs {
			t.Errorf("%s: %.0f allocations for each object, want at most %.0f", tt.what, allocs, tt.allocs)
		}
		if bytes > tt.bytes {
			t.Errorf("%s: %d bytes for each object, want at most %d", tt.what, bytes, tt.bytes)
		}
		m.log = nil
		if send(t.Context(), p, m); len(m.log) > tt.requests || !tt.showing && len(m.writes()) > 0 {
			t.Errorf("%s: %d requests for %d objects, of which %q write", tt.what, len(m.log), n, m.writes())
		}
	}
}

// What a ConfigMap may cost.
const (
	unchangedAllocs = 112
	unchangedBytes  = 11_500
	shownAllocs     = 313
	shownBytes      = 37_700
)
