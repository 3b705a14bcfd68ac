package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/part"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

func newPromises(t *testing.T, s *apiServer, counts *tally, r *rand.Rand) *promises {
	t.Helper()
	u := s.user(t, "law")
	u.crds()
	p := &promises{sweep: newSweep(u), Rand: r, counts: counts}
	kinds := p.sweptKinds()
	byName := map[string]*sweptKind{}
	for _, k := range []*sweptKind{
		{group: "stories.example.com", version: "v1", kind: "Gadget", resource: "gadgets", namespaced: true},
		{group: "shapes.example.com", version: "v1", kind: "Shape", resource: "shapes", namespaced: true},
	} {
		byName[k.String()] = k
	}
	for _, k := range kinds {
		byName[k.String()] = k
		for range 2 {
			p.swept(k)
		}
	}
	for _, template := range append(templates(t), templatesIn(t, "testdata/sequences/*.yaml")...) {
		v := template.(map[string]any)
		group, kind := kindOf(v)
		version := strings.TrimPrefix(v["apiVersion"].(string), group+"/")
		k := byName[group+"/"+version+" "+kind]
		if k == nil {
			t.Fatalf("no kind for the template of a %s", kind)
		}
		if k.typ = typeOf(t, v); kind == "LimitRange" {
			continue // see swept
		}
		for range max(1, weightOf(v)/2) {
			p.drawn(k, template)
		}
	}
	p.thin()
	t.Cleanup(p.cleanUp)
	proxy, err := newProxy(s.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.http.Close)
	p.proxy, p.led = proxy, u.proxied(proxy)
	return p
}

// swept adds an object of a kind of the sweep, with random edits of some of its lists.
func (p *promises) swept(k *sweptKind) {
	var lists []*sweptList
	for _, l := range k.lists {
		at := l.String()
		mixes := k.kind == "LimitRange" && !strings.HasPrefix(at, "metadata") // into the pods that are there
		if !l.fixed && !mixes && at != "metadata.finalizers" && at != "metadata.ownerReferences" {
			lists = append(lists, l)
		}
	}
	n, word := len(p.all), fmt.Sprintf("%s-%d", p.ns, len(p.all))
	edited := func() *sweptObject {
		o := &sweptObject{kind: k, word: word}
		for range min(len(lists), 1+p.IntN(3)) {
			l := lists[p.IntN(len(lists))]
			if !slices.ContainsFunc(o.edits, func(e edited) bool { return e.list == l }) && len(l.sides) > 0 {
				o.edits = append(o.edits, edited{l, l.sides[p.IntN(len(l.sides))]})
			}
		}
		return o
	}
	object := func(o *sweptObject, side func(gen.Sides) merge.Opt) map[string]any {
		return p.labelled(o.manifest(p.ns, 1<<17+n, side))
	}
	o := edited()
	p.add(&promised{kind: k, v1: object(o, original), v2: object(o, local), other: func() map[string]any { return object(edited(), live) }})
}

// labelled gives an object random labels and annotations.
func (p *promises) labelled(v map[string]any) map[string]any {
	meta := v["metadata"].(map[string]any)
	for _, word := range []string{"labels", "annotations"} {
		m, _ := meta[word].(map[string]any)
		if m = maps.Clone(m); m == nil {
			m = map[string]any{}
		}
		for _, name := range []string{"a", "b", "c"} {
			if p.IntN(2) == 0 {
				m[name] = fmt.Sprint(p.IntN(3))
			}
		}
		if meta[word] = m; len(m) == 0 {
			delete(meta, word)
		}
	}
	return v
}

// drawn adds an object of a template.
func (p *promises) drawn(k *sweptKind, template any) {
	name, seed, n := fmt.Sprintf("%s-%d", p.ns, len(p.all)), p.Uint64(), uint64(0)
	draw := func() map[string]any {
		n++
		d := newDraw(p.t, seed, "", p.ns, n) // another name each time must not draw another object
		d.words = strings.NewReplacer("$NAME", name, "$NS", p.ns)
		return d.from(template, "").(map[string]any)
	}
	p.add(&promised{kind: k, v1: draw(), v2: draw(), other: draw})
}

func (p *promises) add(o *promised) {
	for _, v := range []map[string]any{o.v1, o.v2} {
		if meta, ok := v["metadata"].(map[string]any); ok && o.kind.namespaced {
			meta["namespace"] = p.ns
		}
	}
	o.name = o.v1["metadata"].(map[string]any)["name"].(string)
	o.ref = drawn(o.v1).ref
	switch p.IntN(8) {
	case 0:
		o.v1 = nil
	case 1:
		if !slices.Contains(neverPruned, o.kind.kind) {
			o.v2 = nil
		}
	}
	p.all = append(p.all, o)
}

// thin leaves the objects of the part that is played (see ../part).
func (p *promises) thin() {
	played, n := part.Chosen(p.t), 0
	p.all = slices.DeleteFunc(p.all, func(*promised) bool { n++; return !played.Has(n) })
}

// neverPruned are kinds of which a run does not prune objects, and Events, which can be deleted
// as one of events.k8s.io that could not be created so.
var neverPruned = []string{"PersistentVolume", "PersistentVolumeClaim", "Namespace", "CustomResourceDefinition", "Event"}

// cleanUp takes away what does not go with the namespace.
func (p *promises) cleanUp() {
	var all []*sweptObject
	for _, o := range p.all {
		if !o.kind.namespaced {
			all = append(all, &sweptObject{kind: o.kind, name: o.name})
		}
	}
	parallel(all, func(o *sweptObject) { _ = p.remove(context.Background(), o) }) // it may not be there
}
