package write

import (
	"slices"

	"github.com/kubectl-merge/kubectl-merge/pkg/apply"
	"github.com/kubectl-merge/kubectl-merge/pkg/lastapplied"
	"github.com/kubectl-merge/kubectl-merge/pkg/merge"
	"github.com/kubectl-merge/kubectl-merge/pkg/patch"
)

// record is what a run has to report whatever it finds when it reads again: the
// plans that were sent, and done as far as can be seen.
type record struct {
	sent  *apply.Planned // the last one, while it is not certain what became of it
	doubt string         // why it is not
	done  *apply.Planned // those before, as one
}

// remember keeps a plan that was sent and may have been done, and why that is not
// certain.
func (r *record) remember(sent apply.Planned, doubt string) { r.sent, r.doubt = &sent, doubt }

// look finds out from the object as it is now whether the plan that was sent last was
// done, so that it is reported beside the next.
func (r *record) look(live map[string]any, manager string) (others string) {
	if r.sent == nil || !landed(*r.sent, live) {
		return ""
	}
	others = writers(r.sent.Live, live, manager)
	r.done = both(r.done, *r.sent)
	r.sent = nil
	return others
}

// landed: the object holds what the plan was sent for. Of a plan that writes another
// last-applied configuration, that is the mark. Of a plan that is not stored whole it is
// not known.
func landed(p apply.Planned, live map[string]any) bool {
	if p.Final == nil || live == nil || p.Live != nil && version(live) == version(p.Live) {
		return false
	}
	if want := lastapplied.Read(p.Final).Text; want != lastapplied.Read(map[string]any(p.Live)).Text {
		return want == lastapplied.Read(live).Text
	}
	if p.Action == apply.Create {
		return false // somebody else made it, for all one can see
	}
	sent, _ := patch.Merge(p.Live, p.Final)
	return holdsAny(sent, live)
}

// holdsAny: one of a merge patch's values is in a value.
func holdsAny(patch map[string]any, in any) bool {
	obj, _ := in.(map[string]any)
	for key, want := range patch {
		is, there := obj[key]
		inner, deeper := want.(map[string]any)
		switch {
		case deeper && len(inner) > 0:
			if holdsAny(inner, is) {
				return true
			}
		case want == nil && !there, want != nil && merge.Equal(want, is, nil):
			return true
		}
	}
	return false
}

// both is a plan as it is reported that was done after another: from where the first
// began to where the second ends.
func both(first *apply.Planned, second apply.Planned) *apply.Planned {
	if first == nil || first.Final == nil || second.Final == nil {
		return &second
	}
	out := second
	out.Live = first.Live
	out.Settled = append(slices.Clone(first.Settled), second.Settled...)
	out.Removed = append(slices.Clone(first.Removed), second.Removed...)
	out.Changes = append(slices.Clone(first.Changes), second.Changes...)
	if first.Action == apply.Create {
		out.Action = apply.Create
	}
	return &out
}

// mayBeFrom: nothing shows that the object was never written under the manager's
// name, which is in managedFields from its first write on.
func mayBeFrom(live map[string]any, manager string) bool {
	all := entries(live)
	return len(all) == 0 || slices.ContainsFunc(all, func(e map[string]any) bool { return e["manager"] == manager })
}

// writers names who else has written an object since another state of it, "" where
// nobody is known to. Status, which controllers write all the time, does not count.
func writers(was, is map[string]any, manager string) string {
	before := entries(was)
	for _, e := range entries(is) {
		name, _ := e["manager"].(string)
		if name == manager || e["subresource"] != nil {
			continue
		}
		if !slices.ContainsFunc(before, func(b map[string]any) bool {
			return b["manager"] == e["manager"] && b["operation"] == e["operation"] && b["apiVersion"] == e["apiVersion"] && b["time"] == e["time"]
		}) {
			return name
		}
	}
	return ""
}

// entries are an object's managedFields.
func entries(obj map[string]any) (all []map[string]any) {
	meta, _ := obj["metadata"].(map[string]any)
	list, _ := meta["managedFields"].([]any)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}
