package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/test/sweep/gen"
)

// edited is one list of an object, and what is done to it.
type edited struct {
	list  *sweptList
	sides gen.Sides
}

// sweptObject is an object in which something is done to some of its lists.
type sweptObject struct {
	kind  *sweptKind
	word  string // of which its name is made
	name  string
	edits []edited
	fixed bool // the lists cannot be changed

	v1, v2  map[string]any // applied before, and then
	before  map[string]any // live, as the others left it
	planned map[string]any // what the program says will be
	after   map[string]any // live, after v2
	refused error
	stage   string // in which it was refused
}

func (o *sweptObject) String() string {
	var what []string
	for _, p := range o.edits {
		what = append(what, fmt.Sprintf("%s: %s", p.list, p.sides.Name))
	}
	return fmt.Sprintf("%s %s (%s)", o.kind, o.name, strings.Join(what, "; "))
}

// refuse keeps the first refusal.
func (o *sweptObject) refuse(stage string, err error) {
	if o.refused == nil {
		o.refused, o.stage = err, stage
	}
}

func (o *sweptObject) ref() string { return drawn(o.v1).ref }

func asV1(o *sweptObject) map[string]any { return o.v1 }
func asV2(o *sweptObject) map[string]any { return o.v2 }

// manifest is the kind's base for the nth object in a namespace, with a side of each
// list in it.
func (o *sweptObject) manifest(ns string, n int, side func(gen.Sides) merge.Opt) map[string]any {
	ip := fmt.Sprintf("10.%d.%d.%d", 100+n>>16, n>>8&255, n&255)
	m := replaced(o.kind.base, strings.NewReplacer("$NAME", o.word, "$NS", ns, "$IP", ip)).(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{"name": o.word}
		m["metadata"] = meta
	}
	o.name = meta["name"].(string)
	for _, p := range o.edits {
		put(m, p.list, side(p.sides))
	}
	return m
}

func original(s gen.Sides) merge.Opt { return s.Original }
func local(s gen.Sides) merge.Opt    { return s.Local }
func live(s gen.Sides) merge.Opt     { return s.Live }

// put sets a list of an object, behind those entries of the base that stay.
func put(v map[string]any, l *sweptList, o merge.Opt) {
	names := l.Names
	for len(names) > 1 {
		if names[1] == "*" {
			v, names = v[names[0]].([]any)[0].(map[string]any), names[2:]
			continue
		}
		next, ok := v[names[0]].(map[string]any)
		switch {
		case !ok && !o.Set:
			return
		case !ok:
			next = map[string]any{}
			v[names[0]] = next
		}
		v, names = next, names[1:]
	}
	list, _ := v[names[0]].([]any)
	entries, isList := o.Value.([]any)
	switch {
	case isList || l.keep > 0:
		kept := append([]any{}, list[:min(len(list), l.keep)]...)
		v[names[0]] = append(kept, copied(entries).([]any)...)
	case o.Set:
		v[names[0]] = nil
	default:
		delete(v, names[0])
	}
}

func copied(v any) any { return replaced(v, strings.NewReplacer()) }

// otherwise is the live object with its lists as the others want them.
func (o *sweptObject) otherwise(now map[string]any) map[string]any {
	out := copied(now).(map[string]any)
	for _, p := range o.edits {
		put(out, p.list, p.sides.Live)
	}
	return out
}

// ofServer are annotations and finalizers that the server itself writes.
var ofServer = []string{lastapplied.Annotation, "deprecated.daemonset.template.generation", "kubernetes.io/pv-protection", "kubernetes.io/pvc-protection",
	"kubernetes.io/vac-protection"}

// configuration returns the part of a live object that is merged.
func (k *sweptKind) configuration(live map[string]any) map[string]any {
	out := maps.Clone(live)
	if k.hasStatus {
		delete(out, "status")
	}
	meta, _ := out["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	for _, name := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"} {
		delete(meta, name)
	}
	notes, _ := meta["annotations"].(map[string]any)
	notes = maps.Clone(notes)
	for _, name := range ofServer {
		delete(notes, name)
	}
	if meta["annotations"] = notes; len(notes) == 0 {
		delete(meta, "annotations")
	}
	if list, ok := meta["finalizers"].([]any); ok {
		meta["finalizers"] = slices.DeleteFunc(slices.Clone(list), func(f any) bool { return slices.Contains(ofServer, fmt.Sprint(f)) })
	}
	out["metadata"] = meta
	return out
}
