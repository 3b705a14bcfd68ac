package e2e

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/part"
)

var oneSequence = flag.String("sequence", "", "play this one sequence only, as a failure names it (with its -seed)")

// TestSequences plays random sequences, "apply, others edit, apply, others edit,
// apply", with kubectl apply in one namespace and with the program in another. One
// sequence is one object; many are played at once, since a file may hold many.
// After each step,
//
//   - what the program left keeps the laws of a merge (test/laws), and a second
//     run has nothing to do;
//   - what kubectl left is the same, its annotation to the letter; or it differs
//     by a rule of sequenceRules. A difference without one fails the test.
//
// Neither counts what the server keeps to itself. An ordinary run plays a part of the same
// sequences each time (see ../part); with -soak they are drawn anew.
func TestSequences(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	n := sequenceSeed(t)
	total := &tally{counts: map[string]int{}}
	t.Run("play", func(t *testing.T) {
		for _, part := range sequenceParts(t, n) {
			t.Run(part.name, func(t *testing.T) {
				t.Parallel()
				newStage(t, s, n, part).play(total)
			})
		}
	})
	t.Logf("%s", total)
}

// sequenceSeed is the same in each ordinary run, and another one with -soak.
func sequenceSeed(t *testing.T) uint64 {
	t.Helper()
	n := *seedFlag
	if n == 0 && *soak == 1 {
		n = 1
	}
	if n == 0 {
		n = uint64(rand.Uint32())
	}
	t.Logf("seed %d (play one again with -seed=%d -sequence=NAME)", n, n)
	return n
}

// sequenceWeights are how many sequences of a kind are played for one of others;
// none of those that make the server work on something else for every object.
var sequenceWeights = map[string]int{
	"Deployment": 6, "Gadget": 5, "Shape": 6, "Service": 3, "CronJob": 3, "Ingress": 3, "ConfigMap": 3, "StatefulSet": 3, "DaemonSet": 3,
	"HorizontalPodAutoscaler": 2, "Pod": 2, "NetworkPolicy": 2,
	"CustomResourceDefinition": 0, "APIService": 0, "FlowSchema": 0, "Namespace": 0, // the server's own controllers write them too
}

// sequencePart are sequences that are played together.
type sequencePart struct {
	name  string
	args  []string // of kubectl apply
	each  int      // sequences, times the weight of their kind
	parts []any    // templates
}

// sequenceParts divides the templates. kubectl reads how built-in lists merge out
// of its own types, which is quick, or out of the server's OpenAPI, its default,
// which takes it thirty times as long: some sequences are played that way too.
func sequenceParts(t *testing.T, seed uint64) []sequencePart {
	all := sequenceTemplates(t)
	const parts = 4
	var out []sequencePart
	for i := range parts {
		p := sequencePart{name: fmt.Sprintf("types-%d", i), args: []string{"--openapi-patch=false"}, each: 16 * *soak}
		for j, template := range all {
			if j%parts == i {
				p.parts = append(p.parts, template)
			}
		}
		out = append(out, p)
	}
	return append(out, sequencePart{name: "openapi", each: *soak, parts: all})
}

// sequenceTemplates are those of the kinds that are played.
func sequenceTemplates(t *testing.T) []any {
	return slices.DeleteFunc(append(templates(t), templatesIn(t, "testdata/sequences/*.yaml")...), func(template any) bool {
		return weightOf(template) == 0
	})
}

func weightOf(template any) int {
	_, kind := kindOf(template.(map[string]any))
	if w, ok := sequenceWeights[kind]; ok {
		return w
	}
	return 1
}

// sequence is one object and what becomes of it in both namespaces.
type sequence struct {
	name     string
	template any
	typ      *merge.Type
	local    [2]object      // what is applied next
	accepted [2]any         // what was applied last
	live     [2]any         // as it is
	served   map[string]any // what the server makes of configurations, by their text
	refused  [2]bool
	why      string // what the program says of it
}

// state is the state of both sides before a step.
type state struct{ live, accepted [2]any }

// The two namespaces of a stage.
const (
	theirs = iota
	ours
)

// stage is where a part is played.
type stage struct {
	*testing.T
	seed    uint64
	part    sequencePart
	users   [2]*user
	scratch string // a namespace where only dry runs go
	api     *objects
	all     []*sequence
}

// newStage draws those sequences that are in the part of the run.
func newStage(t *testing.T, s *apiServer, seed uint64, all sequencePart) *stage {
	st := &stage{T: t, seed: seed, part: all, users: [2]*user{s.user(t, "seq-apply"), s.user(t, "seq-merge")}}
	st.users[ours].crds()
	st.scratch = s.user(t, "seq-elsew").ns
	st.api = newObjects(t, s)
	played := part.Chosen(t)
	for i, template := range all.parts {
		typ := typeOf(t, template.(map[string]any))
		for j := range all.each * weightOf(template) {
			name := fmt.Sprintf("%s-%d-%d", all.name, i, j)
			if *oneSequence == "" && played.Has(i+j) || *oneSequence == name {
				st.all = append(st.all, &sequence{name: name, template: template, typ: typ})
			}
		}
	}
	return st
}

// draw makes the nth state of a sequence's object for a namespace.
func (st *stage) draw(q *sequence, ns string, n uint64) object {
	o := drawn(newDraw(st.T, st.seed, q.name, ns, n).from(q.template, ""))
	o.value["metadata"].(map[string]any)["namespace"] = ns
	if !st.api.of(o.value).Namespaced {
		delete(o.value["metadata"].(map[string]any), "namespace")
	}
	return o
}

// random is the source of a sequence's random choices in its nth step.
func (st *stage) random(q *sequence, n int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s edits", st.seed, q.name)
	return rand.New(rand.NewPCG(h.Sum64(), uint64(n)))
}

const sequenceSteps = 3

func (st *stage) play(total *tally) {
	if len(st.all) == 0 {
		return
	}
	for step := range sequenceSteps {
		st.others(step)
		for _, q := range st.all {
			n := uint64(step)
			if r := st.random(q, 100+step); step > 0 && r.IntN(4) == 0 {
				n-- // the same again, whatever others did
			}
			for side, u := range st.users {
				q.local[side] = st.draw(q, u.ns, n)
			}
		}
		before := st.apply(step)
		st.judge(step, before, total)
		st.rests(step)
	}
	total.add("sequences", len(st.all))
}

// apply has both apply the step's file, and gives what was live before.
func (st *stage) apply(step int) (before map[*sequence]state) {
	before = map[*sequence]state{}
	for _, q := range st.all {
		before[q] = state{q.live, q.accepted}
	}
	file := fmt.Sprintf("step-%d.yaml", step)
	for side, u := range st.users {
		var all []object
		for _, q := range st.all {
			all = append(all, q.local[side])
		}
		u.file(file, string(document(u.t, all...)))
		if step == 0 {
			cleanUp(st.T, u, all)
		}
	}
	reported := [2]said{
		theirs: st.users[theirs].tries("kubectl", append([]string{"apply", "-f", file}, st.part.args...)...),
		ours:   st.users[ours].tries("kubectl-merge", "-f", file, "--preflight=false"),
	}
	for side, u := range st.users {
		words := words(reported[side])
		if len(words) < len(st.all)/2 {
			st.Fatal(reported[side]) // the rest would be about objects that were not written
		}
		live := st.api.list(st.T, st.kinds(), u.ns)
		for _, q := range st.all {
			_, said := words[q.local[side].ref]
			q.refused[side] = !said
			q.live[side] = live[keyOf(q.local[side])]
			if said {
				q.accepted[side] = q.local[side].value
			}
		}
	}
	for _, q := range st.all {
		q.why = linesAbout(reported[ours].stderr, q.local[ours].ref)
	}
	return before
}

// linesAbout are the lines about an object.
func linesAbout(text, ref string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, ref) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// rests runs the program again, which has nothing to do.
func (st *stage) rests(step int) {
	u := st.users[ours]
	got := u.tries("kubectl-merge", "-f", fmt.Sprintf("step-%d.yaml", step), "--preflight=false")
	reported := words(got)
	live := st.api.list(st.T, st.kinds(), u.ns)
	for _, q := range st.all {
		ref := q.local[ours].ref
		if !q.refused[ours] && (reported[ref] != "unchanged" || version(live[keyOf(q.local[ours])]) != version(q.live[ours])) {
			st.Errorf("%s, step %d: a second run says %q of %s", q.name, step, reported[ref], ref)
		}
	}
}

func version(live any) any {
	o, _ := live.(map[string]any)
	meta, _ := o["metadata"].(map[string]any)
	return meta["resourceVersion"]
}

// others has another client edit each object, the same way in both namespaces.
func (st *stage) others(step int) {
	var wait sync.WaitGroup
	jobs := make(chan *sequence)
	for range 4 {
		wait.Go(func() {
			for q := range jobs {
				st.edit(q, step)
			}
		})
	}
	for _, q := range st.all {
		jobs <- q
	}
	close(jobs)
	wait.Wait()
}

func (st *stage) edit(q *sequence, step int) {
	for side, u := range st.users {
		r := st.random(q, step)
		other := st.draw(q, u.ns, uint64(200+step)).value
		switch {
		case step == 0 && r.IntN(10) > 0: // it does not exist
		case step == 0:
			q.live[side] = st.api.create(st.T, other)
		case q.live[side] == nil || r.IntN(6) == 0:
		default:
			edited := edit(r, q.live[side].(map[string]any), other)
			if live, ok := st.api.put(st.T, edited, editors[r.IntN(len(editors))]); ok {
				q.live[side] = live
			}
		}
	}
}

var editors = []string{"controller", "kubectl-edit", "autoscaler"}

// kinds are one object of each kind that the stage plays with.
func (st *stage) kinds() []map[string]any {
	seen := map[string]map[string]any{}
	for _, q := range st.all {
		v := q.local[ours].value
		group, kind := kindOf(v)
		seen[fmt.Sprint(v["apiVersion"], group, kind)] = v
	}
	return slices.Collect(maps.Values(seen))
}
