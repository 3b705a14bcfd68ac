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

// TestReplayTellsTypesApart: a text and a number that read alike are two keys, and a map is one, too.
// Paths that were printed and read again lead to the same entries.
func TestReplayTellsTypesApart(t *testing.T) {
	typ := &Type{Kind: Object, Fields: map[string]Field{"l": {Type: &Type{Kind: Keyed, Keys: []Key{{Name: "uid"}}}}}}
	for _, c := range []struct{ reason, original, local, live string }{
		{"a number beside a text", `{}`, `{"l":[{"uid":1}]}`, `{"l":[{"uid":"1","k":"a"}]}`},
		{"a text beside a number", `{}`, `{"l":[{"uid":"1"}]}`, `{"l":[{"uid":1,"k":"a"}]}`},
		{"the second one goes", `{"l":[{"uid":1}]}`, `{"l":[{"uid":"1"}]}`, `{"l":[{"uid":"1","k":"a"},{"uid":1}]}`},
		{"the second one changes", `{}`, `{"l":[{"uid":1,"k":"b"}]}`, `{"l":[{"uid":"1","k":"a"},{"uid":1,"k":"a"}]}`},
		{"in another order", `{}`, `{"l":[{"uid":1},{"uid":true},{"uid":"1"},{"uid":"true"}]}`, `{"l":[{"uid":"true"},{"uid":"1"},{"uid":true},{"uid":1}]}`},
		{"a boolean", `{}`, `{"l":[{"uid":true}]}`, `{"l":[{"uid":"true"}]}`},
		{"a map", `{}`, `{"l":[{"uid":{"a":1}}]}`, `{"l":[{"uid":{"a":2}},{"uid":"x"}]}`},
		{"a map changes", `{}`, `{"l":[{"uid":{"a":1},"k":"b"}]}`, `{"l":[{"uid":{"a":2}},{"uid":{"a":1},"k":"a"}]}`},
		{"a list goes", `{"l":[{"uid":[1]}]}`, `{"l":[]}`, `{"l":[{"uid":["1"]},{"uid":[1]}]}`},
		{"one of many", `{}`, `{"l":[{"uid":9}]}`, `{"l":[{"uid":"1"},{"uid":"2"},{"uid":"3"},{"uid":"4"},{"uid":"5"},{"uid":"6"},{"uid":"7"},{"uid":"8"},{"uid":"9"},{"uid":8}]}`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			live := read(t, c.live)
			plan := Three(Triple{Original: read(t, c.original), Local: read(t, c.local), Live: live}, typ, Policies[0], false)
			sound(t, live, plan)
			for i := range plan.Changes {
				p, err := ParsePath(plan.Changes[i].Path.String())
				if err != nil {
					t.Fatal(err)
				}
				plan.Changes[i].Path = p
			}
			sound(t, live, plan)
		})
	}
}

// TestManyAlike: of many entries that leave out a key with a default, each is found beside one whose key is empty.
func TestManyAlike(t *testing.T) {
	typ := &Type{Kind: Keyed, Keys: []Key{{Name: "host"}, {Name: "port", Default: "web"}}}
	list := read(t, `[{"host":"a","port":""}]`).([]any)
	for range 12 {
		list = append(list, map[string]any{"host": "a"})
	}
	entries := EntriesOf(list, typ)
	for i, e := range list[1:] {
		if at := entries.At(StepOf(typ, e, i+1)); at != i+1 {
			t.Errorf("entry %d is found at %d", i+1, at)
		}
	}
}
