package merge

import (
	"encoding/json"
	"reflect"
	"testing"
	"unsafe"
)

// TestDetached: copies are equal, and share no memory with the text that was read.
func TestDetached(t *testing.T) {
	text := []byte(`{"a": ["b", 1.50, null, true, {"c": "", "d": {}}], "e": "f"}`)
	v, err := ReadJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	got := Detached(v)
	if !reflect.DeepEqual(got, v) {
		t.Errorf("got %v, want %v", got, v)
	}
	was, is := texts(v), texts(got)
	for s := range was {
		if len(s) > 0 && is[s] == was[s] {
			t.Errorf("%q is still a part of what was read", s)
		}
	}
	if opt := (Opt{}).Detached(); opt != (Opt{}) {
		t.Errorf("nothing becomes %v", opt)
	}
	p, err := ParsePath("spec.containers[name=a].args[\"x\"].b")
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Detached(); !reflect.DeepEqual(d, p) || &d[0] == &p[0] || unsafe.StringData(d[0].Name) == unsafe.StringData(p[0].Name) {
		t.Errorf("%v becomes %v", p, d)
	}
	if Path(nil).Detached() != nil {
		t.Error("no path becomes one")
	}
	o := Owner{Manager: "a", Operation: "Update", Subresource: "scale"}
	if d := o.Detached(); d != o || unsafe.StringData(d.Manager) == unsafe.StringData(o.Manager) {
		t.Errorf("%v becomes %v", o, d)
	}
}

// texts are where the texts of a value are in memory.
func texts(v any) map[string]*byte {
	out := map[string]*byte{}
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			out[name] = unsafe.StringData(name)
			for s, at := range texts(e) {
				out[s] = at
			}
		}
	case []any:
		for _, e := range v {
			for s, at := range texts(e) {
				out[s] = at
			}
		}
	case string:
		out[v] = unsafe.StringData(v)
	case json.Number:
		out[string(v)] = unsafe.StringData(string(v))
	}
	return out
}
