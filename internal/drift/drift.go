// Package drift reports how live objects differ from the files that describe them: what others
// changed, removed and added, and which objects are missing or no longer in a file. It reads a
// run's plan and prints reports. It refuses to merge, to read objects and to write any.
package drift

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/cluster"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/run"
	"github.com/kubectl-merge/kubectl-merge/pkg/diff"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
)

// Kind states what a Row reports. The words are part of the JSON report.
type Kind string

// The kinds, in the order in which summaries list them.
const (
	Changed  Kind = "changed"  // live has another value than local
	Removed  Kind = "removed"  // live does not have what local states
	Added    Kind = "added"    // live has what local does not state: set by another manager, or no longer stated
	Missing  Kind = "missing"  // there is no such object, or it is being deleted
	Orphaned Kind = "orphaned" // a member of the set that the input does not contain
)

// Kinds lists all kinds, in order.
var Kinds = []Kind{Changed, Removed, Added, Missing, Orphaned}

// Object names an object in a report. Its String is what outcome lines have: deployment.apps/web.
type Object = cluster.Target

// Row is one difference between local and live.
type Row struct {
	Object
	Context string // of the cluster, in a report about several; "" in one about one
	Drift   Kind
	Path    merge.Path // nil for an object as a whole
	Stated  merge.Path // where local states it; nil: there, too. Live has another key for an entry on it

	// Wanted is local's value and Live live's, both masked if they are secret.
	Wanted, Live merge.Opt

	// Owner is the manager that has written live's value, with the time; nil if managedFields do
	// not record it, as for removed values.
	Owner *merge.Owner

	// Moved states which sides have changed the value since it was applied; 0: only the file.
	// What was not applied before, or not recorded, counts as changed by live alone.
	Moved merge.DisagreementKind

	Order []merge.Step // live's, if only the order of entries differs

	Reason string // the reason, for an object as a whole
}

// Of lists how the live object of an item differs from local, in path order. The item must have
// been merged with the policy apply and Planner.Compare, by that Planner, without an error. nil: it
// does not differ.
//
// Unlike kubectl: whose diff needs permission to write, and shows nothing that others add.
func Of(item *run.Item, manager string) []Row {
	o := item.Target
	p := item.Planned
	switch {
	case item.Surplus != nil:
		return []Row{{Object: o, Drift: Orphaned, Reason: item.Reason()}}
	case p.Live == nil && item.Action() == apply.Create:
		return []Row{{Object: o, Drift: Missing}}
	}
	if since := merge.At[string](p.Live, "metadata", "deletionTimestamp"); since != "" {
		return []Row{{Object: o, Drift: Missing, Reason: "is being deleted since " + since}}
	}
	c := comparison{
		Object:  o,
		typ:     p.Type,
		report:  diff.Report{Object: o.String(), Local: p.Value, Live: p.Live, Plan: p.Plan, Sensitive: p.Sensitive}.Looked(),
		owners:  ownership.Of(p.Live),
		settled: slices.Concat(p.Settled, p.Conflicts),
	}
	blanked := lastapplied.Read(p.Live).Blanking != lastapplied.BlankNothing
	for i, d := range c.settled {
		if d.Kind == merge.Both && (!d.Original.Set || blanked) {
			c.settled[i].Kind = merge.Drift
		}
	}
	names, _ := ownership.Annotators(c.owners)
	c.appliers = append(names, manager)
	for _, e := range editedKeys(c.settled, p.Type) {
		is, _ := merge.Lookup(p.Live, e.live, p.Type)
		wanted, there := merge.Lookup(p.Result, e.stated, p.Type)
		if !there {
			continue
		}
		c.edited = append(c.edited, e)
		for _, ch := range merge.Diff(is, wanted, p.Type.At(e.live)) {
			ch.Path = slices.Concat(e.live, ch.Path)
			c.change(ch)
		}
	}
	for _, change := range p.Changes {
		if !slices.ContainsFunc(c.edited, func(e editedKey) bool { return e.live.Leads(change.Path) || e.stated.Leads(change.Path) }) {
			c.change(change)
		}
	}
	for _, d := range p.Conflicts {
		c.add(d.Path, d.Local, d.Live)
	}
	for _, e := range p.Extras {
		c.settled = append(c.settled, merge.Disagreement{Kind: merge.Drift, Path: e.Path})
		c.add(e.Path, merge.Opt{}, merge.Some(e.Value))
	}
	merge.SortByPath(c.rows, func(r Row) merge.Path { return r.Path })
	return object.Each(c.rows, Row.detached)
}

// Below reports whether the value is at the path, or below it: live's path, or that where local
// states it. Keys of entries may be left out.
func (r Row) Below(p merge.Path) bool {
	return r.Path != nil && diff.Within(r.Path, p) || r.Stated != nil && diff.Within(r.Stated, p)
}

// detached returns the row without parts of the live object's answer: rows are kept until the
// report is printed.
func (r Row) detached() Row {
	r.Path, r.Stated, r.Wanted, r.Live = r.Path.Detached(), r.Stated.Detached(), r.Wanted.Detached(), r.Live.Detached()
	if r.Owner != nil {
		owner := r.Owner.Detached()
		r.Owner = &owner
	}
	return r
}

// comparison collects the rows of an object.
type comparison struct {
	Object
	typ      *merge.Type
	report   diff.Report
	owners   merge.Owners
	appliers []string
	settled  []merge.Disagreement
	edited   []editedKey
	rows     []Row
}

// editedKey is an entry of a list that has another key in live than local states.
type editedKey struct{ live, stated merge.Path }

// editedKeys returns the entries that disagree in a key. All other disagreements about an entry are
// about what it has beside its keys.
func editedKeys(all []merge.Disagreement, typ *merge.Type) (edited []editedKey) {
	for _, d := range all {
		n := len(d.Path) - 1
		if n < 1 || !slices.ContainsFunc(d.Path[n-1].Keys, func(k merge.KeyPart) bool { return k.Name == d.Path[n].Name }) {
			continue
		}
		e := editedKey{live: d.Path[:n], stated: d.Path[:n]}
		if last := len(edited) - 1; last >= 0 && edited[last].live.String() == e.live.String() {
			e.stated, edited = edited[last].stated, edited[:last]
		}
		keys := map[string]any{d.Path[n].Name: d.Local.Value}
		for _, k := range e.stated[n-1].Keys {
			keys[k.Name] = cmp.Or(keys[k.Name], k.Value)
		}
		e.stated = e.stated[:n-1].Child(merge.StepOf(typ.At(e.stated[:n-1]), keys, 0))
		edited = append(edited, e)
	}
	return edited
}

// change reports a change that a merge would revert.
func (c *comparison) change(ch merge.Change) {
	if ch.Op != merge.OpOrder {
		c.add(ch.Path, ch.New, ch.Old)
		return
	}
	steps := slices.Clone(ch.NewOrder)
	for i, s := range steps { // in both orders it has live's key
		if n := slices.IndexFunc(c.edited, func(e editedKey) bool { return e.stated.String() == ch.Path.Child(s).String() }); n >= 0 {
			steps[i] = c.edited[n].live[len(ch.Path)]
		}
	}
	wanted, live := common(steps, ch.OldOrder), common(ch.OldOrder, steps)
	if !slices.Equal(wanted, live) { // otherwise entries only moved because others are missing
		c.rows = append(c.rows, Row{Object: c.Object, Drift: Changed, Path: ch.Path, Order: ch.OldOrder, Wanted: order(wanted), Live: order(live)}) // who has set it is not recorded
	}
}

// add reports values that differ. Maps and lists that only one side has are reported entry by entry.
func (c *comparison) add(p merge.Path, wanted, live merge.Opt) {
	if wanted.Set != live.Set {
		if changes := entries(c.typ.At(p), wanted, live); len(changes) > 0 {
			for _, ch := range changes {
				c.row(append(p[:len(p):len(p)], ch.Path...), ch.New, ch.Old)
			}
			return
		}
	}
	c.row(p, wanted, live)
}

// entries returns the changes that lead from live to wanted, one of which is absent, entry by
// entry; nil if there are no entries, or their identity is unknown.
func entries(t *merge.Type, wanted, live merge.Opt) []merge.Change {
	empty := map[merge.Kind]any{merge.Map: map[string]any{}, merge.Keyed: []any{}, merge.Set: []any{}}
	if t == nil || t.Atomic || empty[t.Kind] == nil {
		return nil
	}
	for _, o := range []*merge.Opt{&wanted, &live} {
		if !o.Set {
			o.Value = empty[t.Kind]
		}
	}
	return merge.Diff(live.Value, wanted.Value, t)
}

func (c *comparison) row(p merge.Path, wanted, live merge.Opt) {
	r := Row{Object: c.Object, Path: p, Drift: Changed}
	for _, d := range c.settled {
		if d.Path.Leads(p) {
			if r.Moved = d.Kind; d.Kind == merge.Both && c.untouched(d, p) {
				r.Moved = merge.Drift
			}
		}
	}
	for _, e := range c.edited {
		if e.live.Leads(p) {
			r.Stated = slices.Concat(e.stated, p[len(e.live):])
		}
	}
	switch {
	case !live.Set:
		r.Drift = Removed
	case !wanted.Set || wanted.Value == nil:
		r.Drift = Added
	}
	if live.Set {
		r.Owner = c.owner(p)
	}
	// Each is masked separately: hidden values look alike, and the row reports that they differ.
	r.Wanted, _ = c.report.Masked(p, wanted, merge.Opt{})
	_, r.Live = c.report.Masked(p, merge.Opt{}, live)
	c.rows = append(c.rows, r)
}

// untouched reports whether only another part of the disagreement's value than that at the path has changed in the file.
func (c *comparison) untouched(d merge.Disagreement, p merge.Path) bool {
	below, t := p[len(d.Path):], c.typ.At(d.Path)
	was, had := merge.Lookup(d.Original.Value, below, t)
	is, stated := merge.Lookup(d.Local.Value, below, t)
	return had && stated && merge.Equal(was, is, c.typ.At(p))
}

// owner returns the newest manager of a value other than the applier, otherwise the applier.
func (c *comparison) owner(p merge.Path) *merge.Owner {
	owners := ownership.At(c.owners, p)
	other := func(o merge.Owner) bool {
		return !slices.Contains(c.appliers, o.Manager) && o.Manager != merge.Unrecorded
	}
	if len(owners) == 0 {
		return nil
	}
	return &owners[max(slices.IndexFunc(owners, other), 0)]
}

// common returns the steps of a that b has, too, as text.
func common(a, b []merge.Step) []string {
	in := map[string]bool{}
	for _, s := range b {
		in[s.String()] = true
	}
	return slices.DeleteFunc(merge.Texts(a), func(s string) bool { return !in[s] })
}

// order returns the order of entries as a value.
func order(steps []string) merge.Opt {
	return merge.Some(object.Each(steps, func(s string) any { return s }))
}

// Shard is a part of an input: the objects of some namespaces. The zero value is all of it.
type Shard struct{ index, of int }

// ParseShard reads I/N, the part I of N, counted from 0; or N, where index, the value of
// JOB_COMPLETION_INDEX, is I. "" selects all. Anything else is an error that shows the form.
//
// See https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode.
func ParseShard(text, index string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	i, n, both := strings.Cut(text, "/")
	if !both {
		i, n = index, text
	}
	if i == "" {
		return Shard{}, fmt.Errorf("--shard=%s: write I/N, or set JOB_COMPLETION_INDEX to I, as the pods of an Indexed Job have it", text)
	}
	at, err := strconv.Atoi(i)
	of, bad := strconv.Atoi(n)
	if err != nil || bad != nil || at < 0 || at >= of {
		return Shard{}, fmt.Errorf("--shard=%s: part %q of %q: must be I/N with I from 0 to N-1", text, i, n)
	}
	return Shard{at, of}, nil
}

// Has reports whether the objects of a namespace are in the shard; "" is that of
// cluster-scoped objects.
func (s Shard) Has(namespace string) bool {
	if s.of == 0 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(namespace)) // it never fails
	return h.Sum32()%uint32(s.of) == uint32(s.index)
}
