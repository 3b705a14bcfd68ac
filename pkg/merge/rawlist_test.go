package merge

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestSplitList(t *testing.T) {
	for _, tt := range []struct {
		reason, text string
		want         []RawItem
		ok           bool
	}{
		{"two objects, and space", ` { "kind" : "L" , "items" : [ {"metadata":{"labels":{"name":"x"},"name":"a","namespace":"n"},"b":"}]"} , {"c":1,"metadata":{"name":"d\n"}} ] , "metadata" : {"continue":"z"} } `,
			[]RawItem{{[]byte(`{"metadata":{"labels":{"name":"x"},"name":"a","namespace":"n"},"b":"}]"}`), "a", "n"}, {[]byte(`{"c":1,"metadata":{"name":"d\n"}}`), "d\n", ""}}, true},
		{"no objects", `{"metadata":{"continue":"z"},"items":[]}`, nil, true},
		{"null", `{"metadata":{"continue":"z"},"items":null}`, nil, true},
		{"a quote behind a backslash", `{"metadata":{"continue":"z"},"items":[{"a":"\\\"{","metadata":null}]}`, []RawItem{{[]byte(`{"a":"\\\"{","metadata":null}`), "", ""}}, true},
		{"an entry that is no object", `{"items":[7]}`, nil, false},
		{"no object", `[]`, nil, false},
		{"cut off", `{"metadata":{"continue":"z"},"items":[{"a":1`, nil, false},
		{"cut off in a string", `{"items":[{"a":"\`, nil, false},
		{"more behind it", `{"items":[]}x`, nil, false},
		{"nothing", ``, nil, false},
	} {
		l, ok := SplitList([]byte(tt.text))
		if ok != tt.ok || ok && (!reflect.DeepEqual(l.Items, tt.want) || l.Metadata["continue"] != "z") {
			t.Errorf("%s: %+v, %t", tt.reason, l, ok)
		}
	}
}

// FuzzSplitList: what the library reads as a list of objects is taken apart as it has it.
func FuzzSplitList(f *testing.F) {
	f.Add([]byte(`{"metadata":{"continue":"z"},"items":[{"metadata":{"name":"a","namespace":"n"},"b":[{"c":"\""}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var want struct {
			Items []map[string]any `json:"items"`
		}
		l, ok := SplitList(text)
		if !ok || json.Unmarshal(text, &want) != nil || len(want.Items) != len(l.Items) {
			return
		}
		for i, item := range l.Items {
			if got, err := ReadJSON(item.Text); err != nil || got == nil {
				t.Errorf("%q: entry %d is %q: %v", text, i, item.Text, err)
			}
		}
	})
}
