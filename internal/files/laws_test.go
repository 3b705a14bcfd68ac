package files

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/yamldoc"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// base is the text from which the random files are made.
const base = `# the web server
apiVersion: apps/v1 # version
kind: Deployment
metadata:
  name: web
  labels: {app: web, tier: 'front'} # labels
  annotations:
    note: |
      one
        two
    plain: text
spec:
  replicas: 3 # scalar
  selector:
    matchLabels: {app: web}
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

        - containerPort: 53
          protocol: UDP
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
              memory: 1Gi
            requests: *lim
      tolerations:
      - key: a
        operator: Exists
---
apiVersion: example.com/v1
kind: Widget
metadata:
  name: w
spec:
  ends:
  - name: x
    size: 1
  - name: z
    size: 2
  list: [a, b, c]
  free:
    any: 1
# the end
`

// editor makes random edits, without nulls.
type editor struct{ *rand.Rand }

func (r editor) value(v any, p float64) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for _, k := range keysOf(v) {
			if identifying(k) || r.Float64() >= p/2 {
				m[k] = r.field(k, v[k], p)
			}
		}
		if r.Float64() < p/2 {
			m[fmt.Sprint("new", r.IntN(4))] = r.fresh()
		}
		return m
	case []any:
		l := []any{}
		for _, e := range v {
			if r.Float64() >= p/2 {
				l = append(l, r.value(e, p))
			}
		}
		if r.Float64() < p {
			r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
		}
		return l
	}
	if r.Float64() < p {
		return r.fresh()
	}
	return v
}

// field leaves alone what says which object or entry it is.
func (r editor) field(name string, v any, p float64) any {
	if identifying(name) {
		if _, scalar := v.(string); scalar {
			return v
		}
	}
	return r.value(v, p)
}

func identifying(name string) bool {
	switch name {
	case "apiVersion", "kind", "metadata", "name", "containerPort", "protocol":
		return true
	}
	return false
}

func (r editor) fresh() any {
	all := []any{true, json.Number("5"), "text", "yes", "a: b", "", "one\ntwo\n", "é", map[string]any{"k": "v"}, []any{"x"}, []any{}, map[string]any{}}
	return all[r.IntN(len(all))]
}

func keysOf(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	for i := range keys { // insertion sort: the maps are small
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}

// edited is a text with random edits made.
func edited(t *testing.T, text string, r editor, p float64) string {
	t.Helper()
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	texts := map[*yamldoc.Document][]byte{}
	for _, d := range f.Documents() {
		if texts[d], err = d.Edit(yamldoc.Edit{Want: r.value(d.Value(), p)}); err != nil {
			t.Fatal(err)
		}
	}
	return string(f.Assemble(texts, nil))
}

func mustSet(t testing.TB, text string) *Set {
	t.Helper()
	s, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return s
}

// merged plays a merge; original "" merges two ways.
func merged(t *testing.T, policy, original, updated, dest string) string {
	t.Helper()
	j := Job{Updated: mustSet(t, updated), Dest: mustSet(t, dest), Policy: TwoWay, Schema: builtin, Infer: true}
	if original != "" {
		p, err := merge.PolicyNamed(policy)
		if err != nil {
			t.Fatal(err)
		}
		j.Original, j.Policy = mustSet(t, original), p
	}
	out, err := Merge(j)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Files) == 0 {
		return dest
	}
	return string(out.Files[0].Text)
}

const rounds = 300

func random(round int) editor { return editor{rand.New(rand.NewPCG(7, uint64(round)))} }

// What changes nothing gives back the same bytes.
func TestNothingToDo(t *testing.T) {
	for round := range rounds {
		r := random(round)
		dest := edited(t, base, r, 0.1)
		original := edited(t, base, r, 0.1)
		if got := merged(t, "", "", dest, dest); got != dest {
			t.Fatalf("round %d: a file merged into itself changes:\n%s\nto:\n%s", round, dest, got)
		}
		for _, policy := range []string{"merge3", "diff3"} {
			if got := merged(t, policy, original, original, dest); got != dest {
				t.Fatalf("round %d, %s: updated = original changes:\n%s\nto:\n%s\noriginal:\n%s", round, policy, dest, got, original)
			}
		}
	}
}

// Dest as it was takes over everything: the values are updated's.
func TestTakesOver(t *testing.T) {
	for round := range rounds {
		updated := edited(t, base, random(round), 0.2)
		got := merged(t, "merge3", base, updated, base)
		if a, b := valuesOf(t, got), valuesOf(t, updated); a != b {
			t.Fatalf("round %d:\n got %s\nwant %s", round, a, b)
		}
		if again := merged(t, "merge3", updated, updated, got); again != got {
			t.Fatalf("round %d: merging again changes:\n%s\nto:\n%s", round, got, again)
		}
	}
}

// Edits in different places have the same result in either order, and no policy
// finds a conflict.
func TestDisjointEdits(t *testing.T) {
	for round := range rounds {
		r := random(round)
		ours := split(t, base, r, true)
		theirs := split(t, base, r, false)
		one, other := merged(t, "diff3", base, theirs, ours), merged(t, "diff3", base, ours, theirs)
		if strings.Contains(one, "<<<<<<<") || strings.Contains(other, "<<<<<<<") {
			t.Fatalf("round %d: a conflict between:\n%s\nand:\n%s", round, ours, theirs)
		}
		if a, b := valuesOf(t, one), valuesOf(t, other); a != b {
			t.Fatalf("round %d:\n %s\n %s", round, a, b)
		}
	}
}

// split edits either the Deployment or the Widget.
func split(t *testing.T, text string, r editor, first bool) string {
	t.Helper()
	f, err := yamldoc.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[*yamldoc.Document][]byte{}
	for i, d := range f.Documents() {
		root := d.Value().(map[string]any)
		want := map[string]any{}
		for k, v := range root {
			want[k] = v
		}
		// Of the Deployment one side has metadata, the other spec.
		switch {
		case i == 0 && first:
			want["spec"] = r.value(root["spec"], 0.2)
		case i == 0:
			want["metadata"] = r.value(root["metadata"], 0.2)
		case first:
			want["spec"] = r.value(root["spec"], 0.2)
		}
		if texts[d], err = d.Edit(yamldoc.Edit{Want: want}); err != nil {
			t.Fatal(err)
		}
	}
	return string(f.Assemble(texts, nil))
}

// Any run gives the same bytes, and no input is modified.
func TestSameAndGentle(t *testing.T) {
	for round := range rounds / 3 {
		r := random(round)
		original, updated, dest := edited(t, base, r, 0.2), edited(t, base, r, 0.2), edited(t, base, r, 0.2)
		j := Job{Original: mustSet(t, original), Updated: mustSet(t, updated), Dest: mustSet(t, dest), Schema: builtin, Infer: true}
		j.Policy, _ = merge.PolicyNamed("diff3")
		before := []string{fmt.Sprint(j.Original.Values()), fmt.Sprint(j.Updated.Values()), fmt.Sprint(j.Dest.Values())}
		var first string
		for range 5 {
			out, err := Merge(j)
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(out.Notes, out.Conflicts)
			for _, f := range out.Files {
				got += string(f.Text)
			}
			if first == "" {
				first = got
			}
			if got != first {
				t.Fatalf("round %d: one run gives:\n%s\nanother:\n%s", round, first, got)
			}
		}
		for i, s := range []*Set{j.Original, j.Updated, j.Dest} {
			if fmt.Sprint(s.Values()) != before[i] {
				t.Fatalf("round %d: an input was modified", round)
			}
		}
	}
}

func valuesOf(t *testing.T, text string) string {
	t.Helper()
	var all []string
	for _, v := range mustSet(t, text).Values() {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(data))
	}
	return strings.Join(all, "\n")
}
