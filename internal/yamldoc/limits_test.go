package yamldoc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// soon fails a test whose work is not done in time. The bound is a hundred times what the
// work needs, and far below what it would take if it were not linear.
func soon(t *testing.T, what string, work func()) {
	t.Helper()
	start := time.Now()
	work()
	if took := time.Since(start); took > 5*time.Minute {
		t.Errorf("%s took %v", what, took)
	}
}

func TestHostile(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for _, c := range []struct{ why, text, problem string }{
		{"a bomb of aliases", bomb, "aliases spell out"},
		{"a bomb of merge keys", "a: &a {x: 1}\n" + strings.Repeat("b: &a {<<: [*a, *a], y: *a}\n", 1), ""},
		{"a long text, repeated", "a: &a " + strings.Repeat("x", 1_000_000) + "\nb: [" + strings.Repeat("*a, ", 20_000) + "*a]\n", "aliases spell out"},
		{"merge keys of a large mapping", "a: &a {" + strings.Repeat("k", 10) + manyEntries(2000) + "}\nb:\n" + strings.Repeat("- {<<: *a, z: 1}\n", 2000), "aliases spell out"},
		{"an endless chain of aliases", "a: &a {b: *a}\n", "contains itself"},
		{"brackets without end", strings.Repeat("[", 1_000_000), "nested more than"},
		{"braces without end", strings.Repeat("{a: ", 1_000_000), "nested more than"},
		{"dashes without end", strings.Repeat("- ", 1_000_000), "nested more than"},
		{"ever deeper", deeper(20_000), "nested more than"},
		{"anchors without end", strings.Repeat("&a ", 100_000) + "x", ""},
		{"a very long key", strings.Repeat("k", 10_000_000) + ": 1\n", "a key may be"},
		{"a quote that does not end", "a: \"" + strings.Repeat("x\n", 5_000_000), "not closed"},
		{"not UTF-8", "a: " + strings.Repeat("x", 1000) + "\xff", "UTF-8"},
		{"UTF-16", "\xff\xfea\x00:\x00", "UTF-8"},
		{"terminal escapes", "a: \x1b[2J\n", "control character"},
		{"tabs", "a:\n\tb: 1\n", "tab"},
		{"a conflict that git has left", "a:\n<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> other\n", "line 2: a conflict marker"},
		{"a conflict about the first line", "<<<<<<< HEAD\napiVersion: v1\n=======\napiVersion: v2\n>>>>>>> other\nkind: A\n", "line 1: a conflict marker"},
		{"a block of text where a key is expected", "a: 1\n>-\n  b\n", "line 2: expected a key, a colon and a space"},
		{"a conflict about the first line of a list", "- <<<<<<< HEAD\n  a: b\n", "expected a key, a colon and a space"},
	} {
		soon(t, c.why, func() {
			_, err := Parse([]byte(c.text))
			if c.problem == "" {
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: %v, not %q", c.why, err, c.problem)
			} else if len(err.Error()) > 200 {
				t.Errorf("%s: the error is %d bytes long", c.why, len(err.Error()))
			}
		})
	}
}

func manyEntries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ": 1, k%d", i)
	}
	return b.String()
}

func deeper(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i))
		b.WriteString("a:\n")
	}
	return b.String()
}

// TestLarge edits texts of some MB in which very much changes, laid out in ways that
// cost a naive editor its square.
func TestLarge(t *testing.T) {
	const n = 50_000
	build := func(head, line, tail string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		b.WriteString(tail)
		return b.String()
	}
	for _, c := range []struct{ why, text string }{
		{"a list", build("a:\n", "- value number %d is this long text here\n", "")},
		{"a mapping", build("a:\n", "  key%d: is this long text here, quite a bit\n", "")},
		{"JSON on one line", build(`{"a": {"b": 0`, `, "key%d": "is this long text here"`, "}}\n")},
		{"a JSON list on one line", build(`{"a": [0`, `, "value %d is this long text here"`, "]}\n")},
		{"nothing but comments", build("a: 1\n", "# comment %d is this long text here, and longer\n", "b: [1]\n")},
		{"a literal", build("a: |\n", "  line %d is this long text here, and longer\n", "b: 1\n")},
		{"entries with comments", build("a:\n", "# about it\n- name: n%d # note\n", "")},
	} {
		soon(t, c.why, func() {
			f, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			d := f.docs[0]
			want := everyThird(d.value, 0)
			out, err := d.Edit(Edit{Want: want, Sources: []*Document{d}, Comments: true})
			if err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			if bytes.Equal(out, []byte(c.text)) {
				t.Errorf("%s: nothing has changed", c.why)
			}
		})
	}
}

// everyThird changes, takes out and puts in every third entry of what is large.
func everyThird(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		i := 0
		for _, k := range orderOf(v, nil, nil) {
			switch i++; {
			case len(v) < 100:
				m[k] = everyThird(v[k], depth+1)
			case i%3 == 0:
				m[k] = "changed"
			case i%3 == 1:
				m[k] = v[k]
			default:
				m["new"+k] = v[k]
			}
		}
		return m
	case []any:
		var l []any
		for i, e := range v {
			switch {
			case i%3 == 0 || len(v) < 100:
				l = append(l, e, "new")
			case i%3 == 1:
				l = append(l, "changed")
			}
		}
		return l
	case string:
		return v + "changed\n"
	}
	return v
}
