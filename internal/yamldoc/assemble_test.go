package yamldoc

import "testing"

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
		{why: "one comes behind a literal without a line break", text: "a: |\n  b", add: map[int]string{-1: "b: 2\n"}, want: "a: |-\n  b\n---\nb: 2\n"},
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
