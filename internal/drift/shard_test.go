package drift

import (
	"fmt"
	"testing"
)

func TestShard(t *testing.T) {
	for _, tt := range []struct{ text, index, want string }{
		{"", "", "0/0"}, {"0/1", "", "0/1"}, {"3/10", "7", "3/10"}, {"10", "7", "7/10"},
		{"10", "", "!"}, {"10/10", "", "!"}, {"-1/3", "", "!"}, {"a/3", "", "!"}, {"0/0", "", "!"}, {"1/2/3", "", "!"},
	} {
		s, err := ParseShard(tt.text, tt.index)
		if got := fmt.Sprintf("%d/%d", s.index, s.of); got != tt.want && (err == nil || tt.want != "!") {
			t.Errorf("%s with %s: %s, %v", tt.text, tt.index, got, err)
		}
	}
	for i := range 1000 {
		in := 0
		for part := range 7 {
			if (Shard{part, 7}).Has(fmt.Sprintf("ns-%d", i)) {
				in++
			}
		}
		if in != 1 || !(Shard{}).Has(fmt.Sprint(i)) {
			t.Errorf("ns-%d is in %d shards", i, in)
		}
	}
}
