package e2e

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/migrate"
	whole "github.com/kubectl-merge/kubectl-merge/internal/object"
	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

// owners goes on with the objects of a round by server-side apply, as kubectl's own manager,
// and holds the law "same owner":
//
//   - half of the objects are migrated by the verb: managedFields are then as planned, and no
//     value has changed; the others are migrated by the first server-side merge;
//   - v1 is applied: the values are the planned ones, the applier owns just what the plan
//     applies, and others have lost nothing but what the plan has changed;
//   - after each of these, kubectl apply --server-side of the same file, as the same manager,
//     has no conflict and changes nothing, managedFields included, and neither does the program.
//
// What server-side apply refuses from every manager is counted, and not played.
type owners struct {
	*round
	refused, migrated, merged, again int
}

// serverSide are the flags of server-side apply under the manager of kubectl apply --server-side.
var serverSide = []string{"--server-side", "--force-conflicts", "--preflight=false", "-q"}

func (r *owners) play() {
	r.t.Helper()
	r.objects = r.taken()
	var verb []*sweptObject
	for i, o := range r.objects {
		if i%2 == 0 || o.fixed {
			verb = append(verb, o)
		}
	}
	r.migrate(verb)
	r.byKubectl("migrated", verb, asV2)
	all := r.under(false)
	r.apply(all)
	all = r.under(false)
	r.merged, r.refused = len(all), r.refused+len(r.objects)-len(r.left())
	r.lists(all)
	r.blamed(all)
	r.byKubectl("merged", all, asV1)
	said := r.written(all, asV1, "kubectl-merge", "--server-side", "--preflight=false", "-q")
	for _, o := range all {
		if said[o.ref()] != "unchanged" {
			r.t.Errorf("%s\nsettled: a second server-side merge: %q", o, said[o.ref()])
		}
	}
	r.t.Logf("server-side: %d objects migrated, %d merged, kubectl apply --server-side after %d of both; %d are nothing that server-side apply takes",
		r.migrated, r.merged, r.again, r.refused)
}

// taken are the objects that server-side apply takes from anybody: in the file no list has a
// key twice, and others have none twice. Those with an entry without its key are left out, too:
// the program refuses them (docs/server-side.md).
func (r *owners) taken() []*sweptObject {
	var mu sync.Mutex
	takes := map[*sweptObject]bool{}
	parallel(r.left(), func(o *sweptObject) {
		err := error(nil)
		if !o.fixed {
			err = r.tried(o, o.v1)
		}
		if err == nil {
			err = r.tried(o, o.v2)
		}
		mu.Lock()
		defer mu.Unlock()
		takes[o] = err == nil && !laws.Repeats(o.after, o.kind.typ) && !keyless(o.v1, o.kind.typ) && !keyless(o.v2, o.kind.typ)
	})
	out := slices.DeleteFunc(r.left(), func(o *sweptObject) bool { return !takes[o] })
	r.refused = len(takes) - len(out)
	return out
}

// keyless: an entry of a list has no key, and there is no default for it.
func keyless(v any, typ *merge.Type) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if keyless(e, typ.Field(name).Type) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			m, isMap := e.(map[string]any)
			none := func(k merge.Key) bool { return isMap && m[k.Name] == nil && k.Default == nil }
			if typ != nil && typ.Kind == merge.Keyed && slices.ContainsFunc(typ.Keys, none) || keyless(e, typ.EntryType()) {
				return true
			}
		}
	}
	return false
}

// tried has the server try a server-side apply.
func (r *owners) tried(o *sweptObject, v map[string]any) error {
	_, err := r.ask(r.t.Context(), "APPLY", o.kind.url(r.ns, o.name), v, "dryRun", "All", "force", "true", "fieldManager", apply.ServerManager)
	return err
}

// written runs a command that has to have a word for each object, and gives it.
func (r *owners) written(objects []*sweptObject, version func(*sweptObject) map[string]any, name string, args ...string) map[string]string {
	r.t.Helper()
	w, got := r.says(objects, version, name, args...)
	if len(w) != len(objects) || got.code != 0 {
		r.t.Errorf("%d objects, %d outcomes, exit %d: %.5000s", len(objects), len(w), got.code, got.stderr)
	}
	return w
}

// lists counts the merging lists that are played.
func (r *owners) lists(played []*sweptObject) {
	r.t.Helper()
	seen := map[*sweptList]bool{}
	for _, o := range played {
		for _, e := range o.edits {
			seen[e.list] = true
		}
	}
	r.t.Logf("server-side: %d merging lists", len(seen))
}

// schemas are those by which the program plans.
func (r *owners) schemas(o *sweptObject) apply.Schemas {
	return func(context.Context, string, string, string) (*merge.Type, error) { return o.kind.typ, nil }
}

func (o *sweptObject) subject(v map[string]any) apply.Subject {
	return apply.Subject{Object: whole.Object{Value: v}, Name: o.String(), HasStatus: o.kind.hasStatus}
}

// migrate moves the ownership of what v2 has applied.
func (r *owners) migrate(objects []*sweptObject) {
	r.t.Helper()
	before := r.read(objects)
	r.written(objects, asV2, "kubectl-merge", "migrate", "--to=server-side", "-q")
	after := r.read(objects)
	r.migrated = len(objects)
	parallel(objects, func(o *sweptObject) {
		planner := migrate.Planner{To: migrate.ToServerSide, Manager: apply.ServerManager, Schemas: r.schemas(o)}
		move, err := planner.Plan(context.Background(), migrate.Subject{Subject: o.subject(o.v2), In: func(string) (map[string]any, error) { return before[o], nil }}, before[o])
		if err != nil {
			r.t.Errorf("%s: %v", o, err)
			return
		}
		r.sameEntries(o, "migrated", o.v2, move.Final, after[o])
		for _, c := range merge.Diff(o.kind.configuration(before[o]), o.kind.configuration(after[o]), o.kind.typ) {
			r.t.Errorf("%s\nmigrated: %s", r.culprit(o, c.Path), c.Path)
		}
	})
}

// sameEntries: managedFields are the planned ones, save for what the file states as nothing,
// null or an empty list: who owns that means nothing.
func (r *owners) sameEntries(o *sweptObject, when string, file, planned, is map[string]any) {
	want, got := laws.Entries(planned), laws.Entries(is)
	for who := range maps.Keys(want) {
		if _, has := got[who]; !has {
			got[who] = nil
		}
	}
	for who, fields := range got {
		more, err := ownership.Minus(fields, want[who])
		if err != nil {
			r.t.Errorf("%s: %v", o, err)
		}
		less, err := ownership.Minus(want[who], fields)
		if err != nil {
			r.t.Errorf("%s: %v", o, err)
		}
		for _, p := range slices.Concat(ownership.Leaves(more), ownership.Leaves(less)) {
			if forgets(o.kind, p) || p.String() == lastapplied.AnnotationPath.String() {
				continue // the annotation gets an owner of its own with kubectl's first apply
			}
			if v, stated := merge.Lookup(file, p, o.kind.typ); !stated || v != nil && !empty(v) {
				r.t.Errorf("%s\n%s: %s owns more or less than was planned: %s", r.culprit(o, p), when, who, p)
			}
		}
	}
}

// resets is the kind whose spec the server sets back with every write but the first, so that
// it has no owner after that.
const resets = "CertificateSigningRequest"

// forgets: the server itself drops the entry with the next apply.
func forgets(k *sweptKind, p merge.Path) bool {
	return k.kind == resets && p[0].Name == "spec"
}

// apply applies v1 by server-side apply, and holds the plan to it. What is refused keeps its owners;
// once kubectl has moved them, its apply is refused, too.
func (r *owners) apply(objects []*sweptObject) {
	r.t.Helper()
	before := r.read(objects)
	said, got := r.says(objects, asV1, "kubectl-merge", serverSide...)
	after := r.read(objects)
	refused := slices.DeleteFunc(slices.Clone(objects), func(o *sweptObject) bool { return said[o.ref()] != "" })
	r.says(refused, asV1, "kubectl", "apply", "--server-side", "--force-conflicts") // says "serverside-applied" of what it is refused later
	parallel(objects, func(o *sweptObject) {
		policy, _ := merge.PolicyNamed("apply")
		planner := apply.Planner{Policy: policy, Manager: apply.ServerManager, Validate: apply.Ignore, Writing: apply.ServerSide{}, Schemas: r.schemas(o)}
		plan, err := planner.Plan(context.Background(), o.subject(o.v1), before[o])
		if err != nil {
			r.t.Errorf("%s: %v", o, err)
			return
		}
		if said[o.ref()] == "" {
			err := r.tried(o, o.v1)
			if err == nil {
				r.t.Errorf("%s: is refused, and the same by another manager is not: %.5000s", o, got.stderr)
			}
			if !reflect.DeepEqual(laws.Entries(before[o]), laws.Entries(after[o])) {
				r.t.Errorf("%s: is refused, and has other owners: %v, was %v", o, laws.Entries(after[o]), laws.Entries(before[o]))
			}
			o.refuse("server-side", err)
			return
		}
		if word := said[o.ref()]; word != "serverside-applied" && word != "unchanged" || (word == "unchanged") != (plan.Action == apply.Nothing) {
			r.t.Errorf("%s: %q, planned was %v", o, word, plan.Action)
		}
		r.owned(o, plan, after[o])
	})
}

// owned: values and owners are stored as planned.
func (r *owners) owned(o *sweptObject, plan apply.Planned, after map[string]any) {
	typ := o.kind.typ
	planned, owns := ownership.Fields(plan.Applying.Config, typ), ownership.Applied(after, apply.ServerManager)
	if same, err := ownership.SameFields(planned, owns, ownership.Nulls(o.v1, typ)); (err != nil || !same) && o.kind.kind != resets {
		more, _ := ownership.Minus(owns, planned)
		less, _ := ownership.Minus(planned, owns)
		r.t.Errorf("%s\nowned: beside the plan %v, and not %v (%v)", o, ownership.Leaves(more), ownership.Leaves(less), err)
	}
	found, err := laws.Others(plan.Live, after, plan.Changes, func(entry string) bool {
		manager, _, _ := strings.Cut(entry, "/")
		return manager != apply.ServerManager && manager != ownership.AnnotationManager && manager != applier
	})
	if err != nil {
		r.t.Errorf("%s: %v", o, err)
	}
	for _, b := range found {
		r.t.Errorf("%s\n%s", r.culprit(o, b.Path), b)
	}
	r.sound(o, o.kind.configuration(plan.Final), o.kind.configuration(after), o.kind.configuration(plan.Live))
}

// byKubectl has kubectl apply the same by server-side apply, as the same manager. After a
// migration it may spell the last-applied annotation anew, which the server does with the first
// apply, and may own what the file states as nothing, which sameEntries allows.
func (r *owners) byKubectl(when string, objects []*sweptObject, version func(*sweptObject) map[string]any) {
	r.t.Helper()
	before := r.read(objects)
	r.written(objects, version, "kubectl", "apply", "--server-side")
	after := r.read(objects)
	parallel(objects, func(o *sweptObject) {
		was, is := before[o], after[o]
		for _, c := range merge.Diff(o.kind.configuration(was), o.kind.configuration(is), o.kind.typ) {
			if (laws.Merge{Type: o.kind.typ}).Fixed(c.Path) {
				continue // what others add to what can no longer be changed stays here, and not with kubectl
			}
			if c.Op != merge.OpOrder && (!empty(c.Old.Value) || !empty(c.New.Value)) {
				r.t.Errorf("%s\n%s: kubectl apply --server-side changes %s", r.culprit(o, c.Path), when, c.Path)
			}
		}
		r.sameEntries(o, when+", then kubectl", version(o), was, is)
		respelled := lastapplied.Read(was).Text != lastapplied.Read(is).Text
		ownsMore := !reflect.DeepEqual(laws.Entries(was), laws.Entries(is))
		if storedAs(was) != storedAs(is) && (when == "merged" || !respelled && !ownsMore) {
			r.t.Errorf("%s\n%s: kubectl apply --server-side writes it", o, when)
		}
	})
	r.again += len(objects)
}
