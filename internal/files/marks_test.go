package files

import (
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// TestMarkers: what both sides have changed stands between markers as each side has it, and
// nothing else does.
func TestMarkers(t *testing.T) {
	const head, tail = "kind: W\nmetadata: {name: w}\nspec:\n", "  list:\n  # the server\n  - name: web\n    image: web:1\n  - {name: side, image: side:1}\n"
	for _, c := range []struct{ why, base, ours, theirs, want string }{
		{
			"a scalar has its line marked, with the comment that each side has",
			head + "  n: 3\n" + tail, head + "  n: 5 # ours\n" + tail, head + "  n: 4 # theirs\n" + tail,
			head + "<<<<<<< dest\n  n: 5 # ours\n=======\n  n: 4 # theirs\n>>>>>>> updated\n" + tail,
		},
		{
			"a field that updated has removed has an empty side",
			head + "  n: 3\n" + tail, head + "  n: 5\n" + tail, head + tail,
			head + "<<<<<<< dest\n  n: 5\n=======\n>>>>>>> updated\n" + tail,
		},
		{
			"a field that dest has removed is marked where updated has it",
			head + "  n: 3\n" + tail, head + tail, head + "  n: 5\n" + tail,
			head + "<<<<<<< dest\n=======\n  n: 5\n>>>>>>> updated\n" + tail,
		},
		{
			"a field that both add in other places is marked with what stands between",
			head + "  a: {}\n  z: {}\n", head + "  n: 1\n  a: {}\n  z: {}\n", head + "  a: {}\n  z: {}\n  n: 2\n",
			head + "<<<<<<< dest\n  n: 1\n  a: {}\n  z: {}\n=======\n  a: {}\n  z: {}\n  n: 2\n>>>>>>> updated\n",
		},
		{
			"what has no line of its own is marked with the entry around it",
			head + "  list: [{name: a, v: 1}]\n", head + "  list: [{name: a, v: 2}]\n", head + "  list: [{name: a, v: 3}]\n",
			head + "<<<<<<< dest\n  list: [{name: a, v: 2}]\n=======\n  list: [{name: a, v: 3}]\n>>>>>>> updated\n",
		},
		{
			"a file without a last newline gets one",
			"kind: W\na: 1", "kind: W\na: 2", "kind: W\na: 3",
			"kind: W\n<<<<<<< dest\na: 2\n=======\na: 3\n>>>>>>> updated\n",
		},
		{
			"markers have the line ends of the file",
			"kind: W\r\na: 1\r\n", "kind: W\r\na: 2\r\n", "kind: W\r\na: 3\r\n",
			"kind: W\r\n<<<<<<< dest\r\na: 2\r\n=======\r\na: 3\r\n>>>>>>> updated\r\n",
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			var sides [3]*Set
			for i, text := range []string{c.base, c.theirs, c.ours} {
				sides[i], _ = Parse("w.yaml", []byte(text))
			}
			policy, _ := merge.PolicyNamed("diff3")
			out, err := Merge(Job{Original: sides[0], Updated: sides[1], Dest: sides[2], Policy: policy, Schema: builtin, Infer: true})
			if err != nil || len(out.Conflicts) != 1 {
				t.Fatal(out, err)
			}
			if got := string(out.Files[0].Text); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
