package cli

import "testing"

// TestPercentage: the heap grows to 24 MB before it is collected; a large one by as much as it
// is set to.
func TestPercentage(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		live          uint64
		percent, want int
	}{
		{0, 100, 600},       // 24 MB, of 4 MB for each 100 %
		{3 * mb, 100, 600},  // the same
		{6 * mb, 100, 300},  // 24 MB
		{8 * mb, 50, 200},   // 24 MB
		{12 * mb, 100, 100}, // 24 MB
		{12 * mb, 50, 100},
		{20 * mb, 50, 50}, // 30 MB
		{24 * mb, 100, 100},
		{900 * mb, 50, 50},
	} {
		if got := percentage(tt.live, tt.percent); got != tt.want {
			t.Errorf("%d bytes in use, %d %%: %d, want %d", tt.live, tt.percent, got, tt.want)
		}
	}
}
