package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/migrate"
	"github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	types "github.com/kubectl-merge/kubectl-merge/pkg/schema"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// TestSameOwner holds the law "same owner" with the API server's own field manager as the
// oracle. A manager applies an object, by client-side or server-side apply, others change it,
// and it is applied again by a plan of server-side apply, migrated to client-side apply and back:
//
//   - the plan leads to the planned values, and the applier owns what was planned;
//   - another manager loses only what the plan has changed;
//   - the same plan again changes nothing, and neither does kubectl apply --server-side;
//   - a migration changes no value, and no other manager's entry.
//
// What server-side apply refuses is counted, and where the outcomes differ from those of
// kubectl, the difference has to have a rule.
func TestSameOwner(t *testing.T) {
	m := fieldManagers(t)
	kinds := append(builtin(t), shapes(t)...)
	var bad failures
	tally := ownerTally{rules: map[string]int{}}
	n := random(t, *count/50, func(i int) { // each is applied, edited and migrated many times
		k := kinds[i%len(kinds)]
		in := gen.New(*seed, uint64(i)).Triple(k.Kind, k.typ)
		p := played{managers: m, k: k, start: starts[(i/len(kinds))%len(starts)]}
		if p.play(in); p.wrong != "" && bad.more(p.law) {
			again := func(in merge.Triple) bool {
				q := p
				q.wrong, q.rules, q.refused = "", nil, nil
				q.play(in)
				return q.law == p.law && q.wrong != ""
			}
			in = shrink(in, again)
			p.wrong = ""
			p.play(in)
			bad.add("%s: triple %d of -sweep.seed=%d, %s: %s: %s\n%s", k, i, *seed, p.start, p.law, p.wrong, spell(in))
		}
		tally.add(p)
	})
	bad.report(t)
	t.Logf("seed %d: %d triples of %d kinds: %s", *seed, n, len(kinds), tally.String())
}

// ownerTally counts.
type ownerTally struct {
	mu                      sync.Mutex
	held, refused, migrated int
	rules                   map[string]int
}

func (o *ownerTally) add(p played) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case p.refused != nil:
		o.refused++
	case p.wrong == "":
		o.held++
	}
	if p.migrated {
		o.migrated++
	}
	for _, r := range p.rules {
		o.rules[r]++
	}
}

func (o *ownerTally) String() string {
	s := fmt.Sprintf("%d hold, %d of them migrated there and back; %d are nothing that server-side apply takes", o.held, o.migrated, o.refused)
	for _, rule := range slices.Sorted(maps.Keys(o.rules)) {
		s += fmt.Sprintf("\n%8d  %s", o.rules[rule], rule)
	}
	return s
}

// start is how an object was applied first, and how others changed it then.
type start string

const (
	serverThenUpdate start = "applied on the server's side, updated by others"
	clientThenUpdate start = "applied from the client's side, updated by others"
	serverThenApply  start = "applied on the server's side, applied by others"
)

var starts = []start{serverThenUpdate, clientThenUpdate, serverThenApply}

// played is one triple that is played.
type played struct {
	managers
	k     kind
	start start

	f          *field
	local      map[string]any
	law        string // that is broken
	hollow     bool   // what is to be removed, or is lost, has no scalar in it
	zero       bool   // what differs is the zero of a Go type
	filled     bool   // what differs is filled in or allocated by a server
	wrong      string // what is wrong; "" for nothing
	conflicted string // the conflict of kubectl apply --server-side with what was there before
	refused    error  // what server-side apply refuses
	rules      []string
	migrated   bool
}

func (p *played) play(in merge.Triple) {
	var err error
	if p.f, err = p.of(p.k); err != nil {
		p.fail("harness", "%v", err)
		return
	}
	p.local = p.f.stated(in.Local)
	for _, side := range []any{in.Original, in.Local, in.Live} {
		if p.f.overflows(p.f.stated(side)) {
			p.refused = errors.New("a number is too large for its field")
			return
		}
	}
	if p.refused = p.begin(in); p.refused != nil {
		return
	}
	before, err := p.f.value()
	if err != nil {
		p.fail("harness", "%v", err)
		return
	}
	if _, err := p.tried(p.local, false); err != nil {
		p.conflicted = err.Error()
	}
	for _, step := range []func(){p.applied, p.byKubectl, p.thereAndBack} {
		if step(); p.refused != nil || p.wrong != "" {
			p.ruled(before)
			return
		}
	}
}

func (p *played) fail(law, format string, args ...any) {
	if p.wrong == "" {
		p.law, p.wrong = law, fmt.Sprintf(format, args...)
	}
}

// begin makes the object as others left it.
func (p *played) begin(in merge.Triple) error {
	if in.Original != nil {
		was := p.f.stated(in.Original)
		if p.start == clientThenUpdate {
			text, err := lastapplied.Encode(was, lastapplied.Options{Type: p.k.typ})
			if err != nil {
				return err
			}
			if err := p.f.update(lastapplied.With(was, text), apply.DefaultManager); err != nil {
				return err
			}
		} else if err := p.f.apply(was, apply.ServerManager, true); err != nil {
			return err
		}
	}
	if in.Live == nil {
		return nil
	}
	live := p.f.stated(in.Live)
	if p.start == serverThenApply {
		return p.f.apply(live, "bob", true)
	}
	if is, err := p.f.value(); err == nil && is != nil {
		if text := lastapplied.Read(is).Text; text != "" {
			live, _ = lastapplied.With(live, text).(map[string]any)
		}
	}
	return p.f.update(live, "bob")
}

func (p *played) subject() apply.Subject {
	return apply.Subject{Object: object.Object{Value: p.local}, Name: p.k.String(), HasStatus: p.k.HasStatus}
}

// plan is that of the program, for what is there now.
func (p *played) plan() (apply.Planned, map[string]any) {
	planner := apply.Planner{Policy: merge.Policies[0], Manager: apply.ServerManager, Validate: apply.Ignore, Writing: apply.ServerSide{}, Schemas: p.schemas}
	live, err := p.f.value()
	if err != nil {
		p.fail("harness", "%v", err)
		return apply.Planned{}, nil
	}
	plan, err := planner.Plan(context.Background(), p.subject(), live)
	if err != nil {
		p.refused = err
	}
	return plan, live
}

func (p *played) schemas(context.Context, string, string, string) (*merge.Type, error) {
	return p.k.typ, nil
}

// applied carries out the plan, and holds it to what it says.
func (p *played) applied() {
	first, before := p.plan()
	plan := first
	for range 2 { // once more where owners are written first
		if p.refused != nil || p.wrong != "" || plan.Applying.Owners == nil {
			break
		}
		if err := p.f.update(ownership.WithEntries(before, plan.Applying.Owners), "kubectl"); err != nil {
			p.fail("handed over", "%v", err)
			return
		}
		plan, _ = p.plan()
	}
	if p.refused != nil || p.wrong != "" {
		return
	}
	if plan.Action != apply.Nothing {
		if err := p.f.apply(plan.Applying.Config, apply.ServerManager, plan.Applying.Force); err != nil {
			if _, always := p.tried(p.local, true); always != nil {
				p.refused = err // in an apply by any manager
				return
			}
			p.fail("accepted", "the plan is refused: %v\n%v", err, shown(plan.Applying.Config))
			return
		}
	}
	after, err := p.f.value()
	if err != nil {
		p.fail("harness", "%v", err)
		return
	}
	planned := ownership.Fields(plan.Applying.Config, p.k.typ)
	same, err := ownership.SameFields(planned, ownership.Applied(after, apply.ServerManager), ownership.Nulls(p.local, p.k.typ))
	if err != nil || !same {
		p.fail("owned", "planned owners\n%s, are\n%s (%v)", shown(planned), shown(ownership.Applied(after, apply.ServerManager)), err)
	}
	if d := p.differ(first.Final, after); d != "" {
		p.fail("sound", "%s", d)
	}
	p.others(first, before, after)
	if again, live := p.plan(); again.Action != apply.Nothing && (p.differ(live, again.Final) != "" || again.Applying.Owners != nil) {
		p.hollow = !slices.ContainsFunc(again.Changes, func(c merge.Change) bool { return c.Op != merge.OpRemove || !hollow(c.Old.Value) })
		p.fail("settled", "a second plan is to %v: %v", again.Action, again.Changes)
	}
}

// differ is the first place in which two objects differ for a server.
func (p *played) differ(a, b any) string {
	a, b = p.f.stored(a), p.f.stored(b)
	for _, c := range merge.Diff(a, b, p.k.typ) {
		if c.Op != merge.OpOrder && (!hollow(c.Old.Value) || !hollow(c.New.Value)) {
			f, _ := types.FieldAt(p.k.typ, c.Path)
			if p.wrong == "" {
				p.zero = nothing(c.Old.Value) && nothing(c.New.Value)
				p.filled = !c.New.Set && (f.Allocated || merge.NewFinder(a, p.k.typ).Refilled(c.Path)) ||
					c.New.Set && p.mirror(c.Path)
			}
			return fmt.Sprintf("%s: planned %v, is %v", c.Path, c.Old, c.New)
		}
	}
	return ""
}

// mirror: the server keeps another field alike, and makes of an empty one what the other one has.
func (p *played) mirror(at merge.Path) bool {
	around := p.k.typ.At(at[:len(at)-1])
	return around != nil && slices.ContainsFunc(around.Mirrored, func(pair [2]string) bool { return slices.Contains(pair[:], at[len(at)-1].Name) })
}

// hollow: the value has no scalar in it.
func hollow(v any) bool {
	m, isMap := v.(map[string]any)
	for _, e := range m {
		if !hollow(e) {
			return false
		}
	}
	return v == nil || isMap || empty(v)
}

// others: another manager loses what the plan has changed, and nothing else.
func (p *played) others(plan apply.Planned, before, after map[string]any) {
	found, err := laws.Others(before, after, plan.Changes, theirs)
	if err != nil {
		p.fail("harness", "%v", err)
	}
	for _, b := range found {
		is, _ := merge.Lookup(before, b.Path, p.k.typ)
		if p.hollow = hollow(is); !p.hollow {
			p.fail("kept", "%s", b)
			return
		}
	}
	if len(found) > 0 {
		p.fail("kept", "%s", found[0])
	}
}

// theirs: an entry of managedFields, by its name, is none of kubectl's, nor the server's for
// fields without a recorded manager.
func theirs(entry string) bool {
	return !strings.HasPrefix(entry, "kubectl") && !strings.HasPrefix(entry, merge.Unrecorded+"/")
}

// tried returns the result of an apply of v, without changing the object.
func (p *played) tried(v map[string]any, force bool) (map[string]any, error) {
	was := p.f.live
	defer func() { p.f.live = was }()
	if err := p.f.apply(v, apply.ServerManager, force); err != nil {
		return nil, err
	}
	return p.f.value()
}

// byKubectl: kubectl apply --server-side of the same file finds no conflict, and nothing to do.
func (p *played) byKubectl() {
	is, err := p.f.value()
	if err != nil {
		p.fail("harness", "%v", err)
		return
	}
	got, err := p.tried(p.local, false)
	if err != nil {
		p.fail("kubectl", "finds a conflict: %v", err)
		return
	}
	if d := p.differ(is, got); d != "" {
		p.fail("kubectl", "changes %s", d)
	}
	same, err := ownership.SameFields(ownership.Applied(is, apply.ServerManager), ownership.Applied(got, apply.ServerManager), ownership.Nulls(p.local, p.k.typ))
	if err != nil || !same {
		p.fail("kubectl", "owns\n%s, and before that\n%s (%v)", shown(ownership.Applied(got, apply.ServerManager)), shown(ownership.Applied(is, apply.ServerManager)), err)
	}
}

// thereAndBack migrates to client-side apply and to server-side apply again.
func (p *played) thereAndBack() {
	for _, to := range []migrate.Direction{migrate.ToClientSide, migrate.ToServerSide} {
		before, err := p.f.value()
		if err != nil {
			p.fail("harness", "%v", err)
			return
		}
		planner := migrate.Planner{To: to, Manager: apply.ServerManager, Schemas: p.schemas}
		move, err := planner.Plan(context.Background(), migrate.Subject{Subject: p.subject(), In: func(string) (map[string]any, error) { return before, nil }}, before)
		if err != nil {
			p.fail("migrated to "+string(to), "%v", err)
			return
		}
		manager := apply.ServerManager
		if to == migrate.ToClientSide {
			manager = apply.DefaultManager
		}
		if err := p.f.update(move.Final, manager); err != nil {
			p.fail("migrated to "+string(to), "%v", err)
			return
		}
		p.moved(to, move, before)
		if p.wrong != "" {
			return
		}
	}
	p.migrated = true
}

// emptyAnnotations are what others hold of annotations that are empty, until the last-applied
// one is among them.
var emptyAnnotations = map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{}}}

// moved: a migration has changed no value, and no other manager's entry.
func (p *played) moved(to migrate.Direction, move migrate.Move, before map[string]any) {
	law := "migrated to " + string(to)
	after, err := p.f.value()
	if err != nil {
		p.fail("harness", "%v", err)
		return
	}
	if d := p.differ(before, after); d != "" {
		p.fail(law, "%s", d)
	}
	was, is := laws.Entries(before), laws.Entries(after)
	for _, who := range slices.Sorted(maps.Keys(was)) {
		if !theirs(who) {
			continue
		}
		if same, err := ownership.SameFields(was[who], is[who], emptyAnnotations); err != nil || !same {
			p.fail(law, "%s holds something else (%v)", who, err)
		}
	}
	if to == migrate.ToServerSide && move.Trial != nil {
		got, err := p.tried(move.Trial, false)
		if err != nil {
			p.fail(law, "applying what was moved is a conflict: %v", err)
		} else if d := p.differ(after, got); d != "" {
			p.fail(law, "applying what was moved changes %s", d)
		}
	}
}
