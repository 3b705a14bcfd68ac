package yamldoc

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

func TestMark(t *testing.T) {
	const text = "# top\nspec:\n  replicas: 5 # ours\n  template:\n    containers:\n    # the server\n    - name: web\n      image: web:2\n    - {name: side, image: side:1}\n"
	conflict := func(path string, theirs merge.Opt) Conflict {
		p, err := merge.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		return Conflict{Path: p, Theirs: theirs}
	}
	four := merge.Some(json.Number("4"))
	for _, c := range []struct {
		why, text string
		conflicts []Conflict
		want      string
	}{
		{"no conflict, same text", text, nil, text},
		{"a scalar has its line marked, with the comment that each side has", text,
			[]Conflict{conflict("spec.replicas", four)},
			"# top\nspec:\n<<<<<<< ours\n  replicas: 5 # ours\n=======\n  replicas: 4 # theirs\n>>>>>>> theirs\n  template:\n    containers:\n    # the server\n    - name: web\n      image: web:2\n    - {name: side, image: side:1}\n"},
		{"a field that they removed has an empty side", text,
			[]Conflict{conflict("spec.replicas", merge.Opt{})},
			"# top\nspec:\n<<<<<<< ours\n  replicas: 5 # ours\n=======\n>>>>>>> theirs\n  template:\n    containers:\n    # the server\n    - name: web\n      image: web:2\n    - {name: side, image: side:1}\n"},
		{"a field that we removed is marked where it would stand", text,
			[]Conflict{conflict("spec.template.containers[name=web].tag", merge.Some("b"))},
			"# top\nspec:\n  replicas: 5 # ours\n  template:\n    containers:\n    # the server\n    - name: web\n      image: web:2\n<<<<<<< ours\n=======\n      tag: b\n>>>>>>> theirs\n    - {name: side, image: side:1}\n"},
		{"what has no line of its own is marked with the entry around it", text,
			[]Conflict{conflict("spec.template.containers[name=side].image", merge.Some("side:2"))},
			"# top\nspec:\n  replicas: 5 # ours\n  template:\n    containers:\n    # the server\n    - name: web\n      image: web:2\n<<<<<<< ours\n    - {name: side, image: side:1}\n=======\n    - {name: side, image: side:2}\n>>>>>>> theirs\n"},
		{"several in one entry share its markers", text,
			[]Conflict{
				conflict("spec.template.containers[name=side].image", merge.Some("side:2")),
				conflict("spec.template.containers[name=side].tty", merge.Some(true)),
			},
			"# top\nspec:\n  replicas: 5 # ours\n  template:\n    containers:\n    # the server\n    - name: web\n      image: web:2\n<<<<<<< ours\n    - {name: side, image: side:1}\n=======\n    - {name: side, image: side:2, tty: true}\n>>>>>>> theirs\n"},
		{"JSON on one line is marked whole", "{\"a\": 1}\n",
			[]Conflict{conflict("a", four)},
			"<<<<<<< ours\n{\"a\": 1}\n=======\n{\"a\": 4}\n>>>>>>> theirs\n"},
		{"a file without a last newline gets one", "a: 1",
			[]Conflict{conflict("a", four)},
			"<<<<<<< ours\na: 1\n=======\na: 4\n>>>>>>> theirs\n"},
	} {
		t.Run(c.why, func(t *testing.T) {
			m := Marks{
				Type: byName(), Ours: "ours", Theirs: "theirs",
				TheirSide: mustParse(t, []byte("spec:\n  replicas: 4 # theirs\n")),
			}
			m.Type.Fields["template"] = merge.Field{Type: m.Type}
			if got := mustParse(t, []byte(c.text)).Mark(c.conflicts, nil, m); string(got) != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestAssemble(t *testing.T) {
	for _, c := range []struct {
		why, text string
		drop      []int
		change    map[int]string
		add       map[int]string // behind that document, -1 the end
		want      string
	}{
		{why: "nothing to do", text: "a: 1\n---\n# c\nb: 2\n", want: "a: 1\n---\n# c\nb: 2\n"},
		{why: "the first goes", text: "a: 1\n---\nb: 2\n", drop: []int{0}, want: "b: 2\n"},
		{why: "the first goes, its separator stays", text: "---\na: 1\n---\nb: 2\n", drop: []int{0}, want: "---\nb: 2\n"},
		{why: "comments at the top stay", text: "# licence\n\n# about a\na: 1\n---\nb: 2\n", drop: []int{0}, want: "# licence\n\nb: 2\n"},
		{why: "one in the middle goes", text: "a: 1\n---\nb: 2\n--- # c\nc: 3\n", drop: []int{1}, want: "a: 1\n--- # c\nc: 3\n"},
		{why: "the last goes", text: "a: 1\n---\nb: 2", drop: []int{1}, want: "a: 1\n"},
		{why: "all go", text: "a: 1\n---\nb: 2\n", drop: []int{0, 1}, want: ""},
		{why: "one comes at the end", text: "a: 1", add: map[int]string{-1: "b: 2\n"}, want: "a: 1\n---\nb: 2\n"},
		{why: "one comes in between", text: "a: 1\n---\nc: 3\n", add: map[int]string{0: "b: 2\n"}, want: "a: 1\n---\nb: 2\n---\nc: 3\n"},
		{why: "one comes behind one that goes", text: "a: 1\n---\nc: 3\n", drop: []int{0}, add: map[int]string{0: "b: 2\n"}, want: "b: 2\n---\nc: 3\n"},
		{why: "one changes", text: "a: 1\n---\nc: 3\n", change: map[int]string{1: "c: 4\n"}, want: "a: 1\n---\nc: 4\n"},
		{why: "a value on the separator's line", text: "--- {a: 1}\n---\nb: 2\n", drop: []int{0}, want: "---\nb: 2\n"},
		{why: "a document end", text: "a: 1\n...\n---\nb: 2\n", drop: []int{1}, want: "a: 1\n...\n"},
		{why: "CRLF", text: "a: 1\r\n", add: map[int]string{-1: "b: 2\r\n"}, want: "a: 1\r\n---\r\nb: 2\r\n"},
		{why: "a byte order mark", text: "\ufeffa: 1\n---\nb: 2\n", drop: []int{0}, want: "\ufeffb: 2\n"},
	} {
		t.Run(c.why, func(t *testing.T) {
			f, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			texts := map[*Document][]byte{}
			for _, i := range c.drop {
				texts[f.docs[i]] = nil
			}
			for i, s := range c.change {
				texts[f.docs[i]] = []byte(s)
			}
			var add []Addition
			for i, s := range c.add {
				a := Addition{Text: []byte(s)}
				if i >= 0 {
					a.After = f.docs[i]
				}
				add = append(add, a)
			}
			if got := string(f.Assemble(texts, add)); got != c.want {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}
