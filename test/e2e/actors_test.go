package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

// TestActors plays random histories in which several actors write one object: the
// program, kubectl apply, server-side apply of the same or of another manifest,
// controllers that replace the object, and tools that strip managedFields. After
// each merge by the program,
//
//   - the laws of a merge hold (test/laws), and every value that local states is
//     as if local alone were created, regardless of its owner and the last writer;
//   - the client dry run predicted the outcome and the object;
//   - every value that another actor set, and that is gone or changed, was reported;
//   - a second run writes nothing and reports nothing, and diff finds nothing.
//
// An ordinary run plays a part of the same histories each time (see ../part); with -soak they
// are random.
func TestActors(t *testing.T) {
	t.Parallel()
	s := server.need(t)
	n := sequenceSeed(t)
	total := &tally{counts: map[string]int{}}
	var parts []any
	for _, template := range append(templates(t), templatesIn(t, "testdata/sequences/*.yaml")...) {
		if actorKinds[kindName(template)] {
			parts = append(parts, template)
		}
	}
	st := newStage(t, s, n, sequencePart{name: "actors", each: *soak, parts: parts})
	c := &cast{stage: st, total: total}
	for step := range actorSteps {
		c.act(step)
		c.merge(step)
	}
	total.add("histories", len(st.all))
	t.Logf("%s", total)
}

// actorKinds are the kinds that are played: those whose atomic values, defaults and
// lists several actors write in practice.
var actorKinds = map[string]bool{
	"ConfigMap": true, "CronJob": true, "DaemonSet": true, "Deployment": true, "Gadget": true, "HorizontalPodAutoscaler": true, "Ingress": true,
	"NetworkPolicy": true, "PodDisruptionBudget": true, "Role": true, "RoleBinding": true, "Secret": true, "Service": true, "Shape": true, "StatefulSet": true,
}

func kindName(template any) string {
	_, kind := kindOf(template.(map[string]any))
	return kind
}

const actorSteps = 4

// cast plays the histories of a stage in one namespace.
type cast struct {
	*stage
	total *tally
}

// act has one other actor write each object, before the program does.
func (c *cast) act(step int) {
	u := c.users[ours]
	var applied []object
	for _, q := range c.all {
		r := c.random(q, step)
		q.local[ours] = c.draw(q, u.ns, uint64(step-r.IntN(2)*min(step, 1)))
		other := c.draw(q, u.ns, uint64(200+step))
		switch live, _ := q.live[ours].(map[string]any); r.IntN(8) {
		case 0: // no actor
		case 1:
			applied = append(applied, other)
		case 2:
			c.serverSide(q, q.local[ours].value)
		case 3:
			c.serverSide(q, other.value)
		default:
			if live == nil {
				c.api.create(c.T, other.value)
			} else {
				c.api.put(c.T, edit(r, live, other.value), editors[r.IntN(len(editors))])
			}
			if r.IntN(3) == 0 {
				c.api.stripped(c.T, q.local[ours].value)
			}
		}
	}
	if len(applied) > 0 {
		u.file("applied.yaml", string(document(u.t, applied...)))
		u.tries("kubectl", "apply", "--openapi-patch=false", "-f", "applied.yaml") // some are refused
	}
	c.read()
}

// read takes every object and its original from the server.
func (c *cast) read() {
	live := c.api.list(c.T, c.kinds(), c.users[ours].ns)
	for _, q := range c.all {
		q.live[ours] = live[keyOf(q.local[ours])]
		q.accepted[ours] = nil
		if text := lastApplied(q.live[ours]); text != "" {
			v, err := decodeJSON([]byte(text))
			if err != nil {
				c.Errorf("%s: the annotation: %v", q.name, err)
			}
			q.accepted[ours] = v
		}
	}
}

// serverSide applies a manifest as another manager, by force.
func (c *cast) serverSide(q *sequence, v map[string]any) {
	body, err := json.Marshal(v)
	if err != nil {
		c.Error(err)
		return
	}
	name, _ := at(v, []any{"metadata", "name"}).(string)
	c.api.rest.Patch(types.ApplyPatchType).AbsPath(c.api.path(v, c.users[ours].ns), name).
		Param("fieldManager", "gitops").Param("force", "true").Body(body).Do(c.Context()) // refused: nothing was written
}

// merge has the program apply the step's file, and judges the outcome.
func (c *cast) merge(step int) {
	u := c.users[ours]
	var all []object
	was := map[*sequence]any{}
	for _, q := range c.all {
		all = append(all, q.local[ours])
		was[q] = q.live[ours]
	}
	if step == 0 {
		cleanUp(c.T, u, all)
	}
	original := map[*sequence]any{}
	for _, q := range c.all {
		original[q] = q.accepted[ours]
	}
	u.file("local.yaml", string(document(u.t, all...)))
	preview := c.preview()
	said := u.tries("kubectl-merge", "-f", "local.yaml", "--preflight=false", "--notes=json")
	outcomes, notes := words(said), notesOf(c.T, said.stderr)
	c.read()
	for _, q := range c.all {
		ref := q.local[ours].ref
		if outcomes[ref] == "" {
			c.total.add("refused by the server", 1)
			continue
		}
		c.total.add("merges", 1)
		ct := c.contrast(q, [2]any{ours: was[q]}, [2]any{ours: original[q]})
		for _, what := range slices.Concat(c.lawful(ct), c.asServed(ct), c.predicted(q, preview, outcomes[ref], was[q]), c.reported(ct, was[q], notes[ref])) {
			c.fails(q, step, ct, what)
		}
	}
	c.second(outcomes)
}

// preview returns the client dry run's outcome and result of each object.
func (c *cast) preview() map[string]any {
	got := c.users[ours].tries("kubectl-merge", "-f", "local.yaml", "--dry-run=client", "-o", "json", "-q", "--show-managed-fields", "--show-secrets")
	v, err := decodeJSON([]byte(got.stdout))
	if err != nil {
		c.Fatalf("%v: %s", err, got)
	}
	items, ok := at(v, []any{"items"}).([]any)
	if !ok {
		items = []any{v}
	}
	planned := map[string]any{}
	for _, item := range items {
		planned[drawn(item).ref] = item
	}
	return planned
}

// note is one line of --notes=json.
type note struct{ Kind, Object, Path string }

func notesOf(t *testing.T, text string) map[string][]note {
	t.Helper()
	all := map[string][]note{}
	for line := range strings.Lines(text) {
		var n note
		if err := json.Unmarshal([]byte(line), &n); err == nil && n.Object != "" {
			all[n.Object] = append(all[n.Object], n)
		}
	}
	return all
}

// lawful lists the laws that the outcome breaks.
func (c *cast) lawful(ct *contrast) (found []string) {
	for _, b := range ct.breaches(ours) {
		found = append(found, "breaks a law: "+b.String())
	}
	return found
}

// asServed lists the values that local states and that are not what the server
// makes of local alone.
func (c *cast) asServed(ct *contrast) (found []string) {
	served := ct.served(ct.local)
	if served == nil {
		return nil
	}
	for _, d := range merge.Diff(served, ct.after[ours], ct.typ) {
		f, _ := schema.FieldAt(ct.typ, d.Path)
		stated := ct.lookup(ct.local, d.Path)
		if d.Op == merge.OpOrder || !stated.Set || f.Allocated || laws.Alike(d.Old, d.New, f) || splits(f.Type) {
			continue
		}
		found = append(found, "local's "+d.Path.String()+" is "+short(d.New.Value)+", and the server makes "+short(d.Old.Value)+" of it")
	}
	return found
}

// splits: a value of the type has parts that are merged on their own, so that live's
// may be among them.
func splits(t *merge.Type) bool {
	return t != nil && !t.Atomic && t.Kind != merge.Scalar && t.Kind != merge.List
}

// predicted lists where the client dry run was wrong: an object that it said would
// be written and was not, or the reverse.
func (c *cast) predicted(q *sequence, preview map[string]any, outcome string, was any) []string {
	planned := preview[q.local[ours].ref]
	switch {
	case planned == nil:
		return []string{"the dry run does not print it"}
	case outcome == "unchanged" && version(was) != version(q.live[ours]):
		return []string{"is said to be unchanged, and was written"}
	case outcome == "configured" && version(was) == version(q.live[ours]):
		return []string{"is said to be configured, and was not written"}
	}
	u := c.users[ours]
	is := configuration(q.live[ours], u.ns)
	plan := clusterOnly(configuration(planned, u.ns), is)
	typed := func(v any) any { return known(q.typ, v, plan) }
	var found []string
	for _, d := range merge.Diff(typed(merge.Complete(plan, q.typ, true)), typed(is), q.typ) {
		if _, states := merge.Lookup(plan, d.Path, q.typ); !states {
			continue // a default that this server does not have
		}
		if f, _ := schema.FieldAt(q.typ, d.Path); d.Op != merge.OpOrder && !f.Allocated && !comeTo(f, d.Old, d.New) && !has(d.New.Value, d.Old.Value) && !zero(d.Old) {
			found = append(found, "the dry run says "+d.Path.String()+" "+short(d.Old.Value)+", and it is "+short(d.New.Value))
		}
	}
	return found
}

// zero asks for the default, or is stored as absence.
func zero(o merge.Opt) bool { return o.Value == "" || o.Value == json.Number("0") || o.Value == false }

// reported lists the values of others that were removed or overwritten, and that no
// note names: those that neither were in original nor come out of local, and of which the
// applier is not recorded as the only owner.
func (c *cast) reported(ct *contrast, was any, notes []note) (found []string) {
	managers := ownership.Of(was)
	for _, d := range merge.Diff(ct.before, ct.after[ours], ct.typ) {
		f, _ := schema.FieldAt(ct.typ, d.Path)
		if d.Op == merge.OpOrder || !d.Old.Set || d.Old.Value == nil || f.Allocated {
			continue
		}
		if o := ct.lookup(ct.original[ours], d.Path); o.Set && laws.Alike(o, d.Old, f) || laws.Alike(ct.lookup(ct.served(ct.original[ours]), d.Path), d.Old, f) {
			continue // what was applied before, completed by the server: the applier's own
		}
		if laws.Alike(ct.lookup(ct.served(dropField(ct.before, d.Path)), d.Path), d.Old, f) {
			continue // the server's default, which no actor set
		}
		if owners := ownership.At(managers, d.Path); len(owners) > 0 && !slices.ContainsFunc(owners, func(o merge.Owner) bool { return o.Manager != apply.DefaultManager }) {
			continue // written by kubectl apply or by the program, whatever became of the annotation
		}
		p := strings.ReplaceAll(d.Path.String(), "$NS", c.users[ours].ns)
		if !slices.ContainsFunc(notes, func(n note) bool {
			return strings.HasPrefix(n.Path, p) || strings.HasPrefix(p, n.Path)
		}) {
			found = append(found, "no note reports that "+p+" was "+short(d.Old.Value))
		}
	}
	return found
}

// second runs the program again: nothing is written or reported, and diff agrees.
func (c *cast) second(outcomes map[string]string) {
	u := c.users[ours]
	was := map[*sequence]any{}
	var written []object
	for _, q := range c.all {
		if was[q] = q.live[ours]; outcomes[q.local[ours].ref] != "" {
			written = append(written, q.local[ours])
		}
	}
	u.file("written.yaml", string(document(u.t, written...)))
	said := u.tries("kubectl-merge", "-f", "written.yaml", "--preflight=false", "--notes=json")
	outcomes, notes := words(said), notesOf(c.T, said.stderr)
	c.read()
	for _, q := range c.all {
		ref := q.local[ours].ref
		if outcomes[ref] == "" && !slices.ContainsFunc(written, func(o object) bool { return o.ref == ref }) {
			continue
		}
		if outcomes[ref] != "unchanged" || version(was[q]) != version(q.live[ours]) {
			c.Errorf("-seed=%d -sequence=%s: a second run says %q", c.seed, q.name, outcomes[ref])
		}
		for _, n := range notes[ref] {
			if n.Kind == "overwritten" || n.Kind == "removed" || n.Kind == "conflict" {
				c.Errorf("-seed=%d -sequence=%s: a second run reports %s %s", c.seed, q.name, n.Path, n.Kind)
			}
		}
	}
	if got := u.tries("kubectl-merge", "diff", "-f", "written.yaml"); got.code != 0 {
		c.Errorf("-seed=%d: diff after a merge: %s", c.seed, got)
	}
}
