package merge

import (
	"encoding/json"
	"strings"
	"testing"
)

// The types of the tests: small relatives of the API's.
var (
	str    = &Type{Kind: Scalar}
	num    = &Type{Kind: Scalar}
	atomic = &Type{Kind: List, Elem: &Type{Kind: Object, Open: true, Fields: map[string]Field{"a": {Type: str}, "b": {Type: str, Default: "default"}}}}
	labels = &Type{Kind: Map, Elem: str}

	portType = &Type{Kind: Object, Fields: map[string]Field{
		"port": {Type: num}, "protocol": {Type: str, ZeroIsAbsent: true, Default: "TCP"},
		"name": {Type: str, ZeroIsAbsent: true}, "nodePort": {Type: num, ZeroIsAbsent: true, Allocated: true},
	}}
	ports = &Type{Kind: Keyed, Elem: portType, Keys: []Key{{Name: "port"}, {Name: "protocol", Default: "TCP"}}}

	envType = &Type{Kind: Object, Fields: map[string]Field{
		"name": {Type: str, ZeroIsAbsent: true}, "value": {Type: str, ZeroIsAbsent: true},
		"valueFrom": {Type: &Type{Kind: Object, Fields: map[string]Field{"ref": {Type: str}}}},
	}, OneOf: []OneOf{{Fields: []string{"value", "valueFrom"}, Displaces: true}}}
	env = &Type{Kind: Keyed, Elem: envType, Keys: []Key{{Name: "name"}}}

	set = &Type{Kind: Set, Elem: str}

	probe = &Type{Kind: Object, Fields: map[string]Field{
		"exec":    {Type: &Type{Kind: Object, Fields: map[string]Field{"command": {Type: atomic}}}},
		"http":    {Type: &Type{Kind: Object, Fields: map[string]Field{"path": {Type: str}, "scheme": {Type: str, Default: "HTTP"}}}},
		"timeout": {Type: num, Default: json.Number("1")},
	}, OneOf: []OneOf{{Fields: []string{"exec", "http"}, Displaces: true}}}

	strategyType = &Type{Kind: Object, Fields: map[string]Field{
		"type":    {Type: str},
		"rolling": {Type: &Type{Kind: Object, Fields: map[string]Field{"surge": {Type: num}}}},
	}, OneOf: []OneOf{{
		Fields: []string{"rolling"}, Discriminator: "type",
		Selects: map[string]string{"Rolling": "rolling"}, Fallback: "Rolling", Displaces: true,
	}}}

	thing = &Type{Kind: Object, Fields: map[string]Field{
		"mode": {Type: str, Default: "m"}, "replicas": {Type: num}, "host": {Type: str, ZeroIsAbsent: true}, "on": {Type: str, ZeroIsAbsent: true},
		"labels": {Type: labels, ZeroIsAbsent: true}, "env": {Type: env, ZeroIsAbsent: true},
		"ports": {Type: ports, ZeroIsAbsent: true}, "fin": {Type: set, ZeroIsAbsent: true},
		"args": {Type: atomic, ZeroIsAbsent: true}, "probe": {Type: probe}, "strategy": {Type: strategyType},
		"selector": {Type: &Type{Kind: Map, Atomic: true, Elem: str}}, "ip": {Type: str, Allocated: true},
		"resources": {Type: &Type{Kind: Object, Fields: map[string]Field{
			"limits": {Type: labels}, "requests": {Type: labels},
		}}, ZeroIsAbsent: true},
	}}
)

func read(t testing.TB, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	v, err := ReadJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func show(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func named(t testing.TB, name string) Policy {
	t.Helper()
	p, err := PolicyNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestThree(t *testing.T) {
	for _, c := range []struct {
		reason                string
		original, local, live string
		want                  string
		policy                string // "" is apply
		reported              string // paths reported, as kind:path, joined by spaces
	}{
		{reason: "a value local states wins", original: `{"replicas":1}`, local: `{"replicas":2}`, live: `{"replicas":1}`,
			want: `{"replicas":2}`},
		{reason: "what only live has stays", local: `{"host":"a"}`, live: `{"host":"a","replicas":7}`,
			want: `{"host":"a","replicas":7}`},
		{reason: "what original had and local has not goes", original: `{"replicas":3}`, local: `{}`, live: `{"replicas":3}`,
			want: `{}`, reported: "removed:replicas"},
		{reason: "and is reported as dropped where live had moved", original: `{"replicas":3}`, local: `{}`, live: `{"replicas":10}`,
			want: `{}`, reported: "dropped:replicas"},
		{reason: "null removes what another manager set", local: `{"replicas":null}`, live: `{"replicas":10}`, want: `{}`, reported: "dropped:replicas"},
		{reason: "null clears on create too", local: `{"replicas":null,"labels":{"a":null,"b":"1"}}`, live: ``,
			want: `{"labels":{"b":"1"}}`},
		{reason: "null for a field at its default: the server would put it back", local: `{"mode":null}`, live: `{"mode":"m"}`, want: `{"mode":"m"}`},
		{reason: "null in an atomic list is data", local: `{"args":[null,{"a":null}]}`, live: `{}`, want: `{"args":[null,{"a":null}]}`},
		{reason: "drift goes back, reported", original: `{"host":"a"}`, local: `{"host":"a"}`, live: `{"host":"b"}`,
			want: `{"host":"a"}`, reported: "drift:host"},
		{reason: "the same value on both sides is no disagreement", original: `{"host":"a"}`, local: `{"host":"b"}`, live: `{"host":"b"}`,
			want: `{"host":"b"}`},
		{reason: "the zero of a Go field is its absence", local: `{"host":"","labels":{},"env":[]}`, live: `{}`, want: `{}`},
		{reason: "an allocated field stated as empty is not set", local: `{"ip":""}`, live: `{"ip":"10.0.0.1"}`, want: `{"ip":"10.0.0.1"}`},
		{reason: "and is not ours to remove when it is stated no more", original: `{"ip":""}`, local: `{}`, live: `{"ip":"10.0.0.1"}`, want: `{"ip":"10.0.0.1"}`},
		{reason: "the last own label takes the others' along nowhere", original: `{"labels":{"app":"x"}}`, local: `{}`,
			live: `{"labels":{"app":"x","team":"y"}}`, want: `{"labels":{"team":"y"}}`, reported: "removed:labels.app"},
		{reason: "an emptied map goes itself", original: `{"labels":{"app":"x"}}`, local: `{}`, live: `{"labels":{"app":"x"}}`,
			want: `{}`, reported: "removed:labels.app"},
		{reason: "a removed probe leaves no default behind", original: `{"probe":{"http":{"path":"/"}}}`, local: `{}`,
			live: `{"probe":{"http":{"path":"/","scheme":"HTTP"},"timeout":1}}`, want: `{}`, reported: "removed:probe"},
		{reason: "a removed object leaves the others' map entries", original: `{"resources":{"limits":{"cpu":"1"}}}`, local: `{}`,
			live: `{"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}}}`, want: `{"resources":{"requests":{"cpu":"1"}}}`,
			reported: "removed:resources.limits"},
		{reason: "a dropped list leaves the others' entries", original: `{"env":[{"name":"A","value":"1"}]}`, local: `{}`,
			live: `{"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}`, want: `{"env":[{"name":"B","value":"2"}]}`,
			reported: "removed:env[name=A]"},
		{reason: "a dropped entry goes whole, injected fields too", original: `{"ports":[{"port":80}]}`, local: `{"ports":[]}`,
			live: `{"ports":[{"port":80,"protocol":"TCP","nodePort":30000}]}`, want: `{"ports":[]}`,
			reported: "removed:ports[port=80,protocol=TCP]"},
		{reason: "53/TCP and 53/UDP are two", original: `{"ports":[{"port":53,"protocol":"UDP","name":"u"}]}`,
			local: `{"ports":[{"port":53,"protocol":"TCP","name":"t"},{"port":53,"protocol":"UDP","name":"u"}]}`,
			live:  `{"ports":[{"port":53,"protocol":"UDP","name":"u","nodePort":1}]}`,
			want:  `{"ports":[{"name":"t","port":53,"protocol":"TCP"},{"name":"u","nodePort":1,"port":53,"protocol":"UDP"}]}`},
		{reason: "a key's default is part of the identity", original: `{"ports":[{"port":80,"protocol":"TCP"}]}`, local: `{"ports":[{"port":80}]}`,
			live: `{"ports":[{"port":80,"protocol":"TCP","nodePort":1}]}`, want: `{"ports":[{"nodePort":1,"port":80,"protocol":"TCP"}]}`},
		{reason: "a key that is a number is its value, however it is spelled", original: `{"ports":[{"port":80}]}`, local: `{"ports":[{"port":80.0,"name":"a"}]}`,
			live: `{"ports":[{"port":80,"nodePort":1}]}`, want: `{"ports":[{"name":"a","nodePort":1,"port":80}]}`},
		{reason: "order follows local, live's own stay behind whom they followed", original: `{"env":[{"name":"A"},{"name":"B"}]}`,
			local: `{"env":[{"name":"B"},{"name":"A"}]}`, live: `{"env":[{"name":"A"},{"name":"X"},{"name":"B"}]}`,
			want: `{"env":[{"name":"B"},{"name":"A"},{"name":"X"}]}`},
		{reason: "order that follows local's already is no change", local: `{"env":[{"name":"A"},{"name":"B"}]}`,
			live: `{"env":[{"name":"X"},{"name":"A"},{"name":"Y"},{"name":"B"}]}`,
			want: `{"env":[{"name":"X"},{"name":"A"},{"name":"Y"},{"name":"B"}]}`},
		{reason: "a set's order is no change", local: `{"fin":["b","a"]}`, live: `{"fin":["a","b"]}`, want: `{"fin":["a","b"]}`},
		{reason: "a set gains ours, loses ours, keeps the others'", original: `{"fin":["a","b"]}`, local: `{"fin":["a","c"]}`, live: `{"fin":["a","b","live"]}`,
			want: `{"fin":["a","live","c"]}`, reported: `removed:fin[="b"]`},
		{reason: "a repeated key: one of two cleaned up", original: `{"env":[{"name":"N","value":"1"},{"name":"T"},{"name":"N","value":"1"}]}`,
			local: `{"env":[{"name":"N","value":"1"},{"name":"T"}]}`, live: `{"env":[{"name":"N","value":"1"},{"name":"T"},{"name":"N","value":"1"}]}`,
			want: `{"env":[{"name":"N","value":"1"},{"name":"T"}]}`, reported: "removed:env[name=N]#2"},
		{reason: "a repeated key: a change elsewhere leaves both", original: `{"env":[{"name":"A","value":"1"},{"name":"B","value":"x"},{"name":"A","value":"2"}]}`,
			local: `{"env":[{"name":"A","value":"1"},{"name":"B","value":"y"},{"name":"A","value":"2"}]}`,
			live:  `{"env":[{"name":"A","value":"1"},{"name":"B","value":"x"},{"name":"A","value":"2"}]}`,
			want:  `{"env":[{"name":"A","value":"1"},{"name":"B","value":"y"},{"name":"A","value":"2"}]}`},
		{reason: "a repeated key: another manager's third entry stays", original: `{"env":[{"name":"A","value":"1"}]}`, local: `{"env":[{"name":"A","value":"2"}]}`,
			live: `{"env":[{"name":"A","value":"1"},{"name":"A","value":"5"}]}`, want: `{"env":[{"name":"A","value":"2"},{"name":"A","value":"5"}]}`},
		{reason: "local's variant displaces live's", original: `{"probe":{"http":{"path":"/"}}}`, local: `{"probe":{"exec":{"command":["a"]}}}`,
			live: `{"probe":{"http":{"path":"/","scheme":"HTTP"},"timeout":1}}`, want: `{"probe":{"exec":{"command":["a"]},"timeout":1}}`,
			reported: "removed:probe.http"},
		{reason: "an empty value is a variant where it stands alone", local: `{"env":[{"name":"A","value":""}]}`,
			live: `{"env":[{"name":"A","valueFrom":{"ref":"x"}}]}`, want: `{"env":[{"name":"A"}]}`, reported: "both:env[name=A].valueFrom"},
		{reason: "an empty value beside the other variant is none", local: `{"env":[{"name":"A","value":"","valueFrom":{"ref":"x"}}]}`,
			live: `{"env":[{"name":"A","valueFrom":{"ref":"x"}}]}`, want: `{"env":[{"name":"A","valueFrom":{"ref":"x"}}]}`},
		{reason: "a discriminator displaces the variant it does not select", original: `{}`, local: `{"strategy":{"type":"Recreate"}}`,
			live: `{"strategy":{"type":"Rolling","rolling":{"surge":1}}}`, want: `{"strategy":{"type":"Recreate"}}`,
			reported: "both:strategy.rolling both:strategy.type"},
		{reason: "a dropped discriminator falls back and takes its variant along", original: `{"strategy":{"type":"Recreate"}}`, local: `{"strategy":{}}`,
			live: `{"strategy":{"type":"Recreate","rolling":{"surge":1}}}`, want: `{"strategy":{"rolling":{"surge":1}}}`, reported: "removed:strategy.type"},
		{reason: "an atomic map is one value", original: `{"selector":{"a":"1"}}`, local: `{"selector":{"a":"2"}}`, live: `{"selector":{"a":"1","b":"x"}}`,
			want: `{"selector":{"a":"2"}}`, reported: "both:selector"},
		{reason: "what another manager added inside an atomic value is drift", original: `{"selector":{"a":"1"}}`, local: `{"selector":{"a":"1"}}`,
			live: `{"selector":{"a":"1","default":"x"}}`, want: `{"selector":{"a":"1"}}`, reported: "drift:selector"},
		{reason: "a default inside an atomic value is no change", original: `{"args":[{"a":"1"}]}`, local: `{"args":[{"a":"1"}]}`,
			live: `{"args":[{"a":"1","b":"default"}]}`, want: `{"args":[{"a":"1","b":"default"}]}`},
		{reason: "nor is it where local did not know of it before", local: `{"args":[{"a":"1"}]}`, live: `{"args":[{"a":"1","b":"default"}]}`,
			want: `{"args":[{"a":"1","b":"default"}]}`},
		{reason: "anything else there is one", original: `{"args":[{"a":"1"}]}`, local: `{"args":[{"a":"1"}]}`,
			live: `{"args":[{"a":"1","b":"x"}]}`, want: `{"args":[{"a":"1"}]}`, reported: "drift:args"},
		{reason: "a list that goes on where local's ends is another one", original: `{"args":[{"a":"1"}]}`, local: `{"args":[{"a":"1"}]}`,
			live: `{"args":[{"a":"1"},{"a":"2"}]}`, want: `{"args":[{"a":"1"}]}`, reported: "drift:args"},
		{reason: "null inside an atomic value, where the server has a default", original: `{"args":[{"a":"1","b":null}]}`, local: `{"args":[{"a":"1","b":null}]}`,
			live: `{"args":[{"a":"1","b":"default"}]}`, want: `{"args":[{"a":"1","b":"default"}]}`},
		{reason: "a default that is stated no more stays: it would come back", original: `{"mode":"m"}`, local: `{}`, live: `{"mode":"m"}`, want: `{"mode":"m"}`},
		{reason: "null in a map that live has not", local: `{"labels":{"a":null}}`, live: `{}`, want: `{}`},
		{reason: "a deletion by another manager is drift", original: `{"replicas":3}`, local: `{"replicas":3}`, live: `{}`, want: `{"replicas":3}`, reported: "drift:replicas"},
		{reason: "a field that the server does not have was not deleted", original: `{"else":3}`, local: `{"else":3}`, live: `{}`, want: `{"else":3}`},
		{policy: "live", reason: "what only live has stays with the value that is dropped", original: `{"probe":{}}`, local: `{}`,
			live: `{"probe":{"timeout":5}}`, want: `{"probe":{"timeout":5}}`, reported: "dropped:probe"},
		{reason: "big integers are exact", original: `{"replicas":9007199254740992}`, local: `{"replicas":9007199254740993}`, live: `{"replicas":9007199254740992}`,
			want: `{"replicas":9007199254740993}`},
		{reason: "numbers compare by value", local: `{"replicas":1.0}`, live: `{"replicas":1}`, want: `{"replicas":1}`},

		{policy: "merge3", reason: "unchanged between original and updated: dest stays", original: `{"host":"a"}`, local: `{"host":"a"}`, live: `{"host":"b"}`,
			want: `{"host":"b"}`, reported: "drift:host"},
		{policy: "merge3", reason: "changed: updated wins", original: `{"host":"a"}`, local: `{"host":"c"}`, live: `{"host":"b"}`, want: `{"host":"c"}`, reported: "both:host"},
		{policy: "merge3", reason: "missing from dest, unchanged: stays away", original: `{"host":"a"}`, local: `{"host":"a"}`, live: `{}`, want: `{}`, reported: "drift:host"},
		{policy: "merge3", reason: "missing from dest: the delta is added, with its keys", original: `{"env":[{"name":"A","value":"1"}]}`,
			local: `{"env":[{"name":"A","value":"2"}]}`, live: `{"env":[]}`, want: `{"env":[{"name":"A","value":"2"}]}`, reported: "both:env[name=A].value"},
		{policy: "merge3", reason: "null in dest is cleared", original: `{}`, local: `{}`, live: `{"host":null}`, want: `{}`},
		{policy: "merge3", reason: "dest keeps its order, new entries come last", original: `{}`, local: `{"env":[{"name":"nginx"},{"name":"s2"}]}`,
			live: `{"env":[{"name":"nginx"},{"name":"s1"}]}`, want: `{"env":[{"name":"nginx"},{"name":"s1"},{"name":"s2"}]}`},
		{policy: "diff3", reason: "both moved: a conflict, live stands", original: `{"host":"a"}`, local: `{"host":"c"}`, live: `{"host":"b"}`,
			want: `{"host":"b"}`, reported: "conflict:host"},
		{policy: "diff3", reason: "removed here, changed there: a conflict", original: `{"host":"a"}`, local: `{}`, live: `{"host":"b"}`,
			want: `{"host":"b"}`, reported: "conflict:host"},
		{policy: "strict", reason: "drift alone is a conflict", original: `{"host":"a"}`, local: `{"host":"a"}`, live: `{"host":"b"}`,
			want: `{"host":"b"}`, reported: "conflict:host"},
		{policy: "strict", reason: "a change on one side only is not a conflict", original: `{"host":"a"}`, local: `{"host":"b"}`, live: `{"host":"a","replicas":3}`,
			want: `{"host":"b","replicas":3}`},
		{policy: "live", reason: "live keeps what local dropped", original: `{"replicas":3}`, local: `{}`, live: `{"replicas":10}`,
			want: `{"replicas":10}`, reported: "dropped:replicas"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			policy := c.policy
			if policy == "" {
				policy = "apply"
			}
			in := Triple{Original: read(t, c.original), Local: read(t, c.local), Live: read(t, c.live)}
			before := show(t, []any{in.Original, in.Local, in.Live})
			plan := Three(in, thing, named(t, policy), false)
			if got := show(t, plan.Result); got != c.want {
				t.Errorf("result\n got %s\nwant %s", got, c.want)
			}
			if got := reported(plan); got != c.reported {
				t.Errorf("reported\n got %q\nwant %q", got, c.reported)
			}
			if after := show(t, []any{in.Original, in.Local, in.Live}); after != before {
				t.Errorf("gentle: inputs changed to %s", after)
			}
			sound(t, in.Live, plan)
		})
	}
}

// reported spells what a plan tells, in the order of its lists.
func reported(p Plan) string {
	var out []string
	for _, d := range p.Conflicts {
		out = append(out, "conflict:"+d.Path.String())
	}
	kinds := map[DisagreementKind]string{Drift: "drift", Both: "both", Dropped: "dropped"}
	for _, d := range p.Settled {
		out = append(out, kinds[d.Kind]+":"+d.Path.String())
	}
	for _, r := range p.Removed {
		out = append(out, "removed:"+r.Path.String())
	}
	return strings.Join(out, " ")
}

// sound: replaying the changes forwards gives the result, backwards live.
func sound(t testing.TB, live any, p Plan) {
	t.Helper()
	forth, err := Replay(live, p.Changes)
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	if got, want := show(t, forth), show(t, p.Result); got != want {
		t.Errorf("sound: replay\n got %s\nwant %s", got, want)
	}
	back, err := Replay(p.Result, Reverse(p.Changes))
	if err != nil {
		t.Fatalf("replay backwards: %v", err)
	}
	if got, want := show(t, back), show(t, live); got != want {
		t.Errorf("sound: replay backwards\n got %s\nwant %s", got, want)
	}
}
