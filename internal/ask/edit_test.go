package ask

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMap: one answer decides about a value whose type the sides disagree on, with all that
// is below it.
func TestMap(t *testing.T) {
	const widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: shop}\n"
	liveText := strings.NewReplacer("apiVersion: v1", "apiVersion: example.com/v1", `"apiVersion":"v1"`, `"apiVersion":"example.com/v1"`).
		Replace(saved("Widget", "w", `{"a":{"x":1,"z":1}}`, `{a: {x: 2, z: 1}}`))
	for _, tt := range []struct {
		answers []string
		want    string
	}{
		{[]string{"l", ""}, `{"a":"text"}`},
		{[]string{"v", ""}, `{"a":{"x":2,"z":1}}`},
		{[]string{"o"}, `{"a":{"x":1,"z":1}}`},
		{[]string{"e", "{x: 5, z: 6}"}, `{"a":{"x":5,"z":6}}`},
	} {
		s := setup(t, widget+"data: {a: text}\n", liveText, tt.answers...)
		if err := s.settle(t, ""); err != nil || Needed(s.plan) {
			t.Errorf("%q: %v, still open: %s", tt.answers, err, s.plan.Items[0].Reason())
		}
		if d := cmp.Diff(tt.want, asJSON(t, s.data(0))); d != "" {
			t.Errorf("%q: %s", tt.answers, d)
		}
	}
}

// TestSecret: a Secret's value is typed unseen, as text, and nothing of the three values or
// of the typed one is printed. What was applied last cannot be offered: it is not stored.
func TestSecret(t *testing.T) {
	const local = "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: shop}\nstringData: {password: correct-horse}\n"
	live := saved("Secret", "login", `{"password":""}`, "{password: dGhlaXJz}")
	live = strings.Replace(live, `"annotations":{}`, `"annotations":{"merge.kubectl/blanked":"secret"}`, 1)
	s := setup(t, local, live, "d", "e", "", "e", "5: [not yaml", "")
	if err := s.settle(t, ""); err != nil {
		t.Fatal(err)
	}
	if q := s.keys.asked[0]; !strings.Contains(q, "[l,v,e,d,s,q,?]") {
		t.Errorf("asked %s", q)
	}
	if !slices.Contains(s.keys.asked, "hidden: Value (as text, not shown; empty: back): ") {
		t.Errorf("typed in plain sight: %q", s.keys.asked)
	}
	if d := cmp.Diff(map[string]any{"password": "NTogW25vdCB5YW1s"}, s.data(0)); d != "" {
		t.Error(d)
	}
	for _, value := range []string{"correct-horse", "Y29ycmVjdC1ob3JzZQ", "dGhlaXJz", "theirs", "not yaml", "NTogW25vdCB5YW1s"} {
		if strings.Contains(s.out.String(), value) {
			t.Errorf("%q was printed:\n%s", value, s.out.String())
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
