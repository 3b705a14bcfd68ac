// Package strategy may change with a minor version until 1.0.0. It prepares an object for the
// merge and selects the way it is merged: auto, strategic, json or associative. Server-owned
// fields are set aside, a Secret's stringData is read as data, and built-in exceptions are added
// to the policy. It refuses to read or send anything, and to choose a schema.
package strategy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-merge/kubectl-merge/internal/ownership"
	"github.com/kubectl-merge/kubectl-merge/internal/suggest"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/schema"
)

// Input is one object and the circumstances of its merge.
type Input struct {
	// Triple holds the sides as they were read. Its Owners and Appliers are read from Live
	// where Owners is nil.
	Triple merge.Triple

	// Group, Version and Kind are local's.
	Group, Version, Kind string

	// Schema of the kind in local's version; nil where none is known.
	Schema *merge.Type

	// HasStatus: the resource has a status subresource, so that status is not
	// configuration.
	HasStatus bool

	Policy   merge.Policy
	Rules    schema.Rules // the user's; the built-in ones come after them
	Strategy Strategy     // the zero value is auto
	Trace    bool         // fill Plan.Because
	Compare  bool         // fill Output.Extras

	// Strategic merges by the tags of the kind's Go type, for a strategy that NeedsStruct; nil
	// for custom resources.
	Strategic ThreeWay

	// Recorded: the original is not kubectl's annotation, whose owners then are not appliers.
	Recorded bool

	// Former lists the managers that have applied the original: they claim nothing of it.
	Former []string

	live   *merge.Finder        // of Triple.Live, once that is prepared
	stored func() *merge.Finder // of local as the server would complete it; made once, where it is asked for
}

// ThreeWay returns the merged object of three, each as JSON; original is nil where none is known.
// It modifies none of them.
type ThreeWay func(original, modified, live []byte) (merged []byte, err error)

// Output is the plan and what else the merge found.
type Output struct {
	merge.Plan

	// Ignored lists server-owned fields that local states.
	Ignored []merge.Path

	// Adoptable lists values that only Kubectls hold, that neither local nor original has,
	// and that stay: no file has ever decided about them. An original from managedFields
	// has them.
	Adoptable []merge.Removal

	// Adoption says how Undecided or Adoptable values can be adopted.
	Adoption Adoption

	// Extras lists values that managers other than the applier and the control plane have
	// added to live, that local does not have and that stay. They are computed only with
	// Input.Compare.
	Extras []merge.Removal

	// Uncompared lists fields of an original in another apiVersion that this version does
	// not have: whether live still has them cannot be reported.
	Uncompared []merge.Path

	// Rules lists the rules that decided before the policy did: the user's answers and
	// rules, then the built-in ones.
	Rules []merge.Rule

	// Defaulted lists fields that local sets to null, which the server can store, and for
	// which it stores a default: no patch can express null.
	Defaulted []merge.Path
}

// Strategy is one way to merge an object's sides. Only the rows of Strategies are valid.
type Strategy struct {
	Name string
	Help string // what it does, in half a line

	// NeedsStruct: it merges by the tags of the compiled-in Go type (Input.Strategic).
	NeedsStruct bool

	// plan merges prepared sides by the rules of pkg/merge. merged only computes a result
	// in which local wins everything; merge.Account then finds which side wins, and the
	// reasons. A strategy has one of the two.
	plan   func(Input) merge.Plan
	merged func(Input) (any, error)
}

// Strategies lists all strategies, the default first. To add one is to add a file with
//
//	var _ = register(Strategy{Name: "…", Help: "…", merged: …})
//
// Help, completion and errors follow from the row.
var Strategies = []Strategy{
	{Name: "auto", Help: "by the type of each field", plan: auto},
}

var _ = register(Strategy{Name: "associative", Help: "kustomize's rules, list keys inferred", plan: associative})

// register adds a row to Strategies, when the program starts.
func register(s Strategy) bool {
	Strategies = append(Strategies, s)
	return true
}

// Named returns the strategy of that name, "" being the default; the error lists the names.
func Named(name string) (Strategy, error) {
	if name == "" {
		return Strategies[0], nil
	}
	var names []string
	for _, s := range Strategies {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Strategy{}, fmt.Errorf("unknown strategy %q; there are %s%s", name, strings.Join(names, ", "), suggest.Hint(name, names))
}

// merge merges prepared sides; the policy's rules are complete.
func (s Strategy) merge(in Input) (merge.Plan, error) {
	switch {
	case s.merged != nil:
		result, err := s.merged(in)
		if err != nil {
			return merge.Plan{}, err
		}
		return merge.Account(in.Triple, result, merge.Accounting{Type: in.Schema, Policy: in.Policy, Explain: in.Trace}), nil
	case s.plan != nil:
		return s.plan(in), nil
	}
	return auto(in), nil
}

// Plan merges one object. Errors report what the strategy cannot do. The plan's Result
// carries live's server-owned fields, and no last-applied annotation. The policy, the rules
// and the reports are the same for every strategy.
//
// Rules: docs/semantics.md#strategies.
func Plan(in Input) (Output, error) {
	var out Output
	t := in.Triple
	versions := t.Original != nil && merge.At[any](t.Original, "apiVersion") != merge.At[any](t.Local, "apiVersion")
	in.Triple, out.Ignored = prepare(in)
	if versions && in.Schema != nil {
		out.Uncompared = schema.Unknown(in.Schema, in.Triple.Original)
	}
	if in.Schema == nil && merge.At[any](in.Triple.Local, "kind") != nil {
		in.Schema = schema.Resource() // the kind is unknown, but every object has metadata
	}
	rules, err := exceptions(in)
	if err != nil {
		return Output{}, err
	}
	in.Schema = rules.Shape(in.Schema)
	in.Policy.Rules = append(in.Policy.Rules[:len(in.Policy.Rules):len(in.Policy.Rules)], rules.Policy()...)
	in.Policy.Texts = rules.Texts()
	in.live = merge.NewFinder(in.Triple.Live, in.Schema)
	in.stored = sync.OnceValue(func() *merge.Finder {
		return merge.NewFinder(merge.Complete(in.Triple.Local, in.Schema, true), in.Schema)
	})
	if out.Plan, err = in.Strategy.merge(in); err != nil {
		return Output{}, err
	}
	if in.Triple.Original == nil && in.Triple.Live != nil {
		// What live has, local lacks and a manager other than the server put there: without an original
		// it is unknown whether it was meant to be removed.
		out.Undecided = in.added(in.Triple.Live, out.Result, isPerson)
	}
	out.Adoptable = adoptable(in, out.Result)
	if out.Adoption = in.adoption(out.Undecided); out.Undecided == nil {
		out.Adoption = in.adoption(out.Adoptable)
	}
	if in.Compare && in.Triple.Live != nil {
		out.Extras = extras(in, out.Result)
	}
	out.Rules = in.Policy.Rules
	out.Defaulted = defaulted(in.Triple.Local, in.Triple.Live, in.Schema, nil)
	return out, nil
}

// prepare removes what is not configuration from the sides.
func prepare(in Input) (merge.Triple, []merge.Path) {
	t := in.Triple
	if t.Live == nil {
		t.Original = nil // what was applied to a deleted object was deleted with it
	}
	if t.Owners == nil {
		t.Owners = ownership.Of(t.Live)
	}
	if !in.Recorded {
		names, writers := ownership.Annotators(t.Owners)
		t.Appliers, t.Writers = slices.Concat(t.Appliers, names), writers
	}
	t.Claims = ownership.Claims(func(o merge.Owner) bool {
		return !in.Recorded && slices.Contains(Kubectls, o.Manager) || slices.Contains(t.Appliers, o.Manager) || slices.Contains(in.Former, o.Manager)
	})
	local, ignored := lastapplied.Strip(lastapplied.Without(t.Local), in.HasStatus)
	t.Local = lastapplied.FoldStringData(labelsKept(local, t.Live))
	if !in.Policy.Literal {
		t.Local = lastapplied.WithoutNullAnnotations(t.Local)
	}
	t.Live = lastapplied.Without(t.Live)
	if t.Original != nil {
		t.Original, _ = lastapplied.Strip(lastapplied.WithoutSet(lastapplied.Without(t.Original)), in.HasStatus)
		t.Original = identityOf(lastapplied.FoldStringData(t.Original), t.Local)
	}
	return t, ignored
}

// labelsKept returns local so that an object of a set keeps the set's label where local
// clears all labels. It clears each of the others, since the set's must not be removed.
func labelsKept(local, live any) any {
	meta := merge.At[map[string]any](local, "metadata")
	if v, there := meta["labels"]; !there || v != nil || lastapplied.SetOf(live) == "" {
		return local
	}
	labels := map[string]any{}
	for k := range merge.At[map[string]any](live, "metadata", "labels") {
		if k != lastapplied.PartOf {
			labels[k] = nil
		}
	}
	return merge.With(local.(map[string]any), labels, "metadata", "labels")
}

// identityOf gives original the apiVersion, kind, name and namespace of local. They state
// whose configuration it is, and are not configuration. (An original written under another
// version or without a namespace would otherwise seem to drop or change them.)
func identityOf(original, local any) any {
	o, ok := original.(map[string]any)
	l, ok2 := local.(map[string]any)
	if !ok || !ok2 {
		return original
	}
	meta := map[string]any{}
	maps.Copy(meta, merge.At[map[string]any](o, "metadata"))
	same(meta, merge.At[map[string]any](l, "metadata"), "name", "namespace")
	out := merge.With(o, meta, "metadata")
	same(out, l, "apiVersion", "kind")
	return out
}

func same(to, from map[string]any, names ...string) {
	for _, n := range names {
		if v, ok := from[n]; ok {
			to[n] = v
		} else {
			delete(to, n)
		}
	}
}

func auto(in Input) merge.Plan {
	return merge.Three(in.Triple, in.Schema, in.Policy, in.Trace)
}

func associative(in Input) merge.Plan {
	t := in.Triple
	in.Policy.ByKey = true
	return merge.Three(t, schema.Infer(t.Local, t.Original, t.Live), in.Policy, in.Trace)
}

// exceptions returns the rules that hold for this object: the user's, then the built-in
// ones (pkg/schema/exceptions.yaml).
//
// Unlike kubectl: it writes the rules of an aggregated ClusterRole, and the controller manager writes them anew.
func exceptions(in Input) (schema.Rules, error) {
	builtin, err := schema.Exceptions()
	if err != nil {
		return nil, fmt.Errorf("built-in rules: %w", err)
	}
	all := append(in.Rules[:len(in.Rules):len(in.Rules)], builtin...)
	return all.For(schema.Object{
		Group: in.Group, Kind: in.Kind, Namespace: merge.At[string](in.Triple.Local, "metadata", "namespace"),
		Name: merge.At[string](in.Triple.Local, "metadata", "name"), Triple: in.Triple,
	}), nil
}
