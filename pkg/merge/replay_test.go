package merge

import "testing"

// TestReplayTellsEntriesApart: entries whose keys look alike are not taken for one
// another, forwards or backwards.
func TestReplayTellsEntriesApart(t *testing.T) {
	literal := &Type{Kind: Object, Fields: map[string]Field{"l": {Type: &Type{
		Kind: Keyed, Keys: []Key{{Name: "host"}, {Name: "port", Default: "web"}},
		Elem: &Type{Kind: Object, Fields: map[string]Field{"host": {Type: str}, "port": {Type: str}, "on": {Type: str}}},
	}}}}
	for _, c := range []struct{ reason, from, to string }{
		{"a key that is empty and one that is missing", `{"l":[{"host":""}]}`, `{"l":[{"host":""},{"on":"1"}]}`},
		{"the other way round", `{"l":[{"on":"1"}]}`, `{"l":[{"on":"1"},{"host":""}]}`},
		{"one of the two goes", `{"l":[{"host":""},{"on":"1"}]}`, `{"l":[{"host":""}]}`},
		{"a default written and another port", `{"l":[{"host":"a"}]}`, `{"l":[{"host":"a","port":"web"},{"host":"a","port":"tls"}]}`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			from, to := read(t, c.from), read(t, c.to)
			sound(t, from, Plan{Result: to, Changes: Diff(from, to, literal)})
		})
	}
}
