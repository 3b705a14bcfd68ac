package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

// contrast is one step of a sequence, as it went on both sides: what is
// configuration of it, with $NS in place of the namespace.
type contrast struct {
	typ           *merge.Type
	original      [2]any
	local, before any
	after         [2]any
	served        func(v any) any // what the server makes of a configuration, elsewhere; nil where it refuses
}

func (st *stage) contrast(q *sequence, was [2]any, original [2]any) *contrast {
	c := &contrast{typ: q.typ, local: stated(q.typ, q.local[ours].value, st.users[ours].ns), before: configuration(was[ours], st.users[ours].ns)}
	for side, u := range st.users {
		if lastApplied(was[side]) != "" { // it goes where others take the annotation away
			c.original[side] = stated(q.typ, original[side], u.ns)
		}
		c.after[side] = configuration(q.live[side], u.ns)
	}
	c.before = clusterOnly(c.before, c.after[ours])
	c.served = func(v any) any { return st.served(q, v) }
	return c
}

// served returns a configuration as the server would store it, in a namespace where
// nothing is written.
func (st *stage) served(q *sequence, v any) any {
	text := spelled(v)
	if got, done := q.served[text]; done {
		return got
	}
	o, ok := renamed(v, "$NS", st.scratch).(map[string]any)
	if !ok {
		return nil
	}
	if meta, _ := o["metadata"].(map[string]any); st.api.of(o).Namespaced {
		meta["namespace"] = st.scratch
	}
	if q.served == nil {
		q.served = map[string]any{}
	}
	q.served[text] = configuration(st.api.made(st.T, o), st.scratch)
	return q.served[text]
}

// breaches lists the laws that a side's outcome breaks, save for what the server
// makes of any write.
func (c *contrast) breaches(side int) []laws.Breach {
	m := laws.Merge{Triple: merge.Triple{Original: c.original[side], Local: c.local, Live: c.before}, Type: c.typ, Result: c.after[side]}
	return slices.DeleteFunc(m.Breaches(), func(b laws.Breach) bool { return c.serversOwn(b, side) })
}

// serversOwn: the server filled in a default, or spelled a value its way. It shows
// in what it makes of local alone; and what is in live and still there is kept,
// whatever has been added to it.
func (c *contrast) serversOwn(b laws.Breach, side int) bool {
	is := c.lookup(c.after[side], b.Path)
	switch b.Law {
	case laws.Kept:
		return has(is.Value, c.lookup(c.before, b.Path).Value)
	case laws.Order:
		return c.inOrder(b.Path, side)
	}
	f, _ := schema.FieldAt(c.typ, b.Path)
	return laws.Alike(is, c.lookup(c.served(c.local), b.Path), f) ||
		b.Law == laws.Gone && is.Set && laws.Alike(is, c.lookup(c.served(dropField(c.after[side], b.Path)), b.Path), f)
}

// inOrder: the entries of a list are in order, if local's are taken as the server
// makes them.
func (c *contrast) inOrder(p merge.Path, side int) bool {
	served := c.served(c.local)
	if n := len(p) - 1; p[n].Kind != merge.FieldStep {
		p = p[:n]
	}
	local := marked(served, merge.Field{Type: c.typ}, func(any) any { return nil }) // another one is allocated each time
	m := laws.Merge{Triple: merge.Triple{Local: local, Live: c.before}, Type: c.typ, Result: c.after[side]}
	return served != nil && !slices.ContainsFunc(m.Breaches(), func(b laws.Breach) bool { return b.Law == laws.Order && within(p, b.Path) })
}

func (c *contrast) lookup(v any, p merge.Path) merge.Opt {
	got, ok := merge.Lookup(v, p, c.typ)
	return merge.Opt{Value: got, Set: ok && got != nil}
}

// differences are those between the outcomes that are any to a server. What it
// allocates is the same if it was there before on both sides, or on neither.
func (c *contrast) differences(was [2]any) []merge.Change {
	var sides [2]any
	for side := range sides {
		known := map[string]bool{}
		root := merge.Field{Type: c.typ}
		marked(was[side], root, func(v any) any { known[short(v)] = true; return v })
		sides[side] = marked(c.after[side], root, func(v any) any {
			if known[short(v)] {
				return "(as before)"
			}
			return "(new)"
		})
	}
	return slices.DeleteFunc(merge.Diff(sides[theirs], sides[ours], c.typ), func(d merge.Change) bool {
		f, _ := schema.FieldAt(c.typ, d.Path)
		return d.Op != merge.OpOrder && laws.Alike(d.Old, d.New, f)
	})
}

// judge holds one step of all sequences against the laws and against kubectl.
func (st *stage) judge(step int, was map[*sequence]state, total *tally) {
	for _, q := range st.all {
		c := st.contrast(q, was[q].live, was[q].accepted)
		if q.refused[ours] && !q.refused[theirs] {
			if len(c.breaches(theirs)) > 0 {
				total.add("differs: "+ruleTogether, 1)
				continue
			}
			st.fails(q, step, c, "kubectl applies it, the program does not: "+strings.TrimSpace(q.why))
			continue
		}
		if q.refused[ours] {
			total.add("refused by the server on both sides", 1)
			continue
		}
		for _, b := range c.breaches(ours) {
			st.fails(q, step, c, "breaks a law: "+b.String())
		}
		st.annotation(q, step)
		total.add("merges held to the laws", 1)
		switch {
		case q.refused[theirs]:
			total.add("differs: "+ruleRefused, 1)
		case spelled(st.reported(was[q], ours)) != spelled(st.reported(was[q], theirs)):
			total.add("not compared: the two were apart already", 1)
		default:
			st.compare(q, step, c, was[q], total)
		}
	}
}

// reported returns the state of a side before a step, without random differences.
func (st *stage) reported(s state, side int) any {
	c := configuration(s.live[side], st.users[side].ns)
	return []any{c, renamed(lastApplied(s.live[side]), st.users[side].ns, "$NS")}
}

// compare finds the rule of each difference.
func (st *stage) compare(q *sequence, step int, c *contrast, was state, total *tally) {
	different := c.differences([2]any{configuration(was.live[0], ""), configuration(was.live[1], "")})
	if len(different) == 0 {
		total.add("compared: the same", 1)
		return
	}
	total.add("compared: different by a rule", 1)
	broken := c.breaches(theirs)
	for _, d := range different {
		rule, ok := explain(c, broken, d)
		if !ok {
			st.fails(q, step, c, "differs from kubectl's at "+d.Path.String()+", and no rule says why: theirs "+short(d.Old.Value)+", ours "+short(d.New.Value))
			continue
		}
		total.add("differs: "+rule, 1)
	}
}

// annotation compares what is written for the next merge.
func (st *stage) annotation(q *sequence, step int) {
	var text [2]string
	for side, u := range st.users {
		text[side] = strings.ReplaceAll(lastApplied(q.live[side]), u.ns, "$NS")
	}
	if q.local[ours].value["kind"] == "Secret" || q.refused[theirs] {
		return // blanked; not written
	}
	if text[theirs] != text[ours] {
		st.Errorf("%s, step %d: the annotations differ:\n%s\n%s", q.name, step, text[theirs], text[ours])
	}
}

func (st *stage) fails(q *sequence, step int, c *contrast, what string) {
	st.Errorf("-seed=%d -sequence=%s, step %d: %s\n  original %s\n  local    %s\n  live     %s\n  kubectl  %s\n  ours     %s",
		st.seed, q.name, step, what, spelled(c.original[ours]), spelled(c.local), spelled(c.before), spelled(c.after[theirs]), spelled(c.after[ours]))
}

// tally counts over all stages.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *tally) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what] += n
}

// String lists the counts.
func (c *tally) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(&b, "\n%8d  %s", c.counts[what], what)
	}
	return b.String()
}
