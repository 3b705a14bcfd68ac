package yamldoc

import (
	"strings"
	"testing"
)

// TestItems: every entry is a document of its own, and putting all of them back as they
// are gives the same text.
func TestItems(t *testing.T) {
	for name, text := range map[string]string{
		"block":          "kind: List\nitems:\n- a: 1\n  b: |\n    x\n\n      y\n  # below\n- c: 2 # behind\n",
		"deeper":         "items:\n    -   a: 1\n        b: {c: 1} # x\n\n    # above\n    - d\nlast: 1\n",
		"own line":       "items:\n-\n  a: 1\n  b: 2\n- c: 3\n",
		"folded quotes":  "items:\n- a: \"x\n    y\"\n  b: 'p\n\n    q'\n- c\n",
		"json":           "{\n  \"items\": [\n    {\n      \"a\": 1\n    },\n    {\"b\": 2}\n  ]\n}\n",
		"one line":       "items: [{a: 1}, {b: [2]}]\n",
		"windows":        "items:\r\n- a: 1\r\n  b: 2\r\n- c: 3\r\n",
		"no last break":  "items:\n- a: 1\n- b: 2",
		"second in file": "items:\n- a: 1\n  b: |\n    x\n",
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			d := f.Documents()[0]
			docs, err := d.Items("items", nil)
			if err != nil {
				t.Fatal(err)
			}
			var items []Item
			for i, item := range docs {
				if want := d.list("items").entries[i].value.value; !exact(item.Value(), want) {
					t.Errorf("entry %d holds %v, want %v", i, item.Value(), want)
				}
				items = append(items, Item{Was: i, Doc: item.Text()})
			}
			marked, plain, err := d.WithItems("items", items)
			if err != nil || string(plain) != text || string(marked) != text {
				t.Errorf("%v\n%s\nwant\n%s", err, plain, text)
			}
		})
	}
}

// TestItemsLines: an entry's lines are those of the text it stands in.
func TestItemsLines(t *testing.T) {
	f, err := Parse([]byte("# head\nkind: List\nitems:\n- a: 1\n- b: 2\n  c: 3\n"))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := f.Documents()[0].Items("items", nil)
	if err != nil || len(docs) != 2 || docs[1].Line() != 5 {
		t.Fatalf("%v: %d entries", err, len(docs))
	}
}

// TestItemsNear: comments above empty lines are an entry's if they are named, up to one that is not.
func TestItemsNear(t *testing.T) {
	f, err := Parse([]byte("items: # a\n# z\n# a\n\n- a: 1\n  # a\n\n# b\n# a\n\n# own\n- b: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	docs, err := f.Documents()[0].Items("items", map[string]int{" a": 1, " b": 1})
	if err != nil || string(docs[0].Text()) != "# a\n\na: 1\n# a\n" || string(docs[1].Text()) != "# b\n# a\n\n# own\nb: 2\n" {
		t.Errorf("%v: %q, %q", err, docs[0].Text(), docs[1].Text())
	}
}

// TestItemsAlias: an entry that is nothing without another one is an error with its line.
func TestItemsAlias(t *testing.T) {
	f, err := Parse([]byte("items:\n- &a {x: 1}\n- y: *a\n"))
	if err != nil {
		t.Fatal(err)
	}
	if docs, err := f.Documents()[0].Items("items", nil); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%d entries, %v", len(docs), err)
	}
}

// TestItemsMissing: a field that is no list has no items.
func TestItemsMissing(t *testing.T) {
	for _, text := range []string{"", "a: 1\n", "items: {a: 1}\n", "[1]\n"} {
		f, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if docs, err := f.Documents()[0].Items("items", nil); docs != nil || err != nil {
			t.Errorf("%q: %v, %v", text, docs, err)
		}
	}
}
