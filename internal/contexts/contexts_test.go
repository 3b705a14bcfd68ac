package contexts

import (
	"fmt"
	"strings"
	"testing"
)

// TestGroup: what has one key stands together, where the lists have it.
func TestGroup(t *testing.T) {
	key := func(s string) string { return s[:1] }
	for _, tt := range []struct {
		reason string
		lists  [][]string
		want   string
	}{
		{"the same once", [][]string{{"a1", "b1"}, {"a1", "b1"}}, "a1[0 1] b1[0 1]"},
		{"what deviates beside it", [][]string{{"a1", "b1"}, {"a2", "b1"}, {"a1", "b1"}}, "a1[0 2] a2[1] b1[0 1 2]"},
		{"what a list alone has, behind what it follows there", [][]string{{"a1", "c1"}, {"a1", "b1", "c1"}, {"z1", "a1"}}, "a1[0 1 2] b1[1] c1[0 1] z1[2]"},
		{"several of a key", [][]string{{"a1", "a2"}, {"a2", "a3"}}, "a1[0] a2[0 1] a3[1]"},
		{"twice in a list", [][]string{{"a1", "a1"}, {"a1"}}, "a1[0 1]"},
		{"what no list has before, at the end", [][]string{{"b1"}, {"a1"}, {"c1", "d1"}}, "b1[0] a1[1] c1[2] d1[2]"},
		{"another order", [][]string{{"a1", "b1"}, {"b1", "a1"}}, "a1[0 1] b1[0 1]"},
		{"nothing", [][]string{nil, nil}, ""},
	} {
		var got []string
		for _, s := range Group(tt.lists, key, func(a, b string) bool { return a == b }) {
			if len(s.All) != len(s.In) {
				t.Errorf("%s: %d values of %d contexts", tt.reason, len(s.All), len(s.In))
			}
			got = append(got, fmt.Sprint(s.All[0], s.In))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, strings.Join(got, " "), tt.want)
		}
	}
}

func TestLabel(t *testing.T) {
	names := strings.Fields("a b c d e f")
	for _, tt := range []struct {
		in   []int
		of   int
		want string
	}{
		{[]int{0}, 1, "a"},
		{[]int{0, 1}, 2, "all 2 contexts"},
		{[]int{1}, 2, "b"},
		{[]int{0, 2}, 3, "a, c"},
		{[]int{0, 1, 2, 3, 5}, 6, "all 6 contexts but e"},
		{[]int{0, 1, 2}, 6, "a, b, c"},
	} {
		if got := Label(tt.in, names[:tt.of]); got != tt.want {
			t.Errorf("%v of %d: %s, want %s", tt.in, tt.of, got, tt.want)
		}
	}
}
