package files

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// author makes random YAML of the kinds that people and generators write: fields of
// known and unknown names, nulls in every spelling, comments above, beside and below
// them, lists whose keys repeat, and values of the wrong shape.
type author struct {
	*rand.Rand
	b          strings.Builder
	documented int
}

var fieldNames = []string{
	"metadata", "labels", "annotations", "creationTimestamp", "spec", "template", "containers", "ports", "env", "resources", "limits", "status",
	"replicas", "data", "selector", "rules", "volumes", "finalizers", "tolerations", "x", "strategy", "versions",
}

func (w *author) pick(from ...string) string { return from[w.IntN(len(from))] }

func (w *author) line(col int, text string) {
	if w.IntN(12) == 0 {
		w.b.WriteString("\n")
	}
	if w.IntN(6) == 0 {
		fmt.Fprintf(&w.b, "%s# about %s\n", strings.Repeat(" ", col), w.pick(fieldNames...))
	}
	fmt.Fprintf(&w.b, "%s%s\n", strings.Repeat(" ", col), text)
}

// documentation writes comment lines below a null: what could stand there.
func (w *author) documentation(col int) {
	for range w.IntN(3) {
		w.documented++
		fmt.Fprintf(&w.b, "%s#  %s: value %d\n", strings.Repeat(" ", col+2*w.IntN(3)), w.pick(fieldNames...), w.documented)
	}
}

func (w *author) scalar() string {
	return w.pick("1", "text", "'quoted'", "yes", `""`, "{}", "[]", "[a, b, a]", "{name: a, x: null}", "1e3", "null", "~", "[null, {name: null}]", "{ports: , env: [null]}")
}

func (w *author) field(name string, col, depth int) {
	switch n := w.IntN(8); {
	case n < 2: // a null
		w.line(col, name+":"+w.pick("", "", " null", " ~", "  # none", " null # none"))
		w.documentation(col)
	case n < 4 || depth == 0:
		w.line(col, name+": "+w.scalar())
	case n < 6:
		w.line(col, name+":")
		w.mapping(col+2, depth-1)
	default:
		w.line(col, name+":")
		w.list(col+2*w.IntN(2), depth-1)
	}
}

func (w *author) mapping(col, depth int) {
	n := 1 + w.IntN(4)
	for _, i := range w.Perm(len(fieldNames))[:n] {
		w.field(fieldNames[i], col, depth)
	}
}

func (w *author) list(col, depth int) {
	for range 1 + w.IntN(4) {
		switch w.IntN(4) {
		case 0:
			w.line(col, "- "+w.scalar())
		case 1:
			w.line(col, "-"+w.pick("", " null", " ~"))
			w.documentation(col + 2)
		default:
			first := w.pick("name: a", "name: b", "name:", "containerPort: 80", "key: null", "name: null", "port: 1")
			w.line(col, "- "+first)
			if strings.HasSuffix(first, ":") {
				w.documentation(col + 2)
			}
			if w.IntN(2) == 0 {
				w.field(w.pick("value", "protocol", "valueFrom", "env"), col+2, depth)
			}
		}
	}
}

// manifest is an object with the name web, or a text of no known kind.
func (w *author) manifest() string {
	w.b.Reset()
	head := []string{
		"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n",
		"apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: web\n", "kind: Deployment\napiVersion: apps/v1\nmetadata:\n  creationTimestamp: null\n  name: web\n",
	}
	w.b.WriteString(head[w.IntN(len(head))])
	for _, name := range []string{"spec", "status", "data"} {
		if w.IntN(3) > 0 {
			w.field(name, 0, 4)
		}
	}
	return w.b.String()
}

// Where upstream has not changed, dest stays as it is to the byte, whatever both hold.
func TestUnchangedUpstreamChangesNothing(t *testing.T) {
	changed := 0
	for round := range 2000 {
		w := &author{Rand: rand.New(rand.NewPCG(11, uint64(round)))}
		x, y := w.manifest(), w.manifest()
		if got := merged(t, "diff3", x, x, y); got != y {
			changed++
			if changed < 4 {
				t.Errorf("round %d: dest:\n%s\nbecomes:\n%s\nwhere original and updated are:\n%s", round, y, got, x)
			}
		}
	}
	if changed > 0 {
		t.Errorf("%d of 2000 changed", changed)
	}
}

// Under merge3 nulls are cleared. The comments below them, which say what could stand
// there, belong to no key and stay.
func TestClearedNullsLeaveDocumentation(t *testing.T) {
	for round := range 2000 {
		w := &author{Rand: rand.New(rand.NewPCG(12, uint64(round)))}
		x := w.manifest()
		got := merged(t, "merge3", x, x, x)
		at := 0
		for line := range strings.Lines(x) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#  ") {
				continue
			}
			i := strings.Index(got[at:], line+"\n")
			if i < 0 {
				t.Fatalf("round %d: %q is gone from:\n%s\nof:\n%s", round, line, got, x)
			}
			at += i
		}
	}
}
