package laws

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

func value(t *testing.T, text string) any {
	t.Helper()
	v, err := merge.ReadJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func deployment(t *testing.T) *merge.Type {
	t.Helper()
	typ, ok := schema.Builtin("apps", "v1", "Deployment")
	if !ok {
		t.Fatal("no type of Deployment")
	}
	return typ
}

// pod is a Deployment with a pod's spec in it.
func pod(spec string) string { return `{"spec":{"template":{"spec":` + spec + `}}}` }

// containers is a pod with containers that have these names.
func containers(names ...string) string {
	var all []string
	for _, n := range names {
		all = append(all, `{"name":"`+n+`","image":"x"}`)
	}
	return pod(`{"containers":[` + strings.Join(all, ",") + `]}`)
}

// TestFinds plants one violation after the other in an outcome: each has to be
// found, and called by the law that it breaks; the lawful outcome breaks none.
func TestFinds(t *testing.T) {
	typ := deployment(t)
	for _, tt := range []struct {
		reason, original, local, live string
		lawful, planted               string
		law                           Law
	}{
		{"a value of local's is missing", `{}`, `{"spec":{"replicas":2}}`, `{"spec":{"replicas":1}}`,
			`{"spec":{"replicas":2}}`, `{"spec":{"replicas":1}}`, Wanted},
		{"an entry of local's is missing", containers("a"), containers("a", "b"), containers("a"),
			containers("a", "b"), containers("a"), Wanted},
		{"an entry is there twice", containers("a"), containers("a"), containers("a"),
			containers("a"), containers("a", "a"), Wanted},
		{"what local gave up is there", `{"spec":{"paused":true}}`, `{"spec":{}}`, `{"spec":{"paused":true,"replicas":1}}`,
			`{"spec":{"replicas":1}}`, `{"spec":{"paused":true,"replicas":1}}`, Gone},
		{"what local has null for is there", `{}`, `{"spec":{"paused":null}}`, `{"spec":{"paused":true,"replicas":1}}`,
			`{"spec":{"replicas":1}}`, `{"spec":{"paused":true,"replicas":1}}`, Gone},
		{"null itself is there", `{}`, `{"spec":{"paused":null}}`, `{"spec":{"replicas":1}}`,
			`{"spec":{"replicas":1}}`, `{"spec":{"paused":null,"replicas":1}}`, Gone},
		{"an entry that local gave up is there", containers("a", "b"), containers("a"), containers("a", "b"),
			containers("a"), containers("a", "b"), Gone},
		{"a key that local gave up is there", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{}}`, `{"metadata":{"labels":{"a":"1","theirs":"1"}}}`,
			`{"metadata":{"labels":{"theirs":"1"}}}`, `{"metadata":{"labels":{"a":"1","theirs":"1"}}}`, Gone},
		{"an empty map is left", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{}}`, `{"metadata":{"labels":{"a":"1"},"generateName":"x"}}`,
			`{"metadata":{"generateName":"x"}}`, `{"metadata":{"labels":{},"generateName":"x"}}`, Gone},
		{"others' key went with the map", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{}}`, `{"metadata":{"labels":{"a":"1","theirs":"1"}}}`,
			`{"metadata":{"labels":{"theirs":"1"}}}`, `{"metadata":{}}`, Kept},
		{"others' key went from inside an empty one", `{"metadata":{"labels":{}}}`, `{"metadata":{}}`, `{"metadata":{"labels":{"theirs":"1"}}}`,
			`{"metadata":{"labels":{"theirs":"1"}}}`, `{"metadata":{"labels":{}}}`, Kept},
		{"others' entry went", containers("a"), containers("a"), containers("a", "theirs"),
			containers("a", "theirs"), containers("a"), Kept},
		{"others' value changed", `{}`, `{"spec":{"paused":true}}`, `{"spec":{"replicas":3}}`,
			`{"spec":{"paused":true,"replicas":3}}`, `{"spec":{"paused":true,"replicas":1}}`, Kept},
		{"live's spelling changed", `{}`, pod(`{"containers":[{"name":"a","resources":{"limits":{"cpu":"1000m"}}}]}`), pod(`{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}`),
			pod(`{"containers":[{"name":"a","resources":{"limits":{"cpu":"1"}}}]}`), pod(`{"containers":[{"name":"a","resources":{"limits":{"cpu":"1000m"}}}]}`), Kept},
		{"both variants are there", `{}`, pod(`{"volumes":[{"name":"v","emptyDir":{}}]}`), pod(`{"volumes":[{"name":"v","hostPath":{"path":"/x"}}]}`),
			pod(`{"volumes":[{"name":"v","emptyDir":{}}]}`), pod(`{"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/x"}}]}`), OneOf},
		{"local's order is not kept", containers("a", "b"), containers("b", "a"), containers("a", "b"),
			containers("b", "a"), containers("a", "b"), Order},
		{"others' entry moved", containers("a", "b"), containers("a", "b"), containers("a", "theirs", "b"),
			containers("a", "theirs", "b"), containers("a", "b", "theirs"), Order},
	} {
		in := merge.Triple{Original: value(t, tt.original), Local: value(t, tt.local), Live: value(t, tt.live)}
		if found := (Merge{in, typ, value(t, tt.lawful)}).Breaches(); len(found) > 0 {
			t.Errorf("%s: the lawful outcome is said to break %v", tt.reason, found)
		}
		if found := (Merge{in, typ, value(t, tt.planted)}).Breaches(); !breaks(found, tt.law) {
			t.Errorf("%s: found %v, want %s", tt.reason, found, tt.law)
		}
	}
}

// TestMootInEntries: of a list's entries that only live has, what the result's type of Service makes
// moot may be removed, and nothing else.
func TestMootInEntries(t *testing.T) {
	typ, ok := schema.Builtin("", "v1", "Service")
	if !ok {
		t.Fatal("no type of Service")
	}
	merged := Merge{Type: typ, Triple: merge.Triple{
		Original: value(t, `{"spec":{"type":"NodePort"}}`),
		Local:    value(t, `{"spec":{}}`),
		Live:     value(t, `{"spec":{"type":"NodePort","ports":[{"port":1,"name":"a","nodePort":30001}]}}`),
	}}
	for ports, lawful := range map[string]bool{
		`[{"port":1,"name":"a"}]`:                  true,
		`[{"port":1,"name":"a","nodePort":30001}]`: true,
		`[{"port":1,"nodePort":30001}]`:            false,
		`[{"port":1}]`:                             false,
	} {
		merged.Result = value(t, `{"spec":{"ports":`+ports+`}}`)
		if found := merged.Breaches(); breaks(found, Kept) == lawful {
			t.Errorf("%s: %v", ports, found)
		}
	}
}

func breaks(found []Breach, law Law) bool {
	return slices.ContainsFunc(found, func(b Breach) bool { return b.Law == law })
}

// TestHoldFinds plants violations in an engine.
func TestHoldFinds(t *testing.T) {
	typ := deployment(t)
	fresh := func() merge.Triple {
		return merge.Triple{
			Original: value(t, `{"metadata":{"labels":{"a":"1","gone":"1"}},"spec":{"replicas":1}}`),
			Local:    value(t, `{"metadata":{"labels":{"a":"1"}},"spec":{"replicas":2}}`),
			Live:     value(t, `{"metadata":{"labels":{"a":"1","gone":"1"}},"spec":{"replicas":3}}`),
		}
	}
	if _, found := Hold(Three(typ), fresh(), typ); len(found) > 0 {
		t.Fatalf("the engine itself: %v", found)
	}
	set := func(m any, name string, v any) { m.(map[string]any)[name] = v }
	calls := 0
	for _, tt := range []struct {
		reason string
		law    Law
		spoil  func(in merge.Triple, policy string, p *merge.Plan)
	}{
		{"a second merge still has something to do", Settled, func(in merge.Triple, _ string, p *merge.Plan) {
			if merge.Equal(in.Original, in.Local, typ) {
				p.Changes = append(p.Changes, merge.Change{Path: merge.Path{merge.Named("spec")}, Op: merge.OpSet})
			}
		}},
		{"under merge3 a local that changed nothing changes live", Wanted, func(_ merge.Triple, policy string, p *merge.Plan) {
			if policy == "merge3" {
				p.Changes = append(p.Changes, merge.Change{Path: merge.Path{merge.Named("spec")}, Op: merge.OpSet})
			}
		}},
		{"a change is left out of the list", Sound, func(_ merge.Triple, _ string, p *merge.Plan) { p.Changes = p.Changes[:max(len(p.Changes)-1, 0)] }},
		{"local is written to", Gentle, func(in merge.Triple, _ string, _ *merge.Plan) { set(in.Local, "kind", "other") }},
		{"live is written to", Gentle, func(in merge.Triple, _ string, _ *merge.Plan) { set(in.Live, "kind", "other") }},
		{"it comes out another way each time", Same, func(_ merge.Triple, _ string, p *merge.Plan) {
			calls++
			p.Removed = append(p.Removed, make([]merge.Removal, calls)...)
		}},
		{"a removal is not reported", Told, func(_ merge.Triple, _ string, p *merge.Plan) { p.Removed = nil }},
		{"an overwritten value is not reported", Told, func(_ merge.Triple, _ string, p *merge.Plan) { p.Settled = nil }},
	} {
		spoilt := func(in merge.Triple, policy string) (merge.Plan, error) {
			p, err := Three(typ)(in, policy)
			tt.spoil(in, policy, &p)
			return p, err
		}
		if _, found := Hold(spoilt, fresh(), typ); !breaks(found, tt.law) {
			t.Errorf("%s: found %v, want %s", tt.reason, found, tt.law)
		}
	}
}
