package source

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-merge/kubectl-merge/internal/object"
)

// inOnePiece reads a file as parse does, but no list item by item.
func inOnePiece(name, text string) ([]object.Object, []error) {
	chunks, err := split(text)
	if err != nil {
		return nil, []error{err}
	}
	p := parser{file: name, keep: func(o object.Object) (object.Object, bool) { return o, true }}
	for _, c := range chunks {
		docs, err := c.documents(&p.reader)
		for _, d := range docs {
			p.document(d)
		}
		if err != nil {
			p.errs = append(p.errs, p.advise(c, err))
		}
	}
	return p.objects, p.errs
}

// TestLists reads lists item by item, which is to come to what reading them in one
// piece does: the same objects at the same places, or the same errors.
func TestLists(t *testing.T) {
	pod := func(name string) string {
		return "apiVersion: v1\n  kind: Pod\n  metadata:\n    name: " + name + "\n"
	}
	for _, tt := range []struct {
		reason, text string
		again        bool // its items are read again, in one piece
		objects      int
	}{
		{"as kubectl get prints it", "apiVersion: v1\nitems:\n- " + pod("a") + "- " + pod("b") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n", false, 2},
		{"as JSON, kind behind the items", `{"apiVersion": "v1", "items": [` + "\n" + `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a]}"}},` + "\n" + `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}], "kind": "List"}`, false, 2},
		{"JSON lists, one after the other", strings.Repeat(`{"kind": "List", "apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}]}`+"\n", 3), false, 3},
		{"indented entries, and comments in between", "# all\nkind: List\napiVersion: v1\nitems:\n# first\n  - apiVersion: v1\n    kind: Pod\n    metadata: {name: a}\n# second\n\n  -\n    apiVersion: v1\n    kind: Pod\n    metadata: {name: b}\n", false, 2},
		{"a list of one kind", "kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n", false, 2},
		{"a list in a list", "kind: List\napiVersion: v1\nitems:\n- kind: List\n  apiVersion: v1\n  items:\n  - " + strings.ReplaceAll(pod("a"), "\n", "\n  ") + "\n", false, 1},
		{"a text with dashes in their column further in", "kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n  data:\n    k: |\n      - x\n\n      # no comment\n     # a comment\n    l: |+\n      end\n\n\n- " + pod("b"), false, 2},
		{"CRLF", strings.ReplaceAll("kind: List\napiVersion: v1\nitems:\n- "+pod("a")+"- "+pod("b"), "\n", "\r\n"), false, 2},
		{"several documents", "kind: List\napiVersion: v1\nitems:\n- " + pod("a") + "---\nkind: List\napiVersion: v1\nitems:\n- " + pod("b"), false, 2},
		{"an item that is no object: both say so", "kind: List\napiVersion: v1\nitems:\n- " + pod("a") + "- 5\n- {kind: Pod}\n", false, 1},

		{"an anchor in one item and its alias in the next", "kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: &m {name: a}\n- apiVersion: v1\n  kind: Service\n  metadata: *m\n", false, 2},
		{"an anchor before the items", "kind: &k List\napiVersion: &v v1\nitems:\n- apiVersion: *v\n  kind: Pod\n  metadata: {name: a}\n", false, 1},
		{"a quoted text that goes on where items begin", "kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a, labels: {l: \"x\n- y\"}}\n", false, 1},
		{"flow style", "kind: List\napiVersion: v1\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]\n", false, 1},
		{"items within a text", "kind: List\napiVersion: v1\nitems: []\nnote: \"\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n\"\n", false, 0},
		{"items within brackets", "kind: List\napiVersion: v1\nitems: [\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n]\n", false, 0},
		{"two items on what is one line but to some readers: refused", "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\r- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n", false, 0},
		{"JSON and a comma", `{"kind": "List", "apiVersion": "v1", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}]},`, true, 0},
		{"items given twice", "kind: List\napiVersion: v1\nitems:\n- " + pod("a") + "items:\n- " + pod("b"), true, 0},
		{"items given twice in JSON", `{"kind": "List", "apiVersion": "v1", "items": [{"a": 1}], "items": [{"b": 1}]}`, false, 0},
		{"a key given twice in an item", "kind: List\napiVersion: v1\nitems:\n- " + pod("a") + "- " + pod("b") + "  kind: Pod\n", true, 0},
		{"items of what is no list", "kind: Playlist2\napiVersion: example.com/v1\nmetadata: {name: a}\nitems:\n- one\n- two\n", false, 1},
		{"items of what is no list, in JSON", `{"kind": "Menu", "apiVersion": "example.com/v1", "metadata": {"name": "a"}, "items": [1, 2]}`, false, 1},
	} {
		chunks, err := split(tt.text)
		if err != nil {
			t.Fatalf("%s: %v", tt.reason, err)
		}
		kept := 0
		p := parser{file: "list.yaml", keep: func(o object.Object) (object.Object, bool) { kept++; return o, true }}
		for _, c := range chunks {
			p.chunk(c, object.Object{})
		}
		if again := kept > len(p.objects); again != tt.again {
			t.Errorf("%s: read again: %t, want %t", tt.reason, again, tt.again)
		}
		got := same(t, tt.reason, tt.text)
		if len(got) != tt.objects {
			t.Errorf("%s: %d objects, want %d", tt.reason, len(got), tt.objects)
		}
	}
}

// same compares what a file's list items come to by themselves and in one piece.
func same(t *testing.T, reason, text string) []object.Object {
	t.Helper()
	want, errs := inOnePiece("list.yaml", text)
	got, err := Parse("list.yaml", []byte(text))
	if len(errs) == 0 && err != nil || len(errs) > 0 && (err == nil || !strings.Contains(err.Error(), errs[0].Error())) {
		t.Errorf("%s: item by item: %v; in one piece: %v", reason, err, errs)
	}
	if d := cmp.Diff(places(want), places(got)); d != "" {
		t.Errorf("%s (-in one piece +item by item):\n%s", reason, d)
	}
	return got
}

// places are objects with where they stand.
func places(objects []object.Object) []string {
	all := make([]string, len(objects))
	for i, o := range objects {
		all[i] = fmt.Sprintf("%s: %v", o.Origin, o.Value)
	}
	return all
}

// TestListItemLines: errors and notes name the line of the item.
func TestListItemLines(t *testing.T) {
	for reason, text := range map[string]string{
		"YAML": "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: b}\n",
		"JSON": "{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [\n\n\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}},\n\n{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"b\"}}]}",
	} {
		objects, err := Parse("list", []byte(text))
		if err != nil || len(objects) != 2 || objects[0].Origin.Line != 4 || objects[1].Origin.Line != 6 {
			t.Errorf("%s: %+v, %v; want lines 4 and 6", reason, objects, err)
		}
	}
}

// TestListsAreStreamed: of a list no more is in memory at once than its text, what
// is kept, and one item. Read whole, the trees of YAML and of JSON take many times the
// text.
func TestListsAreStreamed(t *testing.T) {
	const items = 4000
	yaml := "apiVersion: v1\nitems:\n" + strings.Repeat("- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n  data:\n"+strings.Repeat("    key: value\n", 1)+"    list: |\n"+strings.Repeat("      x\n", 200), items) + "kind: List\n"
	json := `{"apiVersion": "v1", "items": [` + strings.TrimSuffix(strings.Repeat(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "x": [`+strings.Repeat("1,", 500)+"1]},\n", items), ",\n") + `], "kind": "List"}`
	for reason, text := range map[string]string{"YAML": yaml, "JSON": json} {
		var most int64
		n := 0
		before := heap()
		objects, err := (&parser{file: "list", keep: func(o object.Object) (object.Object, bool) {
			if n++; n%500 == 0 {
				most = max(most, heap()-before)
			}
			return o, n%1000 == 0
		}}).parse(text)
		if err != nil || len(objects) != items/1000 {
			t.Fatalf("%s: %d objects, %v", reason, len(objects), err)
		}
		if most > int64(len(text)) {
			t.Errorf("%s: %d bytes of text took %d more while they were read", reason, len(text), most)
		}
		runtime.KeepAlive(text)
	}
}

// heap is how much is in use: what other tests have left in pools is freed by the second collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestManyBombs: what aliases may add is bounded for a file, and not anew for each of its
// documents or items; a document without any is read whatever others do.
func TestManyBombs(t *testing.T) {
	bomb := "a: &a [" + strings.Repeat("x,", 1000) + "]\n  b: [" + strings.Repeat("*a,", 600) + "]\n"
	for reason, sep := range map[string]string{"documents": "---\n  ", "items": "- "} {
		text := "kind: List\napiVersion: v1\nitems:\n" + strings.Repeat(sep+bomb, 10)
		if sep[0] == '-' && sep[1] == '-' {
			text = strings.Repeat(strings.ReplaceAll(sep+bomb, "\n  ", "\n"), 10) + "---\n" + named("after")
		}
		_, err := Parse("bombs", []byte(text))
		if err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%s: %v", reason, err)
		}
		if reason == "documents" && strings.Count(err.Error(), "bombs: ") < 9 {
			t.Errorf("%s: %v", reason, clip(err.Error()))
		}
	}
	objects, _ := Parse("bombs", []byte(strings.Repeat(strings.ReplaceAll("---\n"+bomb, "\n  ", "\n"), 10)+"---\n"+named("after")))
	if len(objects) != 1 || objects[0].Name() != "after" {
		t.Errorf("the document after them was read as %v", objects)
	}
}
