package yamldoc

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/test/texts"
)

// manifest has most of what people write.
const manifest = `# Copyright somebody

# the web server
apiVersion: apps/v1 # version
kind: Deployment
metadata:
  name: web
  labels: {app: web, tier: 'front'} # labels
  annotations:
    # about the note
    note: |
      one
        two

      three
    folded: >-
      long
      text
    empty: ""

spec:
  replicas: 3 # scalar

  # ---- pods ----
  template:
    spec:
      containers:
      # the main one
      - name: nginx # server
        image: "nginx:1.7"
        command: ['run.sh', 'arg1'] # start
        ports:
        - containerPort: 80
          protocol: TCP

        - containerPort: 443
        env:
          - name: A
            value: "1"
          # about B
          - name: B
            value: 'two'
      - image: side:v1
        name: side
        resources:
            limits: &lim
              cpu: 100m
              # memory
              memory: 1Gi
            requests: *lim
      volumes: []
      args:
      - a # a
      - "b"
      -
        - nested
        - list
  # commented: out
extra: {
  x: [1, 2,
    3], # c
  y: z
}
base: &base
  a: 1
  b: [1, 2]
derived:
  <<: *base
  c: 3
tail: end
# the end
`

// mutator changes random values.
type mutator struct{ *rand.Rand }

func (r mutator) scalar() any {
	all := []any{nil, true, json.Number("5"), json.Number("-1.50"), "text", "yes", "0x1f", "a: b", "# no", "", " lead", "tail ",
		"one\ntwo", "one\ntwo\n", "\n\nx", "  x\ny\n", "x\n\n\n", "tab\there", "\x01\u2028", "'q'", `"dq"`, "é😀", "- x", "{x}", "*a", "&b", "!c", "%d", "x:", "2001-01-01", "x\r\ny", "---", "one\n\ntwo three\n"}
	return all[r.IntN(len(all))]
}

func (r mutator) fresh(depth int) any {
	switch n := r.IntN(6); {
	case n == 0 && depth > 0:
		m := map[string]any{}
		for range r.IntN(3) {
			m[fmt.Sprint("k", r.IntN(9))] = r.fresh(depth - 1)
		}
		return m
	case n == 1 && depth > 0:
		l := []any{}
		for range r.IntN(3) {
			l = append(l, r.fresh(depth-1))
		}
		return l
	}
	return r.scalar()
}

// value gives a changed copy.
func (r mutator) value(v any, p float64) any {
	if r.Float64() < p/3 {
		return r.fresh(2)
	}
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for _, k := range sortedKeys(v) {
			if r.Float64() >= p/2 {
				m[k] = r.value(v[k], p)
			}
		}
		if r.Float64() < p {
			m[[]string{"new", "a b", "8080", "on", "# x", "zz"}[r.IntN(6)]] = r.fresh(2)
		}
		return m
	case []any:
		l := []any{}
		for _, e := range v {
			if r.Float64() >= p/2 {
				l = append(l, r.value(e, p))
			}
			if r.Float64() < p/2 {
				l = append(l, r.fresh(2))
			}
		}
		if r.Float64() < p {
			r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		}
		return l
	}
	return v
}

func sortedKeys(m map[string]any) []string { return orderOf(m, nil, nil) }

// TestEditRandomly makes random changes: the text always reads as wanted, saying
// the same again changes nothing, going back gives the old value, and fields at
// the top that have not changed keep their text.
func TestEditRandomly(t *testing.T) {
	texts := append([]string{manifest}, parseable()...)
	seed := uint64(1)
	again, edits := 0, 0
	for round := range 400 {
		for i, src := range texts {
			r := mutator{rand.New(rand.NewPCG(seed, uint64(round*1000+i)))}
			d := mustParse(t, []byte(src))
			want := r.value(d.Value(), []float64{0.02, 0.1, 0.4}[round%3])
			var source *Document
			if round%2 == 0 {
				source = mustParse(t, []byte(manifest))
			}
			out, err := d.Edit(Edit{Want: want, Sources: []*Document{source}, Comments: round%2 == 0})
			if err != nil {
				t.Fatalf("round %d: %v: %s in:\n%s", round, err, show(want), src)
			}
			edits++
			again += attempts(d, want, source)
			checkEdit(t, d, out, want)
		}
	}
	t.Logf("%d edits, %d of them needed a block written anew", edits, again)
}

func checkEdit(t *testing.T, d *Document, out []byte, want any) {
	t.Helper()
	n := mustParse(t, out)
	if !exact(n.Value(), want) {
		t.Fatalf("reads as %s, not %s", show(n.Value()), show(want))
	}
	if same, err := n.Edit(Edit{Want: want}); err != nil || string(same) != string(out) {
		t.Fatalf("saying the same again changes:\n%s\nto:\n%s (%v)", out, same, err)
	}
	if _, err := n.Edit(Edit{Want: d.Value()}); err != nil {
		t.Fatalf("no way back from:\n%s\n%v", out, err)
	}
	wm, _ := want.(map[string]any)
	if d.root == nil || d.root.kind != mapNode || !d.root.block() || d.root.refs || !strings.HasSuffix(d.file.src, "\n") {
		return
	}
	for i := range d.root.entries {
		e := &d.root.entries[i]
		src := text(d.file.src)
		if v, ok := wm[e.name]; ok && exact(v, e.value.value) {
			if chunk := string(src[e.start:src.end(e)]); !strings.Contains(string(out), chunk) {
				t.Fatalf("the text of %s is gone:\n%s\nfrom:\n%s\nin:\n%s", e.name, chunk, src, out)
			}
		}
	}
}

// attempts reports whether the first attempt did not come out.
func attempts(d *Document, want any, source *Document) int {
	if d.root == nil || exact(d.value, want) {
		return 0
	}
	e := Edit{Sources: []*Document{source}}
	ed := &editor{src: text(d.file.src), doc: d, look: d.look(e.Sources)}
	ed.run(want, nil, e.origins())
	if _, w := ed.read(ed.apply(d.from, d.to, ed.edits), want); w != nil {
		return 1
	}
	return 0
}

// parseable are the texts of the reader's table that can be read and are more
// than a scalar.
func parseable() []string {
	var out []string
	for _, c := range texts.All {
		f, err := Parse([]byte(c.YAML))
		if err == nil && f.docs[0].root != nil {
			out = append(out, c.YAML)
		}
	}
	return out
}

func FuzzEdit(f *testing.F) {
	all := parseable()
	for i, s := range all {
		f.Add(s, all[(i*7+3)%len(all)], manifest)
	}
	f.Add(manifest, "a: 1\n", "b: 2\n")
	f.Fuzz(func(t *testing.T, dest, want, source string) {
		d, err1 := Parse([]byte(dest))
		w, err2 := Parse([]byte(want))
		s, err3 := Parse([]byte(source))
		if err1 != nil || err2 != nil || err3 != nil {
			return
		}
		value := w.docs[0].value
		out, err := d.docs[0].Edit(Edit{Want: value, Sources: []*Document{s.docs[0]}, Comments: true})
		if err != nil {
			t.Fatalf("%v: %s in:\n%s", err, show(value), dest)
		}
		checkEdit(t, d.docs[0], out, value)
	})
}
