package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/laws"
)

// applier is whom kubectl and the program write as.
const applier = "kubectl-client-side-apply"

// round plays objects through: v1 is applied, others change it, v2 is applied, and
// again; the laws are held on what is there then. What the server refuses is marked,
// and goes no further.
type round struct {
	*sweep
	objects []*sweptObject
}

// under are the objects that nothing has refused yet: those of which the lists cannot
// be changed, or the others.
func (r *round) under(fixed bool) []*sweptObject {
	var all []*sweptObject
	for _, o := range r.objects {
		if o.refused == nil && o.fixed == fixed {
			all = append(all, o)
		}
	}
	return all
}

func (r *round) left() []*sweptObject { return append(r.under(false), r.under(true)...) }

// parallel does a job for each object.
func parallel(objects []*sweptObject, job func(*sweptObject)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(objects); i = int(next.Add(1)) - 1 {
				job(objects[i])
			}
		})
	}
	wait.Wait()
}

// write has the program apply a version of objects, and gives the word for each.
func (r *round) write(objects []*sweptObject, version func(*sweptObject) map[string]any) map[string]string {
	r.t.Helper()
	w, got := r.says(objects, version, "kubectl-merge", "--preflight=false", "-q")
	if got.code != 0 && len(w) == len(objects) || got.code == 0 && len(w) != len(objects) {
		r.t.Fatalf("%d objects, %d outcomes: %.3000s", len(objects), len(w), got)
	}
	return w
}

// says runs a command on a version of objects, and gives its word for each.
func (r *round) says(objects []*sweptObject, version func(*sweptObject) map[string]any, name string, args ...string) (map[string]string, said) {
	r.t.Helper()
	if len(objects) == 0 {
		return nil, said{}
	}
	all := make([]object, len(objects))
	for i, o := range objects {
		all[i] = object{value: version(o)}
	}
	r.file("all.yaml", string(document(r.t, all...)))
	got := r.tries(name, append(args, "-f", "all.yaml")...)
	return words(got), got
}

// read gets the live objects by what kubectl calls them.
func (r *round) read(objects []*sweptObject) map[*sweptObject]map[string]any {
	r.t.Helper()
	kinds := map[*sweptKind]map[string]map[string]any{}
	found := map[*sweptObject]map[string]any{}
	for _, o := range objects {
		if kinds[o.kind] == nil {
			kinds[o.kind] = map[string]map[string]any{}
			for _, live := range r.list(o.kind) {
				name, _ := live["metadata"].(map[string]any)["name"].(string)
				kinds[o.kind][name] = live
			}
		}
		found[o] = kinds[o.kind][o.name]
	}
	return found
}

// play is the whole of it.
func (r *round) play() {
	r.t.Helper()
	r.apply1()
	r.others()
	r.plan()
	r.apply2()
	r.judge()
	r.again()
}

// apply1 applies v1. An object with lists that cannot be changed is created as by an
// admission webhook: v1 is in the annotation, and the object is different.
func (r *round) apply1() {
	r.t.Helper()
	objects := r.under(false)
	said := r.write(objects, asV1)
	made := r.read(objects)
	parallel(objects, func(o *sweptObject) {
		o.before = made[o]
		switch said[o.ref()] {
		case "created":
			for _, b := range (laws.Merge{Triple: merge.Triple{Local: o.v1}, Type: o.kind.typ, Result: known(o.kind.typ, o.kind.configuration(o.before), o.v1)}).Breaches() {
				r.t.Errorf("%s\ncreated: %s", o, b)
			}
		case "":
			_, err := r.ask(r.t.Context(), "POST", o.kind.url(r.ns, ""), o.v1, "dryRun", "All")
			if err == nil {
				r.t.Errorf("%s: the program does not get it created, and others would", o)
				err = fmt.Errorf("the program alone is refused")
			}
			o.refuse("original", err)
		default:
			r.t.Errorf("%s: %s", o, said[o.ref()])
		}
	})
	parallel(r.under(true), func(o *sweptObject) {
		live := o.otherwise(o.v1)
		text, err := json.Marshal(o.v1)
		if err != nil {
			r.t.Error(err)
		}
		live["metadata"].(map[string]any)["annotations"] = map[string]any{lastapplied.Annotation: string(text)}
		o.before, err = r.send(o, "POST", live, applier)
		if err != nil {
			o.refuse("live", err)
		}
	})
}

// send creates or replaces an object.
func (r *round) send(o *sweptObject, verb string, v map[string]any, manager string, more ...string) (map[string]any, error) {
	name := o.name
	if verb == "POST" {
		name = ""
	}
	text, err := r.ask(r.t.Context(), verb, o.kind.url(r.ns, name), v, append(more, "fieldManager", manager)...)
	if err != nil {
		return nil, err
	}
	got, err := decodeJSON(text)
	m, _ := got.(map[string]any)
	return m, err
}

// others change what is there.
func (r *round) others() {
	parallel(r.under(false), func(o *sweptObject) {
		live := o.otherwise(o.before)
		if merge.Equal(live, o.before, nil) {
			return
		}
		var err error
		if o.before, err = r.send(o, "PUT", live, "others"); err != nil {
			o.refuse("live", err)
		}
	})
}

// plan asks the program what it would make of v2.
func (r *round) plan() {
	r.t.Helper()
	byRef := map[string]*sweptObject{}
	var all []object
	for _, o := range r.left() {
		byRef[o.ref()] = o
		all = append(all, object{value: o.v2})
	}
	if len(all) == 0 {
		return
	}
	r.file("all.yaml", string(document(r.t, all...)))
	v, err := decodeJSON([]byte(r.merges("-f", "all.yaml", "--dry-run=client", "-o", "json", "-q", "--show-managed-fields").stdout))
	if err != nil {
		r.t.Fatal(err)
	}
	items, ok := v.(map[string]any)["items"].([]any)
	if !ok {
		items = []any{v}
	}
	for _, item := range items {
		byRef[drawn(item).ref].planned = item.(map[string]any)
	}
}

// apply2 applies v2. An object with lists that cannot be changed is deleted and created
// again from the plan, as kubectl replace --force does.
func (r *round) apply2() {
	r.t.Helper()
	objects := r.under(false)
	said := r.write(objects, asV2)
	after := r.read(objects)
	parallel(objects, func(o *sweptObject) {
		o.after = after[o]
		switch said[o.ref()] {
		case "configured", "unchanged":
		case "":
			o.refuse("local", r.refusedToo(o))
		default:
			r.t.Errorf("%s: %s", o, said[o.ref()])
		}
	})
	parallel(r.under(true), func(o *sweptObject) {
		anew := copied(o.planned).(map[string]any)
		meta := anew["metadata"].(map[string]any)
		for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
			delete(meta, name)
		}
		if err := r.remove(r.t.Context(), o); err != nil {
			r.t.Errorf("%s: %v", o, err)
		}
		var err error
		if o.after, err = r.send(o, "POST", anew, applier); err != nil {
			r.t.Errorf("%s: the plan is refused: %v", o, err)
			o.refuse("local", err)
		}
	})
}

// refusedToo says why the server refuses local itself, put in place of live by
// another client.
func (r *round) refusedToo(o *sweptObject) error {
	plain := o.before
	for _, p := range o.edits {
		plain = copied(plain).(map[string]any)
		put(plain, p.list, p.sides.Local)
	}
	_, err := r.send(o, "PUT", plain, "others", "dryRun", "All")
	if err == nil && len(o.edits) == 1 {
		r.t.Errorf("%s: the program's write is refused, and a plain one would be taken", o)
	}
	if err == nil {
		err = fmt.Errorf("the program alone is refused")
	}
	return err
}

// remove takes an object away at once.
func (s *sweep) remove(ctx context.Context, o *sweptObject) error {
	url := o.kind.url(s.ns, o.name)
	if _, err := s.ask(ctx, "PATCH", url, map[string]any{"metadata": map[string]any{"finalizers": nil}}); err != nil {
		return err
	}
	_, err := s.ask(ctx, "DELETE", url, map[string]any{"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Background"})
	return err
}

// again applies v2 once more: nothing changes, nothing is written.
func (r *round) again() {
	r.t.Helper()
	objects := r.left()
	said := r.write(objects, asV2)
	now := r.read(objects)
	for _, o := range objects {
		if word, was, is := said[o.ref()], storedAs(o.after), storedAs(now[o]); word != "unchanged" || was != is {
			r.t.Errorf("%s\nsettled: a second time: %q, from resourceVersion %v to %v", o, word, was, is)
		}
	}
}

// storedAs is the resourceVersion of an object.
func storedAs(live map[string]any) string {
	return fmt.Sprint(live["metadata"].(map[string]any)["resourceVersion"])
}
