package merge

import "testing"

// TestFirst: the order is that of names and entries, outer values before those in them.
func TestFirst(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"a":1}`, ""},
		{`null`, "."},
		{`[null,{"a":null}]`, "[1].a"},
		{`{"b":null,"a":{"x":[{"y":1},{"z":null}],"w":2}}`, "a.x[1].z"},
		{`{"b":{"c":null},"c":null,"d":null}`, "b.c"},
	} {
		v, err := ReadJSON([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		at, found := First(v, func(s Step, v any) bool { return v == nil && s.Kind == FieldStep })
		if got := at.String(); found != (tt.want != "") || found && got != tt.want {
			t.Errorf("%s: %s, %t; want %q", tt.text, got, found, tt.want)
		}
	}
}

// TestRebuilt: what stays is the same memory, and v is not modified.
func TestRebuilt(t *testing.T) {
	upper := func(v any) any {
		if v == "a" {
			return "A"
		}
		return v
	}
	for _, v := range []any{map[string]any{"k": "b"}, []any{"b", nil}, map[string]any(nil), []any{}, "a", nil} {
		if got := Rebuilt(v, upper); !shared(got, v) {
			t.Errorf("%v became %v", v, got)
		}
	}
	m, l := map[string]any{"k": "a", "l": "b"}, []any{"a", "b"}
	if got := Rebuilt(m, upper); !Identical(got, map[string]any{"k": "A", "l": "b"}) || m["k"] != "a" {
		t.Errorf("%v of %v", got, m)
	}
	if got := Rebuilt(l, upper); !Identical(got, []any{"A", "b"}) || l[0] != "a" {
		t.Errorf("%v of %v", got, l)
	}
}
