package merge

import "testing"

// TestMovedByOwners: with managedFields, live has moved where its value is another
// one and a manager other than the applier owns it.
func TestMovedByOwners(t *testing.T) {
	for _, c := range []struct {
		reason                string
		original, local, live string
		ours, theirs          string // the fields each owns
		want, reported        string
	}{
		{reason: "a value that the applier alone owns has not moved", original: `{"host":"a"}`, local: `{"host":"b"}`, live: `{"host":"c"}`,
			ours: `{"host":{}}`, want: `{"host":"b"}`},
		{reason: "a value that another manager owns has", original: `{"host":"a"}`, local: `{"host":"b"}`, live: `{"host":"c"}`,
			theirs: `{"host":{}}`, want: `{"host":"b"}`, reported: "both:host"},
		{reason: "the value that original had has not moved, also if another manager owns it", original: `{"host":"a"}`, local: `{"host":"b"}`, live: `{"host":"a"}`,
			theirs: `{"host":{}}`, want: `{"host":"b"}`},
		{reason: "a value that is absent was deleted", original: `{"host":"a"}`, local: `{"host":"a"}`, live: `{}`,
			theirs: `{"on":{}}`, want: `{"host":"a"}`, reported: "drift:host"},
		{reason: "a value without an owner has moved", original: `{"host":"a"}`, local: `{"host":"a"}`, live: `{"host":"b"}`,
			theirs: `{"on":{}}`, want: `{"host":"a"}`, reported: "drift:host"},
		{reason: "a displaced variant of another manager is a disagreement, though it is empty", local: `{"probe":{"http":{"path":"/"}}}`, live: `{"probe":{"exec":{}}}`,
			theirs: `{"probe":{"exec":{}}}`, want: `{"probe":{"http":{"path":"/"}}}`, reported: "both:probe.exec"},
		{reason: "of the applier's it is none", local: `{"probe":{"http":{"path":"/"}}}`, live: `{"probe":{"exec":{}}}`,
			ours: `{"probe":{"exec":{}}}`, want: `{"probe":{"http":{"path":"/"}}}`, reported: "removed:probe.exec"},
		{reason: "a value that a manager owns is not a default, also if that manager created the object", local: `{"args":[{"a":"1"}]}`, live: `{"args":[{"a":"1","b":"2"}]}`,
			theirs: `{"args":{}}`, want: `{"args":[{"a":"1"}]}`, reported: "both:args"},
		{reason: "the server's default in another manager's value is one", local: `{"args":[{"a":"1"}]}`, live: `{"args":[{"a":"1","b":"default"}]}`,
			theirs: `{"args":{}}`, want: `{"args":[{"a":"1","b":"default"}]}`},
		{reason: "of two managers that wrote in the second of its creation neither is taken for the creator", local: `{"args":[{"a":"1"}]}`, live: `{"host":"h","args":[{"a":"1","b":"2"}]}`,
			theirs: `{"args":{}}`, ours: `{"host":{}}`, want: `{"args":[{"a":"1"}],"host":"h"}`, reported: "both:args"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			owners := ownedBy{}
			for name, f := range map[string]string{"apply": c.ours, "other": c.theirs} {
				if f != "" {
					owners[name] = read(t, f)
				}
			}
			in := Triple{Original: read(t, c.original), Local: read(t, c.local), Live: read(t, c.live),
				Owners: owners, Appliers: []string{"apply"}}
			plan := Three(in, thing, named(t, "apply"), false)
			if got := show(t, plan.Result); got != c.want {
				t.Errorf("result\n got %s\nwant %s", got, c.want)
			}
			if got := reported(plan); got != c.reported {
				t.Errorf("reported\n got %q\nwant %q", got, c.reported)
			}
		})
	}
}
