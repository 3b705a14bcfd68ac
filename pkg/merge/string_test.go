package merge

import (
	"fmt"
	"testing"
)

func TestEnumNames(t *testing.T) {
	for _, tt := range []struct {
		got  fmt.Stringer
		want string
	}{
		{Nobody, "nobody"}, {LiveSide, "live"},
		{OpSet, "set"}, {OpOrder, "order"},
		{Drift, "drift"}, {Dropped, "dropped"},
		{LeaveConflict, "conflict"}, {TakeOriginal, "original"},
		{CauseLocal, "local"}, {CauseStillNull, "still-null"}, {CauseStrategy, "strategy"},
		{Keyed, "keyed"},
		{Cause(0), "0"}, {Cause(200), "200"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%T: %q, want %q", tt.got, got, tt.want)
		}
	}
}
